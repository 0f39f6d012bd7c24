import { CaseBody, CaseList, CaseRecord, CreateCaseBody } from '../company/cases/schema.ts';
import { createCase, listCases, showCase, updateCase } from '../company/cases/verbs.ts';
import type { Command } from './command.ts';
import { companyCommand, companyListCommand, requireId } from './records.ts';

const target = { argument: 'case-id' };

export const commands: Command[] = [
  companyCommand(
    {
      name: 'case create',
      resultSchema: CaseRecord,
      summary: 'Open a case',
      description: '"customer create" adds its customers.',
      body: CreateCaseBody,
      examples: ['case create --reference "Smith, wills"', 'case create --reference "Smith, wills" --only id'],
    },
    (context, { form }) => createCase(context, form),
  ),
  companyListCommand(
    {
      name: 'case list',
      resultSchema: CaseList,
      summary: 'List cases',
      description: 'Newest first. --search matches the reference and the customers.',
      columns: ['id', 'reference', 'customers', 'created_at'],
      examples: ['case list', 'case list --search smith'],
    },
    listCases,
  ),
  companyCommand(
    {
      ...target,
      name: 'case show',
      resultSchema: CaseRecord,
      summary: 'Show a case with its customers',
      examples: ['case show 01a1dedc-6c47-7000-b4be-5f8e3eb8d733'],
    },
    (context, task) => showCase(context, requireId(task, 'case')),
  ),
  companyCommand(
    {
      ...target,
      name: 'case update',
      resultSchema: CaseRecord,
      summary: "Change a case's reference",
      body: CaseBody,
      examples: ['case update 01a1dedc-6c47-7000-b4be-5f8e3eb8d733 --reference "Smith, trusts"'],
    },
    (context, task) => updateCase(context, requireId(task, 'case'), task.form),
  ),
];
