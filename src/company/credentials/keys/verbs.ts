import { credentialValues } from '../../../kernel/credential-columns.ts';
import { InvalidValue, notFound } from '../../../kernel/errors.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { newId } from '../../../kernel/ids.ts';
import { requireName } from '../../../kernel/validation/single-line.ts';
import type { Listing, PageOfJson } from '../../../kernel/validation/paging.ts';
import { originOf } from '../../../kernel/audit/audit-log.ts';
import { requireRoom } from '../../../kernel/database/row-limit.ts';
import { type Instant, parseTime, toSql } from '../../../kernel/time/time.ts';
import { readPage } from '../../list.ts';
import type { Desk } from '../../admin-context.ts';
import { underCredentialLock } from '../credential-lock.ts';
import { readScopes, requireGrantable } from '../granted-scopes.ts';
import type { KeyBody } from './schema.ts';
import * as sql from './statements.sql.ts';
import type { AlsoQuery } from '../created-by.schema.ts';
import { readAlso, withMade } from '../created-by.ts';
import { digest, newToken, withSecret } from '../secrets.ts';

export async function listKeys({ db, company }: Desk, listing: Listing): Promise<PageOfJson> {
  return readPage(db, sql.listKeys, [company.id], listing);
}

export async function showKey({ db, company }: Desk, id: string): Promise<string> {
  const record = await db.json(sql.showKey, [company.id, id]);
  if (record === undefined) throw notFound('key');
  return record;
}

/** Which scopes can be granted at all is in the schema with which the form was read. */
export async function createKey(desk: Desk, form: Form<KeyBody>): Promise<string> {
  const { body } = form;
  form.read('name', body.name, requireName);
  const scopes = readScopes(form) ?? [];
  requireGrantable(form, desk);
  const expiry = form.read('expires_at', body.expires_at, (text) => parseExpiry(text, desk));
  form.check();
  await requireRoom(desk.db, sql.keyLimit, [desk.company.id, toSql(desk.clock())]);
  return storeKey(desk, { name: body.name, scopes, expiry });
}

export async function storeKey(
  desk: Desk,
  { name, scopes, expiry }: { name: string; scopes: readonly string[]; expiry?: Instant | undefined },
): Promise<string> {
  const { company, clock, credential } = desk;
  const key = newToken();
  const expires = expiry ? toSql(expiry) : null;
  const values = [company.id, newId(), digest(key), name, scopes, expires, toSql(clock())];
  const all = [...values, ...credentialValues(credential), originOf(desk)];
  const record = await underCredentialLock(desk, ({ db }) => db.json(sql.insertKey, all));
  if (record === undefined) throw new Error('A key was refused without a reason.');
  return withSecret(record, 'key', key);
}

/** Also of a key that was revoked before: what it made and still works can be ended later. */
export async function revokeKey(desk: Desk, id: string, query: Form<AlsoQuery>): Promise<string> {
  const { company, clock } = desk;
  const also = readAlso(query);
  if (!query.ok) await showKey(desk, id);
  query.check();
  return underCredentialLock(desk, async (held) => {
    const record = await held.db.json(sql.revokeKey, [company.id, id, toSql(clock()), originOf(desk)]);
    if (record === undefined) throw notFound('key');
    return withMade(held, { type: 'key', id }, also, record);
  });
}

function parseExpiry(text: string, { company, clock }: Desk): Instant {
  const expiry = parseTime(text, company.timeZone);
  if (Temporal.Instant.compare(expiry, clock()) <= 0) throw new InvalidValue('out_of_range', 'must be in the future');
  return expiry;
}
