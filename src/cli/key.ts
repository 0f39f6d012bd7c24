import { DESCENDANT_KINDS, EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { AnyKeyBody, KeyCreated, KeyList, KeyRecord, KeyRevoked } from '../company/credentials/keys/schema.ts';
import { createKey, listKeys, revokeKey, showKey } from '../company/credentials/keys/verbs.ts';
import { COMPANY_SCOPES } from '../kernel/scopes.ts';
import type { Command } from './command.ts';
import { findKeyId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const NAME = '"nightly export"';
const LEAK_NOTE = '"credential show" lists everything it created, by id; "credential end" ends all of it.';
const target = { argument: 'key' };

export const commands: Command[] = [
  companyCommand(
    {
      name: 'key create',
      resultSchema: KeyCreated,
      summary: 'Create an API key',
      description:
        'A bearer token for scripts. Only this command can grant the scope "operator", which covers all companies.',
      body: AnyKeyBody,
      all: { scope: COMPANY_SCOPES },
      note: 'The key is shown only once.',
      examples: [
        'key create --name "nightly export" --scope interactions:read,invoices:read',
        'key create --name website --scope all --expires-at "2027-01-01 00:00" --only key',
      ],
    },
    (context, { form }) => createKey(context, form),
  ),
  companyListCommand(
    {
      name: 'key list',
      resultSchema: KeyList,
      summary: 'List API keys',
      columns: ['id', 'name', 'scopes', 'last_used_at', 'expires_at', 'revoked_at', 'created_by'],
      examples: ['key list'],
    },
    listKeys,
  ),
  companyCommand(
    {
      ...target,
      name: 'key show',
      resultSchema: KeyRecord,
      summary: 'Show an API key',
      examples: [`key show ${NAME}`],
    },
    async (context, { argument }) => showKey(context, await findKeyId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'key revoke',
      resultSchema: KeyRevoked,
      summary: 'Revoke an API key',
      description: 'Lists what the key created that still works. After a leak, run "credential end" to end all of it.',
      body: EndCredentialQuery,
      all: { also: DESCENDANT_KINDS },
      note: LEAK_NOTE,
      examples: [`key revoke ${NAME}`, `key revoke ${NAME} --also endpoints,keys,clients`],
    },
    async (context, { argument, form }) => revokeKey(context, await findKeyId(context, argument), form),
  ),
];
