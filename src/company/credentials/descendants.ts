import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { InvalidValue } from '../../kernel/errors.ts';
import type { Statement } from '../../kernel/sql/statement.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { CompanyContext } from '../admin-context.ts';
import { DESCENDANT_KINDS, type DescendantKind, type EndCredentialQuery } from './descendants.schema.ts';
import * as sql from './descendants.sql.ts';

/** A key or a client of any company. */
export type CredentialKey = { type: 'key' | 'client'; id: string };

/** `root` is the credential itself. */
export type TraceEntry = {
  type: 'key' | 'client' | 'webhook_endpoint';
  id: string;
  root: boolean;
  working: boolean;
  json: string;
};

const KIND_OF = { key: 'keys', client: 'clients', webhook_endpoint: 'endpoints' } as const;
const STATE_AFTER_END = { key: 'revoked', client: 'disabled', webhook_endpoint: 'disabled' } as const;
const DISABLED_REASON = 'A credential that made it, or set its address, was ended.';

/** Returns no word if `also` was not sent or is at fault. */
export const readKindsToEnd = (query: Form<EndCredentialQuery>): readonly DescendantKind[] =>
  query.read('also', query.body.also, (text) => {
    const words = text.split(',').map((word) => word.trim());
    const unknown = words.find((word) => !isKind(word));
    if (unknown !== undefined) throw new InvalidValue('not_allowed', `must be made of: ${DESCENDANT_KINDS.join(', ')}`);
    return DESCENDANT_KINDS.filter((kind) => words.includes(kind));
  }) ?? [];

const isKind = (word: string): word is DescendantKind => (DESCENDANT_KINDS as readonly string[]).includes(word);

/** The credential and everything that it made in the company of `context`. */
export const traceInCompany = (
  { db, company, clock }: CompanyContext,
  { type, id }: CredentialKey,
  { onlyWorking }: { onlyWorking: boolean },
): Promise<TraceEntry[]> =>
  db.queryRows<TraceEntry>(sql.traceInCompany, [company.id, type, id, toSql(clock()), onlyWorking]);

/** Without the credential itself. */
const listWorkingDescendants = async (context: CompanyContext, credential: CredentialKey): Promise<TraceEntry[]> =>
  (await traceInCompany(context, credential, { onlyWorking: true })).filter(({ root }) => !root);

/**
 * Ends what the credential made, under the lock of the company's credentials and after the credential itself has been ended:
 * nothing new can appear in the meantime. Returns what it ended, as it was.
 */
export async function endDescendants(
  context: CompanyContext,
  credential: CredentialKey,
  kinds: readonly DescendantKind[],
): Promise<TraceEntry[]> {
  if (kinds.length === 0) return [];
  const ended = (await listWorkingDescendants(context, credential)).filter(({ type }) => kinds.includes(KIND_OF[type]));
  const given = [toSql(context.clock()), auditOrigin(context)];
  const end = async (type: TraceEntry['type'], statement: Statement, ...further: string[]) => {
    const ids = ended.filter((made) => made.type === type).map(({ id }) => id);
    if (ids.length > 0) await context.db.queryRows(statement, [context.company.id, ids, ...given, ...further]);
  };
  await end('webhook_endpoint', sql.disableEndpoints, DISABLED_REASON);
  await end('key', sql.revokeKeys);
  await end('client', sql.disableClients);
  return ended;
}

/** Adds to the record of an ended credential what was ended with it, and what it made that still works. */
export async function withDescendants(
  context: CompanyContext,
  credential: CredentialKey,
  kinds: readonly DescendantKind[],
  record: string,
): Promise<string> {
  const ended = (await endDescendants(context, credential, kinds)).map(({ type, json }) =>
    JSON.stringify({ ...JSON.parse(json), state: STATE_AFTER_END[type] }),
  );
  const working = (await listWorkingDescendants(context, credential)).map(({ json }) => json);
  return `${record.slice(0, -1)}, "also_ended" : [${ended.join(', ')}], "still_working" : [${working.join(', ')}]}`;
}
