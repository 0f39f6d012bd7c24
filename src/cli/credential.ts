import { text } from 'node:stream/consumers';
import type { AdminContext } from '../company/admin-context.ts';
import { CredentialTrace } from '../company/credentials/descendants.schema.ts';
import { endCredential, findCredential, traceCredential } from '../company/credentials/trace.ts';
import { type Command, type Invocation, UsageError } from './command.ts';
import { findCredentialId } from './lookup.ts';
import { withAdminContext } from './records.ts';

const NAME = 'website';
const common = { argument: 'key-or-client', resultSchema: CredentialTrace };
const COLUMNS = ['type', 'id', 'name', 'state', 'created_at', 'last_used_at', 'created_by', 'changed_by', 'company_id'];
const CREDENTIAL_ARGUMENT =
  'Takes a key or a client of any company. With "-" it reads a key, an access token or a client secret from standard ' +
  'input: "credential show - < leaked-token". It does not need --company.';

type TracedCredential = { type: string; state: string; ended: boolean };

export const commands: Command[] = [
  {
    ...common,
    name: 'credential show',
    summary: 'List everything that a key or a client created',
    description:
      `${CREDENTIAL_ARGUMENT} Lists the credential, then the keys, clients and webhook endpoints that it created ` +
      'directly or through one of them, the clients whose secret it rotated, and the endpoints whose URL it changed.',
    examples: [`credential show ${NAME}`, `credential show ${NAME} --only id`],
    run: (invocation) =>
      runOnCredential(
        invocation,
        'credential show',
        traceCredential,
        (rows) => `${countWorking(rows)} of ${rows.length} work`,
      ),
  },
  {
    ...common,
    name: 'credential end',
    summary: 'End a key or a client, and everything that it created',
    description:
      `${CREDENTIAL_ARGUMENT} Revokes the keys and disables the clients and webhook endpoints that ` +
      '"credential show" lists. It can be repeated, and then ends those that still work.',
    examples: [`credential end ${NAME}`],
    run: (invocation) =>
      runOnCredential(invocation, 'credential end', endCredential, (rows) => {
        const ended = rows.filter((row) => row.ended).length;
        return `${ended} of ${rows.length} were ended, ${countWorking(rows)} still work`;
      }),
  },
];

const countWorking = (rows: TracedCredential[]) =>
  rows.filter(({ state }) => ['active', 'failing'].includes(state)).length;

async function runOnCredential(
  invocation: Invocation,
  command: string,
  work: (context: AdminContext, credential: Awaited<ReturnType<typeof findCredential>>) => Promise<string>,
  noteOf: (rows: TracedCredential[]) => string,
) {
  const secret = await readSecret(invocation, command);
  return withAdminContext(invocation, async (context) => {
    const idOrSecret = secret ?? (await findCredentialId(context, invocation.argument));
    const json = await work(context, await findCredential(context, idOrSecret));
    return { json, columns: COLUMNS, note: noteOf(JSON.parse(json)) };
  });
}

/** A secret on the command line would be in the shell history and in `ps`, so only standard input is accepted. */
async function readSecret({ argument }: Invocation, command: string): Promise<string | undefined> {
  if (/^cr[a-z]?_/.test(argument)) {
    throw new UsageError('Do not pass a secret on the command line: use "-" and pipe it to standard input.', command);
  }
  if (argument !== '-') return undefined;
  const secret = (await text(process.stdin)).trim();
  if (secret === '') throw new UsageError('Standard input is empty: pipe the secret to it.', command);
  return secret;
}
