import { DESCENDANT_KINDS, EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { SessionsEnded } from '../company/credentials/sessions/schema.ts';
import { endSessionsOfUser } from '../company/credentials/sessions/verbs.ts';
import { CreateUserBody, UserBody, UserDisabled, UserList, UserRecord } from '../company/credentials/users/schema.ts';
import {
  createUser,
  disableUser,
  enableUser,
  listUsers,
  showUser,
  updateUser,
} from '../company/credentials/users/verbs.ts';
import type { Command } from './command.ts';
import { findUserId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const EXAMPLE = 'olivia@company.example';
const target = { argument: 'user' };

export const commands: Command[] = [
  companyCommand(
    {
      name: 'user invite',
      resultSchema: UserRecord,
      summary: 'Invite a person',
      body: CreateUserBody,
      examples: [`user invite --email ${EXAMPLE} --name "Olivia Owner" --role owner`],
    },
    (context, { form }) => createUser(context, form),
  ),
  companyListCommand(
    {
      name: 'user list',
      resultSchema: UserList,
      summary: 'List users',
      columns: ['id', 'email', 'name', 'role', 'state', 'created_by'],
      examples: ['user list'],
    },
    listUsers,
  ),
  companyCommand(
    {
      ...target,
      name: 'user show',
      resultSchema: UserRecord,
      summary: 'Show a user',
      examples: [`user show ${EXAMPLE}`],
    },
    async (context, { argument }) => showUser(context, await findUserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'user update',
      resultSchema: UserRecord,
      summary: 'Change the name, the role or the adviser of a user',
      description: 'Fields that are not given keep their values.',
      body: UserBody,
      examples: [`user update ${EXAMPLE} --role reader`],
    },
    async (context, { argument, form }) => updateUser(context, await findUserId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'user end-sessions',
      resultSchema: SessionsEnded,
      summary: 'Sign a user out everywhere',
      description: 'The user can sign in again.',
      examples: [`user end-sessions ${EXAMPLE}`],
    },
    async (context, { argument }) => endSessionsOfUser(context, await findUserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'user disable',
      resultSchema: UserDisabled,
      summary: 'Disable a user',
      description: 'Lists what the user created that still works. "credential end" ends all of it.',
      body: EndCredentialQuery,
      all: { also: DESCENDANT_KINDS },
      examples: [`user disable ${EXAMPLE}`, `user disable ${EXAMPLE} --also keys,clients`],
    },
    async (context, { argument, form }) => disableUser(context, await findUserId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'user enable',
      resultSchema: UserRecord,
      summary: 'Enable a user again',
      examples: [`user enable ${EXAMPLE}`],
    },
    async (context, { argument }) => enableUser(context, await findUserId(context, argument)),
  ),
];
