import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { invalidRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Scope } from '../../../kernel/scopes.ts';
import type { Query } from '../../../kernel/sql/statement.ts';
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
import type { ClientBody, CreateClientBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listClients({ db, company }: CompanyContext, request: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listClients, { company_id: company.id }, request);
}

export const showClient = ({ db, company }: CompanyContext, id: string): Promise<string> =>
  requireClient(db, sql.showClient({ company_id: company.id, id }));

export async function createClient(context: CompanyContext, form: Form<CreateClientBody>): Promise<string> {
  const { db, company, clock, credential } = context;
  form.read('name', form.body.name, assertVisible);
  const scopes = readScopes(form) ?? [];
  validateGrantable(form, context);
  form.check();
  await assertBelowLimit(db, sql.clientLimit, { company_id: company.id });
  const secret = newClientSecret();
  const insert = sql.insertClient({
    company_id: company.id,
    id: newId(),
    name: form.body.name,
    scopes,
    secret_sha256: secretHash(secret),
    created_by_type: credential?.type,
    created_by_id: credential?.id,
    created_by_name: credential?.name,
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  const record = await withCredentialLock(context, (locked) => locked.db.queryJson(insert));
  if (record === undefined) throw new Error('The client was not written, and no reason was found.');
  return withSecret(record, 'client_secret', secret);
}

export async function updateClient(context: CompanyContext, id: string, form: Form<ClientBody>): Promise<string> {
  const { company, clock } = context;
  form.read('name', form.body.name, assertVisible);
  const update = sql.updateClient({
    company_id: company.id,
    id,
    name: form.body.name,
    scopes: readScopes(form),
    grantable_scopes: grantableScopes(context),
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  return withCredentialLock(context, async (locked) => {
    const record = form.ok ? await locked.db.queryJson(update) : undefined;
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
  const rotate = sql.rotateClient({
    company_id: company.id,
    id,
    secret_sha256: secretHash(secret),
    grantable_scopes: grantableScopes(context),
    rotated_by_type: credential?.type,
    rotated_by_id: credential?.id,
    rotated_by_name: credential?.name,
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  return withCredentialLock(context, async (locked) => {
    const record = await locked.db.queryJson(rotate);
    if (record !== undefined) return withSecret(record, 'client_secret', secret);
    await assertScopesOfClient(locked, id);
    throw new Error('The secret was not replaced, and no reason was found.');
  });
}

/** Throws if the caller lacks a scope of the client. */
async function assertScopesOfClient(locked: CompanyContext, id: string): Promise<void> {
  const { scopes } = locked;
  const lacking = (await findClientScopes(locked, id)).filter((scope) => scopes && !scopes.has(scope as Scope));
  if (lacking.length === 0) return;
  const message = `the client has scopes that this token does not have: ${lacking.join(', ')}`;
  throw invalidRequest([{ field: 'scopes', code: 'not_allowed', message }]);
}

const grantableScopes = ({ scopes }: CompanyContext) => (scopes ? [...scopes] : null);

async function findClientScopes({ db, company }: CompanyContext, id: string): Promise<string[]> {
  const client = await db.queryFirst<{ scopes: string[] }>(sql.findScopes({ company_id: company.id, id }));
  if (!client) throw notFound('client');
  return client.scopes;
}

/** Accepts a client that was disabled before, so that its descendants can be ended later. */
export async function disableClient(
  context: CompanyContext,
  id: string,
  query: Form<EndCredentialQuery>,
): Promise<string> {
  const kinds = readKindsToEnd(query, context);
  if (!query.ok) await showClient(context, id);
  query.check();
  return withCredentialLock(context, async (locked) => {
    const record = await requireClient(locked.db, sql.disableClient(stateChange(context, id)));
    return withDescendants(locked, { type: 'client', id }, kinds, record);
  });
}

/** Gives the scopes back, so the caller must have them, as for giving them at first. */
export const enableClient = (context: CompanyContext, id: string): Promise<string> =>
  withCredentialLock(context, async (locked) => {
    await assertScopesOfClient(locked, id);
    return requireClient(locked.db, sql.enableClient(stateChange(context, id)));
  });

const stateChange = (context: CompanyContext, id: string) => ({
  company_id: context.company.id,
  id,
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});

async function requireClient(db: Executor, query: Query): Promise<string> {
  const record = await db.queryJson(query);
  if (record === undefined) throw notFound('client');
  return record;
}
