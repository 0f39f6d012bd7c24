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
import { DESCENDANT_KINDS, EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { COMPANY_SCOPES } from '../kernel/scopes.ts';
import type { Command } from './command.ts';
import { findClientId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const NAME = 'website';
const LEAK_NOTE = '"credential show" lists everything it created, by id; "credential end" ends all of it.';
const target = { argument: 'client' };
const note = 'The secret is shown only once.';

export const commands: Command[] = [
  companyCommand(
    {
      name: 'client create',
      resultSchema: ClientWithSecret,
      summary: 'Create an API client for POST /oauth/token',
      body: CreateClientBody,
      all: { scope: COMPANY_SCOPES },
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
      examples: [`client show ${NAME}`],
    },
    async (context, { argument }) => showClient(context, await findClientId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'client update',
      resultSchema: ClientRecord,
      summary: 'Change an API client',
      description: 'Fields that are not given keep their values.',
      body: ClientBody,
      all: { scope: COMPANY_SCOPES },
      examples: [`client update ${NAME} --scope invoices:read`],
    },
    async (context, { argument, form }) => updateClient(context, await findClientId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'client rotate',
      resultSchema: ClientWithSecret,
      summary: 'Replace the secret of an API client',
      note,
      examples: [`client rotate ${NAME} --only client_secret`],
    },
    async (context, { argument }) => rotateClient(context, await findClientId(context, argument)),
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
      all: { also: DESCENDANT_KINDS },
      note: LEAK_NOTE,
      examples: [`client disable ${NAME}`, `client disable ${NAME} --also endpoints,keys,clients`],
    },
    async (context, { argument, form }) => disableClient(context, await findClientId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'client enable',
      resultSchema: ClientRecord,
      summary: 'Enable an API client again',
      examples: [`client enable ${NAME}`],
    },
    async (context, { argument }) => enableClient(context, await findClientId(context, argument)),
  ),
];
