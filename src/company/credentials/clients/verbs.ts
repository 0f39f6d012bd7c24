import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import { credentialValues } from '../../../kernel/credential-columns.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { invalidRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Statement } from '../../../kernel/sql/statement.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../../kernel/validation/paging.ts';
import { assertVisible } from '../../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../../admin-context.ts';
import { readListPage } from '../../list.ts';
import { withCredentialLock } from '../credential-lock.ts';
import type { EndCredentialQuery } from '../descendants.schema.ts';
import { readKindsToEnd, withDescendants } from '../descendants.ts';
import { readScopes, validateGrantable } from '../granted-scopes.ts';
import { newClientSecret, secretHash, withSecret } from '../secrets.ts';
import type { ClientBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listClients({ db, company }: CompanyContext, listing: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listClients, [company.id], listing);
}

export const showClient = (context: CompanyContext, id: string): Promise<string> =>
  queryClient(context, sql.showClient, id);

export async function createClient(context: CompanyContext, form: Form<ClientBody>): Promise<string> {
  const { db, company, clock, credential } = context;
  form.read('name', form.body.name, assertVisible);
  const scopes = readScopes(form);
  validateGrantable(form, context);
  form.check();
  await assertBelowLimit(db, sql.clientLimit, [company.id]);
  const secret = newClientSecret();
  const values = [company.id, newId(), form.body.name, scopes, secretHash(secret), toSql(clock())];
  const all = [...values, ...credentialValues(credential), auditOrigin(context)];
  const record = await withCredentialLock(context, (locked) => locked.db.queryJson(sql.insertClient, all));
  if (record === undefined) throw new Error('The client was not written, and no reason was found.');
  return withSecret(record, 'client_secret', secret);
}

export async function updateClient(context: CompanyContext, id: string, form: Form<ClientBody>): Promise<string> {
  const { company, clock } = context;
  form.read('name', form.body.name, assertVisible);
  const values = [company.id, id, form.body.name ?? null, readScopes(form) ?? null];
  const all = [...values, toSql(clock()), grantableScopes(context), auditOrigin(context)];
  return withCredentialLock(context, async (locked) => {
    const record = form.ok ? await locked.db.queryJson(sql.updateClient, all) : undefined;
    if (record !== undefined) return record;
    validateGrantable(form, context, await findClientScopes(locked, id));
    form.check();
    throw new Error('The client was not updated, and no reason was found.');
  });
}

/** The caller learns the secret and so gets every scope of the client; it must have these scopes itself. */
export async function rotateClient(context: CompanyContext, id: string): Promise<string> {
  const { company, clock, credential } = context;
  const secret = newClientSecret();
  const values = [company.id, id, secretHash(secret), toSql(clock()), grantableScopes(context), auditOrigin(context)];
  const all = [...values, ...credentialValues(credential)];
  return withCredentialLock(context, async (locked) => {
    const record = await locked.db.queryJson(sql.rotateClient, all);
    if (record !== undefined) return withSecret(record, 'client_secret', secret);
    const lacking = (await findClientScopes(locked, id)).filter(
      (scope) => context.scopes && !context.scopes.has(scope),
    );
    const message = `the client has scopes that this token does not have: ${lacking.join(', ')}`;
    throw invalidRequest([{ field: 'scopes', code: 'not_allowed', message }]);
  });
}

const grantableScopes = ({ scopes }: CompanyContext) => (scopes ? [...scopes] : null);

async function findClientScopes({ db, company }: CompanyContext, id: string): Promise<string[]> {
  const client = await db.queryFirst<{ scopes: string[] }>(sql.findScopes, [company.id, id]);
  if (!client) throw notFound('client');
  return client.scopes;
}

/** Accepts a client that was disabled before, so that its descendants can be ended later. */
export async function disableClient(
  context: CompanyContext,
  id: string,
  query: Form<EndCredentialQuery>,
): Promise<string> {
  const kinds = readKindsToEnd(query);
  if (!query.ok) await showClient(context, id);
  query.check();
  return withCredentialLock(context, async (locked) => {
    const record = await queryClient(locked, sql.disableClient, id, toSql(context.clock()), auditOrigin(context));
    return withDescendants(locked, { type: 'client', id }, kinds, record);
  });
}

export const enableClient = (context: CompanyContext, id: string): Promise<string> =>
  withCredentialLock(context, (locked) =>
    queryClient(locked, sql.enableClient, id, toSql(context.clock()), auditOrigin(context)),
  );

async function queryClient(
  { db, company }: CompanyContext,
  statement: Statement,
  id: string,
  ...values: unknown[]
): Promise<string> {
  const record = await db.queryJson(statement, [company.id, id, ...values]);
  if (record === undefined) throw notFound('client');
  return record;
}
