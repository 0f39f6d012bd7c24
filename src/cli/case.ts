import { CaseBody, CaseList, CaseRecord, CreateCaseBody } from '../company/cases/schema.ts';
import { createCase, listCases, showCase, updateCase } from '../company/cases/verbs.ts';
import type { Command } from './command.ts';
import { findCaseId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const target = { argument: 'case' };

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
      examples: ['case show "Smith, wills"'],
    },
    async (context, { argument }) => showCase(context, await findCaseId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'case update',
      resultSchema: CaseRecord,
      summary: 'Change a case, close it or open it again',
      body: CaseBody,
      examples: ['case update "Smith, wills" --reference "Smith, trusts"', 'case update "Smith, wills" --state closed'],
    },
    async (context, { argument, form }) => updateCase(context, await findCaseId(context, argument), form),
  ),
];
