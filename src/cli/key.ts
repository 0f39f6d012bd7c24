import { EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { AnyKeyBody, KeyCreated, KeyList, KeyRecord, KeyRevoked } from '../company/credentials/keys/schema.ts';
import { createKey, listKeys, revokeKey, showKey } from '../company/credentials/keys/verbs.ts';
import type { Command } from './command.ts';
import { deskCommand, deskList, idOf } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const LEAK_NOTE = '"credential show" lists what it made, by id; "credential end" ends all of it.';
const one = { argument: 'key-id' };

export const commands: Command[] = [
  deskCommand(
    {
      name: 'key create',
      answer: KeyCreated,
      summary: 'Make an API key',
      description:
        'A bearer token for scripts. The scope "operator", which reaches all companies, is granted only here.',
      body: AnyKeyBody,
      note: 'The key is shown this once.',
      examples: [
        'key create --name "nightly export" --scope interactions:read,invoices:read',
        'key create --name website --scope manage --expires-at "2027-01-01 00:00" --only key',
      ],
    },
    (desk, { form }) => createKey(desk, form),
  ),
  deskList(
    {
      name: 'key list',
      answer: KeyList,
      summary: 'List API keys',
      columns: ['id', 'name', 'scopes', 'last_used_at', 'expires_at', 'revoked_at', 'created_by'],
      examples: ['key list'],
    },
    listKeys,
  ),
  deskCommand(
    { ...one, name: 'key show', answer: KeyRecord, summary: 'Show an API key', examples: [`key show ${ID}`] },
    (desk, task) => showKey(desk, idOf(task, 'key')),
  ),
  deskCommand(
    {
      ...one,
      name: 'key revoke',
      answer: KeyRevoked,
      summary: 'Let an API key work no longer',
      description: 'Says what the key made that still works. After a leak "credential end" ends all of it.',
      body: EndCredentialQuery,
      note: LEAK_NOTE,
      examples: [`key revoke ${ID}`, `key revoke ${ID} --also endpoints,keys,clients`],
    },
    (desk, task) => revokeKey(desk, idOf(task, 'key'), task.form),
  ),
];
