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
import { deskCommand, deskList, idOf } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const LEAK_NOTE = '"credential show" lists what it made, by id; "credential end" ends all of it.';
const one = { argument: 'client-id' };
const note = 'The secret is shown this once.';

export const commands: Command[] = [
  deskCommand(
    {
      name: 'client create',
      answer: ClientWithSecret,
      summary: 'Make an API client for POST /oauth/token',
      body: CreateClientBody,
      note,
      examples: ['client create --name website --scope interactions:read,interactions:write'],
    },
    (desk, { form }) => createClient(desk, form),
  ),
  deskList(
    {
      name: 'client list',
      answer: ClientList,
      summary: 'List API clients',
      columns: ['id', 'name', 'scopes', 'disabled_at', 'created_at', 'created_by'],
      examples: ['client list'],
    },
    listClients,
  ),
  deskCommand(
    {
      ...one,
      name: 'client show',
      answer: ClientRecord,
      summary: 'Show an API client',
      examples: [`client show ${ID}`],
    },
    (desk, task) => showClient(desk, idOf(task, 'client')),
  ),
  deskCommand(
    {
      ...one,
      name: 'client update',
      answer: ClientRecord,
      summary: 'Change an API client',
      description: 'What is not given stays as it is.',
      body: ClientBody,
      examples: [`client update ${ID} --scope invoices:read`],
    },
    (desk, task) => updateClient(desk, idOf(task, 'client'), task.form),
  ),
  deskCommand(
    {
      ...one,
      name: 'client rotate',
      answer: ClientWithSecret,
      summary: 'Replace the secret of an API client',
      note,
      examples: [`client rotate ${ID} --only client_secret`],
    },
    (desk, task) => rotateClient(desk, idOf(task, 'client')),
  ),
  deskCommand(
    {
      ...one,
      name: 'client disable',
      answer: ClientDisabled,
      summary: 'Shut out an API client and its tokens',
      description: 'Says what the client made that still works. After a leak "credential end" ends all of it.',
      body: EndCredentialQuery,
      note: LEAK_NOTE,
      examples: [`client disable ${ID}`, `client disable ${ID} --also endpoints,keys,clients`],
    },
    (desk, task) => disableClient(desk, idOf(task, 'client'), task.form),
  ),
  deskCommand(
    {
      ...one,
      name: 'client enable',
      answer: ClientRecord,
      summary: 'Let an API client in again',
      examples: [`client enable ${ID}`],
    },
    (desk, task) => enableClient(desk, idOf(task, 'client')),
  ),
];
