import { EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { AnyKeyBody, KeyCreated, KeyList, KeyRecord, KeyRevoked } from '../company/credentials/keys/schema.ts';
import { createKey, listKeys, revokeKey, showKey } from '../company/credentials/keys/verbs.ts';
import type { Command } from './command.ts';
import { companyCommand, companyListCommand, requireId } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const LEAK_NOTE = '"credential show" lists everything it created, by id; "credential end" ends all of it.';
const target = { argument: 'key-id' };

export const commands: Command[] = [
  companyCommand(
    {
      name: 'key create',
      resultSchema: KeyCreated,
      summary: 'Create an API key',
      description:
        'A bearer token for scripts. Only this command can grant the scope "operator", which covers all companies.',
      body: AnyKeyBody,
      note: 'The key is shown only once.',
      examples: [
        'key create --name "nightly export" --scope interactions:read,invoices:read',
        'key create --name website --scope manage --expires-at "2027-01-01 00:00" --only key',
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
    { ...target, name: 'key show', resultSchema: KeyRecord, summary: 'Show an API key', examples: [`key show ${ID}`] },
    (context, task) => showKey(context, requireId(task, 'key')),
  ),
  companyCommand(
    {
      ...target,
      name: 'key revoke',
      resultSchema: KeyRevoked,
      summary: 'Revoke an API key',
      description: 'Lists what the key created that still works. After a leak, run "credential end" to end all of it.',
      body: EndCredentialQuery,
      note: LEAK_NOTE,
      examples: [`key revoke ${ID}`, `key revoke ${ID} --also endpoints,keys,clients`],
    },
    (context, task) => revokeKey(context, requireId(task, 'key'), task.form),
  ),
];
