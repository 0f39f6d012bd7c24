import {
  CaseKind,
  CaseKindBody,
  CaseKindList,
  CaseKindRemoved,
  CreateCaseKindBody,
} from '../company/case-kinds/schema.ts';
import {
  createCaseKind,
  listCaseKinds,
  removeCaseKind,
  restoreCaseKind,
  updateCaseKind,
} from '../company/case-kinds/verbs.ts';
import type { Command } from './command.ts';
import { findCaseKindId } from './lookup.ts';
import { companyCommand, companyListCommand, REMOVED_FLAG } from './records.ts';

const target = { argument: 'kind' };

export const commands: Command[] = [
  companyCommand(
    {
      name: 'kind create',
      resultSchema: CaseKind,
      summary: 'Add a kind of case',
      body: CreateCaseKindBody,
      examples: ['kind create --name Wills'],
    },
    (context, { form }) => createCaseKind(context, form),
  ),
  companyListCommand(
    {
      name: 'kind list',
      resultSchema: CaseKindList,
      summary: 'List kinds of case',
      columns: ['id', 'name', 'created_at'],
      flags: REMOVED_FLAG,
      examples: ['kind list', 'kind list --removed'],
    },
    (context, listRequest, { flags }) => listCaseKinds(context, { ...listRequest, removed: flags.removed === true }),
  ),
  companyCommand(
    {
      ...target,
      name: 'kind update',
      resultSchema: CaseKind,
      summary: 'Rename a kind of case',
      body: CaseKindBody,
      examples: ['kind update Wills --name "Wills and trusts"'],
    },
    async (context, { argument, form }) => updateCaseKind(context, await findCaseKindId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'kind remove',
      resultSchema: CaseKindRemoved,
      summary: 'Remove a kind of case',
      description: 'Cases keep it; it cannot be given to others.',
      examples: ['kind remove Wills'],
    },
    async (context, { argument }) => removeCaseKind(context, await findCaseKindId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'kind restore',
      resultSchema: CaseKind,
      summary: 'Restore a removed kind of case',
      examples: ['kind restore Wills'],
    },
    async (context, { argument }) =>
      restoreCaseKind(context, await findCaseKindId(context, argument, { removed: true })),
  ),
];
