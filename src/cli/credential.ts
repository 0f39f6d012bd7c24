import { text } from 'node:stream/consumers';
import type { AdminContext } from '../company/admin-context.ts';
import { CredentialTrace } from '../company/credentials/descendants.schema.ts';
import { endCredential, findCredential, traceCredential } from '../company/credentials/trace.ts';
import { notFound } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { atOffice } from './records.ts';

const ID = '01a1dedc-6c47-7000-b4be-5f8e3eb8d733';
const common = { argument: 'id-or-dash', answer: CredentialTrace };
const COLUMNS = ['type', 'id', 'name', 'state', 'created_at', 'last_used_at', 'created_by', 'changed_by', 'company_id'];
const WHICH =
  'Takes the id of a key or a client. With "-" it reads a key, an access token or a client secret from standard input: ' +
  '"credential show - < leaked-token". No --company is needed.';

type Traced = { type: string; state: string; ended: boolean };

export const commands: Command[] = [
  {
    ...common,
    name: 'credential show',
    summary: 'List everything that a key or a client made',
    description:
      `${WHICH} Lists the credential first, then the keys, clients and webhook endpoints that it made, that those made ` +
      'in turn, and so on; also clients whose secret it replaced, and endpoints whose address it set.',
    examples: [`credential show ${ID}`, `credential show ${ID} --only id`],
    run: (call) =>
      onCredential(call, 'credential show', traceCredential, (rows) => `${working(rows)} of ${rows.length} work`),
  },
  {
    ...common,
    name: 'credential end',
    summary: 'End a key or a client, and everything that it made',
    description:
      `${WHICH} Revokes keys, disables clients and webhook endpoints: all that "credential show" lists. It can be ` +
      'repeated, and then ends what is left.',
    examples: [`credential end ${ID}`],
    run: (call) =>
      onCredential(call, 'credential end', endCredential, (rows) => {
        const ended = rows.filter((row) => row.ended).length;
        return `${ended} of ${rows.length} were ended now, ${working(rows)} still work`;
      }),
  },
];

const working = (rows: Traced[]) => rows.filter(({ state }) => ['active', 'failing'].includes(state)).length;

async function onCredential(
  call: Call,
  command: string,
  work: (office: AdminContext, credential: Awaited<ReturnType<typeof findCredential>>) => Promise<string>,
  noteOf: (rows: Traced[]) => string,
) {
  const idOrSecret = await readCredential(call, command);
  return atOffice(call, async (office) => {
    const json = await work(office, await findCredential(office, idOrSecret));
    return { json, columns: COLUMNS, note: noteOf(JSON.parse(json)) };
  });
}

/** A secret that was typed stands in the shell's history and in the list of processes, so it is taken from a pipe only. */
async function readCredential({ argument }: Call, command: string): Promise<string> {
  if (isUuid(argument)) return argument;
  if (argument.startsWith('cr')) {
    throw new UsageError('A secret does not belong on the command line: give "-" and pipe it in.', command);
  }
  if (argument !== '-') throw notFound('key or client');
  const secret = (await text(process.stdin)).trim();
  if (secret === '') throw new UsageError('Standard input is empty.', command);
  return secret;
}
