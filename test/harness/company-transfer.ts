import { randomUUID } from 'node:crypto';
import { COMPANY_TABLES, TABLE_TRAITS } from '../../src/server/company-tables.ts';
import { lineOf } from '../../src/server/company-transfer/table-columns.ts';
import type { TestApp, TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { booking, invoiceBody, PERSON } from './bodies.ts';
import { CREDENTIALS } from './zoom.ts';

/** What the file of a company has to keep: at least one row in every table, with the odd values of each kind. */
export async function fillCompany(app: TestApp, company: TestCompany): Promise<{ webhookSecret: string }> {
  const { companyId, path, customers } = company;
  await ok(
    company.post(`${path}/address-book/entry`, {
      ...PERSON,
      first_names: 'Zoë "Z" \\ \u2028 ’',
      tags: ['executor'],
      custom_tags: ['vip-client'],
      address: { address_1: '1 High\nStreet\t', postcode: '' },
      relationship: { [customers[0].id]: 'sister', [customers[1].id]: 'cousin' },
    }),
  );
  const { id: call } = await ok(
    company.post(`${path}/interactions`, { type: 'phone', notes: 'first\nline' }, { 'idempotency-key': randomUUID() }),
  );
  await ok(company.patch(`${path}/interactions/${call}`, { type: 'phone', notes: '' }));
  await ok(company.delete(`${path}/interactions/${call}`));
  const items = Array.from({ length: 40 }, (_, n) => ({ description: `Item ${n}`, quantity: 1, rate: 10, amount: 12 }));
  const invoice = await ok(
    company.post(`${path}/invoices`, invoiceBody({ sender_id: companyId, vat: 20, sub_total: 400, total: 480, items })),
  );
  await ok(company.post(`${path}/invoices/${invoice.id}/payments`, { amount: 0.1 }));
  const mailed = { email_recipient: customers[0].email, email_confirmation: true, email_notification: true };
  const appointment = await ok(
    company.post(`${path}/appointments`, booking(company, { ...mailed, video_meeting: true })),
  );
  await ok(company.patch('/manage/message-templates/reminder', { subject: 'Soon: {{date}}' }));
  await ok(company.post('/manage/message-templates/reminder/test', { email: 'me@firm.example' }));
  const [adviser] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  await ok(company.send('PUT', `/manage/advisers/${adviser.id}/video-account`, { provider: 'zoom', ...CREDENTIALS }));
  const endpoint = await ok(company.post('/webhooks/endpoints', { url: 'https://firm.example/', types: ['*'] }));
  await ok(company.post(`/webhooks/endpoints/${endpoint.id}/ping`));
  const client = await ok(company.post('/manage/clients', { name: 'site', scopes: ['interactions:read'] }));
  await ok(company.post(`/manage/clients/${client.id}/rotate`));
  const una = { email: 'una@firm.example', name: 'Una User', role: 'owner', adviser_id: adviser.id };
  const { id: user } = await ok(company.post('/manage/users', una));
  await app.sql(
    `INSERT INTO passkeys (company_id, id, user_id, name, credential_id, public_key, counter, transports, backed_up, created_at)
     VALUES ($1, gen_random_uuid(), $2::uuid, 'Phone', sha256($2::uuid::text::bytea), '\\x01', 1, '{internal}', true, now())`,
    [companyId, user],
  );
  // A message that was sent again has a greater id than the resent one, and the same time.
  await app.sql(
    `WITH m AS (SELECT * FROM messages WHERE company_id = $1 AND kind = 'confirmation' LIMIT 1)
     INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
                           updated_at, resend_of)
     SELECT company_id, case_id, appointment_id, gen_random_uuid(), channel, kind, start_at, 'sent', due_at, created_at,
            updated_at, id FROM m`,
    [companyId],
  );
  await app.sql(
    `WITH k AS (
       INSERT INTO case_kinds (company_id, id, name, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), 'Wills', now(), now()) RETURNING id)
     UPDATE cases SET kind_id = k.id, responsible_adviser_id = $2, external_id = 'crm/1' FROM k
      WHERE company_id = $1 AND cases.id = $3`,
    [companyId, adviser.id, company.caseId],
  );
  await app.sql(
    `INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
     VALUES ($1, $2, gen_random_uuid(), 'failing', 'waiting', now())`,
    [companyId, endpoint.id],
  );
  await ok(company.patch(`${path}/appointments/${appointment.id}`, booking(company, { notes: 'moved' })));
  return { webhookSecret: endpoint.secret };
}

const LOCAL = [
  'lease_by',
  'lease_until',
  'claim_at',
  'sealed_secret',
  'sealed_previous_secret',
  'removal_started_at',
  'imported_at',
];

/** Every row of the company as text, by table, except leases and encrypted secrets. */
export async function rowsOf(app: TestApp, companyId: string): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  const exported = ['companies', ...COMPANY_TABLES.filter((table) => !TABLE_TRAITS[table]?.isLocal)];
  const columns = await app.sql<{ table: string; names: string[] }>(
    `SELECT attrelid::regclass::text AS table, array_agg(attname::text ORDER BY attnum) AS names FROM pg_attribute
      WHERE attrelid = ANY ($1::regclass[]) AND attnum > 0 AND NOT attisdropped GROUP BY 1`,
    [exported],
  );
  const namesOf = new Map(columns.map(({ table, names }) => [table, names]));
  for (const table of exported) {
    const compared = (namesOf.get(table) ?? []).filter((name) => !LOCAL.includes(name));
    const found = await app.sql<{ line: string }>(
      `SELECT ${lineOf('t', compared)} AS line FROM ${table} t
        WHERE ${table === 'companies' ? 'id' : 'company_id'} = $1 ORDER BY 1`,
      [companyId],
    );
    rows[table] = found.map(({ line }) => line);
  }
  return rows;
}

/** Inserts $3 events of company $1 and case $2, with snapshots of some 500 bytes. */
export const FILL_EVENTS = `
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
  SELECT $1, $2, gen_random_uuid(), 'interaction.updated', now(), '{}', json_build_object('notes', repeat(md5(n::text), 15))
    FROM generate_series(1, $3) n`;
