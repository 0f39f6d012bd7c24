import { CaseBody, CaseList, CaseRecord, CreateCaseBody } from '../company/cases/schema.ts';
import { createCase, listCases, showCase, updateCase } from '../company/cases/verbs.ts';
import type { Command } from './command.ts';
import { deskCommand, deskList, idOf } from './records.ts';

const one = { argument: 'case-id' };

export const commands: Command[] = [
  deskCommand(
    {
      name: 'case create',
      answer: CaseRecord,
      summary: 'Open a case',
      description: '"customer create" adds its customers.',
      body: CreateCaseBody,
      examples: ['case create --reference "Smith, wills"', 'case create --reference "Smith, wills" --only id'],
    },
    (desk, { form }) => createCase(desk, form),
  ),
  deskList(
    {
      name: 'case list',
      answer: CaseList,
      summary: 'List cases',
      description: 'Newest first. --search looks at the reference and at the customers.',
      columns: ['id', 'reference', 'customers', 'created_at'],
      examples: ['case list', 'case list --search smith'],
    },
    listCases,
  ),
  deskCommand(
    {
      ...one,
      name: 'case show',
      answer: CaseRecord,
      summary: 'Show a case with its customers',
      examples: ['case show 01a1dedc-6c47-7000-b4be-5f8e3eb8d733'],
    },
    (desk, task) => showCase(desk, idOf(task, 'case')),
  ),
  deskCommand(
    {
      ...one,
      name: 'case update',
      answer: CaseRecord,
      summary: "Change a case's reference",
      body: CaseBody,
      examples: ['case update 01a1dedc-6c47-7000-b4be-5f8e3eb8d733 --reference "Smith, trusts"'],
    },
    (desk, task) => updateCase(desk, idOf(task, 'case'), task.form),
  ),
];
