import {
  ClientBody,
  ClientDisabled,
  ClientList,
  ClientRecord,
  ClientWithSecret,
  CreateClientBody,
} from '../company/credentials/clients/schema.ts';
import {
  createClient,
  disableClient,
  enableClient,
  listClients,
  rotateClient,
  showClient,
  updateClient,
} from '../company/credentials/clients/verbs.ts';
import { EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import type { Command } from './command.ts';
import { companyCommand, companyListCommand, requireId } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const LEAK_NOTE = '"credential show" lists everything it created, by id; "credential end" ends all of it.';
const target = { argument: 'client-id' };
const note = 'The secret is shown only once.';

export const commands: Command[] = [
  companyCommand(
    {
      name: 'client create',
      resultSchema: ClientWithSecret,
      summary: 'Create an API client for POST /oauth/token',
      body: CreateClientBody,
      note,
      examples: ['client create --name website --scope interactions:read,interactions:write'],
    },
    (context, { form }) => createClient(context, form),
  ),
  companyListCommand(
    {
      name: 'client list',
      resultSchema: ClientList,
      summary: 'List API clients',
      columns: ['id', 'name', 'scopes', 'disabled_at', 'created_at', 'created_by'],
      examples: ['client list'],
    },
    listClients,
  ),
  companyCommand(
    {
      ...target,
      name: 'client show',
      resultSchema: ClientRecord,
      summary: 'Show an API client',
      examples: [`client show ${ID}`],
    },
    (context, task) => showClient(context, requireId(task, 'client')),
  ),
  companyCommand(
    {
      ...target,
      name: 'client update',
      resultSchema: ClientRecord,
      summary: 'Change an API client',
      description: 'Fields that are not given keep their values.',
      body: ClientBody,
      examples: [`client update ${ID} --scope invoices:read`],
    },
    (context, task) => updateClient(context, requireId(task, 'client'), task.form),
  ),
  companyCommand(
    {
      ...target,
      name: 'client rotate',
      resultSchema: ClientWithSecret,
      summary: 'Replace the secret of an API client',
      note,
      examples: [`client rotate ${ID} --only client_secret`],
    },
    (context, task) => rotateClient(context, requireId(task, 'client')),
  ),
  companyCommand(
    {
      ...target,
      name: 'client disable',
      resultSchema: ClientDisabled,
      summary: 'Disable an API client and its tokens',
      description:
        'Lists what the client created that still works. After a leak, run "credential end" to end all of it.',
      body: EndCredentialQuery,
      note: LEAK_NOTE,
      examples: [`client disable ${ID}`, `client disable ${ID} --also endpoints,keys,clients`],
    },
    (context, task) => disableClient(context, requireId(task, 'client'), task.form),
  ),
  companyCommand(
    {
      ...target,
      name: 'client enable',
      resultSchema: ClientRecord,
      summary: 'Enable an API client again',
      examples: [`client enable ${ID}`],
    },
    (context, task) => enableClient(context, requireId(task, 'client')),
  ),
];
