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
import type { AlsoQuery } from '../created-by.schema.ts';
import { readAlso, withMade } from '../created-by.ts';
import { underCredentialLock } from '../credential-lock.ts';
import { readScopes, requireGrantable } from '../granted-scopes.ts';
import { digest, newClientSecret, withSecret } from '../secrets.ts';
import type { ClientBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listClients({ db, company }: CompanyContext, listing: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listClients, [company.id], listing);
}

export const showClient = (desk: CompanyContext, id: string): Promise<string> => onClient(desk, sql.showClient, id);

export async function createClient(desk: CompanyContext, form: Form<ClientBody>): Promise<string> {
  const { db, company, clock, credential } = desk;
  form.read('name', form.body.name, assertVisible);
  const scopes = readScopes(form);
  requireGrantable(form, desk);
  form.check();
  await assertBelowLimit(db, sql.clientLimit, [company.id]);
  const secret = newClientSecret();
  const values = [company.id, newId(), form.body.name, scopes, digest(secret), toSql(clock())];
  const all = [...values, ...credentialValues(credential), auditOrigin(desk)];
  const record = await underCredentialLock(desk, (held) => held.db.queryJson(sql.insertClient, all));
  if (record === undefined) throw new Error('A client was refused without a reason.');
  return withSecret(record, 'client_secret', secret);
}

export async function changeClient(desk: CompanyContext, id: string, form: Form<ClientBody>): Promise<string> {
  const { company, clock } = desk;
  form.read('name', form.body.name, assertVisible);
  const values = [company.id, id, form.body.name ?? null, readScopes(form) ?? null];
  const all = [...values, toSql(clock()), grantable(desk), auditOrigin(desk)];
  return underCredentialLock(desk, async (held) => {
    const record = form.ok ? await held.db.queryJson(sql.updateClient, all) : undefined;
    if (record !== undefined) return record;
    requireGrantable(form, desk, await scopesOf(held, id));
    form.check();
    throw new Error('A change of a client was refused without a reason.');
  });
}

/** Who learns the secret can do what the client may: nobody is given more than it has. */
export async function rotateClient(desk: CompanyContext, id: string): Promise<string> {
  const { company, clock, credential } = desk;
  const secret = newClientSecret();
  const values = [company.id, id, digest(secret), toSql(clock()), grantable(desk), auditOrigin(desk)];
  const all = [...values, ...credentialValues(credential)];
  return underCredentialLock(desk, async (held) => {
    const record = await held.db.queryJson(sql.rotateClient, all);
    if (record !== undefined) return withSecret(record, 'client_secret', secret);
    const lacking = (await scopesOf(held, id)).filter((scope) => desk.scopes && !desk.scopes.has(scope));
    const message = `the client has scopes that this token does not have: ${lacking.join(', ')}`;
    throw invalidRequest([{ field: 'scopes', code: 'not_allowed', message }]);
  });
}

const grantable = ({ scopes }: CompanyContext) => (scopes ? [...scopes] : null);

async function scopesOf({ db, company }: CompanyContext, id: string): Promise<string[]> {
  const client = await db.queryFirst<{ scopes: string[] }>(sql.findScopes, [company.id, id]);
  if (!client) throw notFound('client');
  return client.scopes;
}

/** Also of a client that was disabled before: what it made and still works can be ended later. */
export async function disableClient(desk: CompanyContext, id: string, query: Form<AlsoQuery>): Promise<string> {
  const also = readAlso(query);
  if (!query.ok) await showClient(desk, id);
  query.check();
  return underCredentialLock(desk, async (held) => {
    const record = await onClient(held, sql.disableClient, id, toSql(desk.clock()), auditOrigin(desk));
    return withMade(held, { type: 'client', id }, also, record);
  });
}

export const enableClient = (desk: CompanyContext, id: string): Promise<string> =>
  underCredentialLock(desk, (held) => onClient(held, sql.enableClient, id, toSql(desk.clock()), auditOrigin(desk)));

async function onClient(
  { db, company }: CompanyContext,
  statement: Statement,
  id: string,
  ...values: unknown[]
): Promise<string> {
  const record = await db.queryJson(statement, [company.id, id, ...values]);
  if (record === undefined) throw notFound('client');
  return record;
}
