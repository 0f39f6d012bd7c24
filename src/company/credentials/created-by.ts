import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { InvalidValue } from '../../kernel/errors.ts';
import type { Statement } from '../../kernel/sql/statement.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { CompanyContext } from '../admin-context.ts';
import { type AlsoQuery, MADE_KINDS, type MadeKind } from './created-by.schema.ts';
import * as sql from './created-by.sql.ts';

/** A key or a client of any company. */
export type CredentialKey = { type: 'key' | 'client'; id: string };

/** `root` is the credential itself. */
export type Made = {
  type: 'key' | 'client' | 'webhook_endpoint';
  id: string;
  root: boolean;
  working: boolean;
  json: string;
};

const KIND_OF = { key: 'keys', client: 'clients', webhook_endpoint: 'endpoints' } as const;
const ENDED_STATE = { key: 'revoked', client: 'disabled', webhook_endpoint: 'disabled' } as const;
const REASON = 'A credential that made it, or set its address, was ended.';

/** Returns no word if `also` was not sent or is at fault. */
export const readAlso = (query: Form<AlsoQuery>): readonly MadeKind[] =>
  query.read('also', query.body.also, (text) => {
    const words = text.split(',').map((word) => word.trim());
    const unknown = words.find((word) => !isKind(word));
    if (unknown !== undefined) throw new InvalidValue('not_allowed', `must be made of: ${MADE_KINDS.join(', ')}`);
    return MADE_KINDS.filter((kind) => words.includes(kind));
  }) ?? [];

const isKind = (word: string): word is MadeKind => (MADE_KINDS as readonly string[]).includes(word);

/** The credential and everything that it made in the company of `desk`. */
export const listMade = (
  { db, company, clock }: CompanyContext,
  { type, id }: CredentialKey,
  { onlyWorking }: { onlyWorking: boolean },
): Promise<Made[]> => db.queryRows<Made>(sql.listMade, [company.id, type, id, toSql(clock()), onlyWorking]);

/** Without the credential itself. */
const listWorking = async (desk: CompanyContext, credential: CredentialKey): Promise<Made[]> =>
  (await listMade(desk, credential, { onlyWorking: true })).filter(({ root }) => !root);

/**
 * Ends what the credential made, under the lock of the company's credentials and after the credential itself has been ended:
 * nothing new can appear in the meantime. Returns what it ended, as it was.
 */
export async function endMade(
  desk: CompanyContext,
  credential: CredentialKey,
  kinds: readonly MadeKind[],
): Promise<Made[]> {
  if (kinds.length === 0) return [];
  const ended = (await listWorking(desk, credential)).filter(({ type }) => kinds.includes(KIND_OF[type]));
  const given = [toSql(desk.clock()), auditOrigin(desk)];
  const end = async (type: Made['type'], statement: Statement, ...further: string[]) => {
    const ids = ended.filter((made) => made.type === type).map(({ id }) => id);
    if (ids.length > 0) await desk.db.queryRows(statement, [desk.company.id, ids, ...given, ...further]);
  };
  await end('webhook_endpoint', sql.endEndpoints, REASON);
  await end('key', sql.endKeys);
  await end('client', sql.endClients);
  return ended;
}

/** Adds to the record of an ended credential what was ended with it, and what it made that still works. */
export async function withMade(
  desk: CompanyContext,
  credential: CredentialKey,
  kinds: readonly MadeKind[],
  record: string,
): Promise<string> {
  const ended = (await endMade(desk, credential, kinds)).map(({ type, json }) =>
    JSON.stringify({ ...JSON.parse(json), state: ENDED_STATE[type] }),
  );
  const working = (await listWorking(desk, credential)).map(({ json }) => json);
  return `${record.slice(0, -1)}, "also_ended" : [${ended.join(', ')}], "still_working" : [${working.join(', ')}]}`;
}
