import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { InvalidValue, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type Instant, parseTime, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../../kernel/validation/paging.ts';
import { assertVisible } from '../../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../../admin-context.ts';
import { readListPage } from '../../list.ts';
import { withCredentialLock } from '../credential-lock.ts';
import type { EndCredentialQuery } from '../descendants.schema.ts';
import { readKindsToEnd, withDescendants } from '../descendants.ts';
import { readScopes, validateGrantable } from '../granted-scopes.ts';
import { newToken, secretHash, withSecret } from '../secrets.ts';
import type { KeyBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listKeys({ db, company }: CompanyContext, request: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listKeys, { company_id: company.id }, request);
}

export async function showKey({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showKey({ company_id: company.id, id }));
  if (record === undefined) throw notFound('key');
  return record;
}

/** The schema of the form decides which scopes exist; this verb checks that the caller may grant them. */
export async function createKey(context: CompanyContext, form: Form<KeyBody>): Promise<string> {
  const { body } = form;
  form.read('name', body.name, assertVisible);
  const scopes = readScopes(form) ?? [];
  validateGrantable(form, context);
  const expiry = form.read('expires_at', body.expires_at, (text) => parseExpiry(text, context));
  form.check();
  await assertBelowLimit(context.db, sql.keyLimit, { company_id: context.company.id, now: toSql(context.clock()) });
  return storeKey(context, { name: body.name, scopes, expiry });
}

export async function storeKey(
  context: CompanyContext,
  { name, scopes, expiry }: { name: string; scopes: readonly string[]; expiry?: Instant | undefined },
): Promise<string> {
  const { company, clock, credential } = context;
  const key = newToken();
  const insert = sql.insertKey({
    company_id: company.id,
    id: newId(),
    secret_sha256: secretHash(key),
    name,
    scopes,
    expires_at: expiry && toSql(expiry),
    created_by_type: credential?.type,
    created_by_id: credential?.id,
    created_by_name: credential?.name,
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  const record = await withCredentialLock(context, ({ db }) => db.queryJson(insert));
  if (record === undefined) throw new Error('The key was not written, and no reason was found.');
  return withSecret(record, 'key', key);
}

/** Accepts a key that was revoked before, so that its descendants can be ended later. */
export async function revokeKey(context: CompanyContext, id: string, query: Form<EndCredentialQuery>): Promise<string> {
  const { company, clock } = context;
  const kinds = readKindsToEnd(query, context);
  if (!query.ok) await showKey(context, id);
  query.check();
  return withCredentialLock(context, async (locked) => {
    const record = await locked.db.queryJson(
      sql.revokeKey({ company_id: company.id, id, now: toSql(clock()), origin: auditOrigin(context) }),
    );
    if (record === undefined) throw notFound('key');
    return withDescendants(locked, { type: 'key', id }, kinds, record);
  });
}

function parseExpiry(text: string, { company, clock }: CompanyContext): Instant {
  const expiry = parseTime(text, company.timeZone);
  if (Temporal.Instant.compare(expiry, clock()) <= 0) throw new InvalidValue('out_of_range', 'must be in the future');
  return expiry;
}
