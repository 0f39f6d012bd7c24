import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { InvalidValue } from '../../kernel/errors.ts';
import type { Scope } from '../../kernel/scopes.ts';
import type { Query } from '../../kernel/sql/statement.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { CompanyContext } from '../admin-context.ts';
import { DESCENDANT_KINDS, type DescendantKind, type EndCredentialQuery } from './descendants.schema.ts';
import * as sql from './descendants.sql.ts';

/** A key, a client or a user of any company. */
export type CredentialKey = { type: 'key' | 'client' | 'user'; id: string };

/** The credential itself (`root`) or one of its descendants: what it created, directly or indirectly. */
export type TraceEntry = {
  type: 'key' | 'client' | 'user' | 'webhook_endpoint';
  id: string;
  root: boolean;
  working: boolean;
  json: string;
};

const KIND_OF = { key: 'keys', client: 'clients', user: 'users', webhook_endpoint: 'endpoints' } as const;
const STATE_AFTER_END = { key: 'revoked', client: 'disabled', user: 'disabled', webhook_endpoint: 'disabled' } as const;
const DISABLED_REASON = 'A credential that created the endpoint, or set its URL, was ended.';

/** A caller that may end one kind alone neither ends nor sees the others as its descendants. */
const SCOPE_TO_END: Record<DescendantKind, Scope> = {
  endpoints: 'manage',
  keys: 'manage',
  clients: 'manage',
  users: 'users',
};

const mayEnd = ({ scopes }: CompanyContext, kind: DescendantKind): boolean =>
  scopes === undefined || scopes.has(SCOPE_TO_END[kind]);

/** Returns the kinds that `also` names; none if it was not sent or has a fault. */
export const readKindsToEnd = (query: Form<EndCredentialQuery>, context: CompanyContext): readonly DescendantKind[] =>
  query.read('also', query.body.also, (text) => {
    const words = text.split(',').map((word) => word.trim());
    if (!words.every(isKind))
      throw new InvalidValue('not_allowed', `must be a comma-separated list of: ${DESCENDANT_KINDS.join(', ')}`);
    for (const kind of words) {
      if (!mayEnd(context, kind))
        throw new InvalidValue('not_allowed', `${kind} needs the scope ${SCOPE_TO_END[kind]}`);
    }
    return DESCENDANT_KINDS.filter((kind) => words.includes(kind));
  }) ?? [];

const isKind = (word: string): word is DescendantKind => (DESCENDANT_KINDS as readonly string[]).includes(word);

/** Returns the credential and its descendants in one company. */
export const traceInCompany = (
  { db, company, clock }: CompanyContext,
  { type, id }: CredentialKey,
  { onlyWorking }: { onlyWorking: boolean },
): Promise<TraceEntry[]> =>
  db.queryRows<TraceEntry>(
    sql.traceInCompany({ company_id: company.id, type, id, now: toSql(clock()), only_working: onlyWorking }),
  );

const listWorkingDescendants = async (context: CompanyContext, credential: CredentialKey): Promise<TraceEntry[]> =>
  (await traceInCompany(context, credential, { onlyWorking: true })).filter(({ root }) => !root);

/**
 * Ends the working descendants of these kinds and returns them as they were. Call it under the lock of the company's
 * credentials and after the credential itself was ended, so that no descendant can be created meanwhile.
 */
export async function endDescendants(
  context: CompanyContext,
  credential: CredentialKey,
  kinds: readonly DescendantKind[],
): Promise<TraceEntry[]> {
  if (kinds.length === 0) return [];
  const ended = (await listWorkingDescendants(context, credential)).filter(({ type }) => kinds.includes(KIND_OF[type]));
  const commonValues = {
    company_id: context.company.id,
    now: toSql(context.clock()),
    origin: auditOrigin(context),
  };
  const end = async (type: TraceEntry['type'], query: (ids: string[]) => Query) => {
    const ids = ended.filter((entry) => entry.type === type).map(({ id }) => id);
    if (ids.length > 0) await context.db.queryRows(query(ids));
  };
  await end('webhook_endpoint', (ids) => sql.disableEndpoints({ ...commonValues, ids, state_reason: DISABLED_REASON }));
  await end('key', (ids) => sql.revokeKeys({ ...commonValues, ids }));
  await end('client', (ids) => sql.disableClients({ ...commonValues, ids }));
  await end('user', (ids) => sql.disableUsers({ ...commonValues, ids }));
  return ended;
}

/**
 * Ends descendants, and adds to the record of the ended credential which were ended and which of those that the caller
 * may end still work.
 */
export async function withDescendants(
  context: CompanyContext,
  credential: CredentialKey,
  kinds: readonly DescendantKind[],
  record: string,
): Promise<string> {
  const ended = (await endDescendants(context, credential, kinds)).map(({ type, json }) =>
    JSON.stringify({ ...JSON.parse(json), state: STATE_AFTER_END[type] }),
  );
  const working = (await listWorkingDescendants(context, credential))
    .filter(({ type }) => mayEnd(context, KIND_OF[type]))
    .map(({ json }) => json);
  return `${record.slice(0, -1)}, "also_ended" : [${ended.join(', ')}], "still_working" : [${working.join(', ')}]}`;
}
