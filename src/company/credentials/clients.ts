import { notFound } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/form.ts';
import { newId } from '../../kernel/ids.ts';
import type { Listing, PageOfJson } from '../../kernel/page.ts';
import type { Statement } from '../../kernel/sql.ts';
import { toSql } from '../../kernel/time.ts';
import { readPage } from '../listing.ts';
import type { Desk } from '../office.ts';
import type { ClientBody } from './clients.schema.ts';
import * as sql from './clients.sql.ts';
import { readScopes } from './granted-scopes.ts';
import { digest, newClientSecret, withSecret } from './secrets.ts';

export async function listClients({ db, company }: Desk, listing: Listing): Promise<PageOfJson> {
  return readPage(db, sql.listClients, [company.id], listing);
}

export const showClient = (desk: Desk, id: string): Promise<string> => onClient(desk, sql.showClient, id);

export async function createClient({ db, company, clock }: Desk, form: Form<ClientBody>): Promise<string> {
  const scopes = readScopes(form);
  form.check();
  const secret = newClientSecret();
  const values = [company.id, newId(), form.body.name, scopes, digest(secret), toSql(clock())];
  const record = await db.json(sql.insertClient, values);
  if (record === undefined) throw new Error('A client was refused without a reason.');
  return withSecret(record, 'client_secret', secret);
}

export async function changeClient(desk: Desk, id: string, form: Form<ClientBody>): Promise<string> {
  const scopes = readScopes(form);
  if (!form.ok) {
    await showClient(desk, id);
    form.check();
  }
  return onClient(desk, sql.updateClient, id, form.body.name ?? null, scopes ?? null, toSql(desk.clock()));
}

export async function rotateClient(desk: Desk, id: string): Promise<string> {
  const secret = newClientSecret();
  const record = await onClient(desk, sql.rotateClient, id, digest(secret), toSql(desk.clock()));
  return withSecret(record, 'client_secret', secret);
}

export const disableClient = (desk: Desk, id: string): Promise<string> =>
  onClient(desk, sql.disableClient, id, toSql(desk.clock()));

export const enableClient = (desk: Desk, id: string): Promise<string> =>
  onClient(desk, sql.enableClient, id, toSql(desk.clock()));

async function onClient(
  { db, company }: Desk,
  statement: Statement,
  id: string,
  ...values: unknown[]
): Promise<string> {
  const record = await db.json(statement, [company.id, id, ...values]);
  if (record === undefined) throw notFound('client');
  return record;
}
