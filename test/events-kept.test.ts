import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';

/** The log stores rows, and builds the snapshots when it is read. */

const app = await startApp();

type Event = { type: string; changed: string[] | null; before: Image; after: Image };
type Image = Record<string, unknown> | null;

const invoice = {
  invoice_number: 'INV-1',
  sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
  date_created: '2026-05-01T10:00:00.123456Z',
  date_due: '2026-05-31 10:00:00',
  vat: '17.5000',
  sub_total: '0.10',
  vat_amount: '0.00',
  total: '9999999999.99',
  items: [
    { description: 'Ünïcode "quotes" \\ and\nlines 🏠', quantity: 3, rate: '0.0333', amount: '0.10' },
    { description: 'Second', quantity: 1, rate: '1.0000', amount: '1.00' },
  ],
};

/** For each record that is stored as rows: how it is made, and a change of every field. */
const RECORDS = {
  interaction: {
    path: 'interactions',
    make: {
      type: 'phone',
      notes: 'Ünïcode "quotes" \\ and\nlines 🏠',
      sender: null,
      when: '2026-05-01T10:00:00.123456Z',
    },
    change: { type: 'letter', notes: 'other', sender: 'Alex', recipient: 'Jo', when: '2025-05-01 10:00:00' },
    tables: ['interactions'],
  },
  invoice: {
    path: 'invoices',
    make: invoice,
    change: { ...invoice, total: '1.00', items: [{ description: 'Only', quantity: 1, rate: 1, amount: 1 }] },
    tables: ['invoices', 'invoice_items', 'payments'],
  },
  address_book_entry: {
    path: 'address-book/entry',
    make: {
      title: 'Ms',
      first_names: 'Jo',
      last_name: "O'Neil",
      dob: '29/02/2000',
      tags: ['executor', 'witness'],
      address: { address_1: '1 "High" Street' },
    },
    change: {
      title: 'Mr',
      last_name: 'Doe',
      first_names: 'Joe',
      tags: ['guardian'],
      address: { address_1: '2 Low Street', postcode: 'AB1 2CD' },
    },
    tables: ['people', 'addresses', 'relationships'],
  },
  appointment: {
    path: 'appointments',
    make: {
      start_time: '2031-05-01T10:00:00.123456Z',
      end_time: '2031-05-01 13:00:00',
      notes: 'Ünïcode "quotes" \\ and\nlines 🏠',
    },
    change: { start_time: '2031-06-01 10:00:00', end_time: '2031-06-01 11:00:00', notes: null, location: 'Here' },
    tables: ['appointments'],
  },
};

async function changed(company: TestCompany, record: keyof typeof RECORDS) {
  const { path, make, change } = RECORDS[record];
  const body = record === 'appointment' ? { ...make, adviser_email: company.adviser } : make;
  const made = await company.post(
    `${company.path}/${path}`,
    record === 'address_book_entry' ? { entity_id: 'person', ...body } : body,
  );
  assert.equal(made.status, 200, made.text);
  const one = `${company.path}/${path}/${made.body.id}`;
  const [created] = await history(company, one);
  const answer = await company.patch(
    one,
    record === 'address_book_entry' ? { entity_id: 'person', ...change } : change,
  );
  assert.equal(answer.status, 200, answer.text);
  return { id: made.body.id, one, created };
}

async function history(company: TestCompany, one: string): Promise<Event[]> {
  const answer = await company.get(`${one}/history`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

for (const record of Object.keys(RECORDS) as (keyof typeof RECORDS)[]) {
  test(`${record}: what it was is exactly what it had been shown as, to the last digit and sign`, async () => {
    const company = await app.company();
    const { one, created } = await changed(company, record);
    const [first, second] = await history(company, one);
    assert.deepEqual(second?.before, created?.after);
    assert.deepEqual(first?.after, created?.after);
    assert.ok((second?.changed?.length ?? 0) > 1);
  });

  test(`${record}: the log keeps all rows of it, and no more`, async () => {
    const company = await app.company();
    const { id } = await changed(company, record);
    const rows = await app.sql('SELECT was, before FROM events WHERE record_id = $1 ORDER BY position', [id]);
    assert.deepEqual(rows[0], { was: null, before: null }, 'a create has none');
    assert.deepEqual(Object.keys(rows[1]?.was as object), RECORDS[record].tables);
    assert.equal(rows[1]?.before, null);
  });

  test(`${record}: an entry from before rows were kept shows what it has`, async () => {
    const company = await app.company();
    const { id, one } = await changed(company, record);
    const { text } = await company.get(`${one}/history`);
    // Exactly as stored, to the last digit.
    const image = /.*"before" : ({.*}), "after" : /s.exec(text)?.[1];
    await rewrite('UPDATE events SET before = $2, was = NULL WHERE record_id = $1 AND was IS NOT NULL', [id, image]);
    assert.equal((await company.get(`${one}/history`)).text, text);
  });

  test(`${record}: rows from before a column or a table was there are shown without it`, async () => {
    const company = await app.company();
    const { id, one, created } = await changed(company, record);
    const [table, ...parts] = RECORDS[record].tables;
    await rewrite(
      `UPDATE events SET was = json_build_object('${table}', (was::jsonb -> '${table}') - 'deleted_at' - 'cancelled_at' - 'version')
        WHERE record_id = $1 AND was IS NOT NULL`,
      [id],
    );
    const [, second] = await history(company, one);
    if (parts.length === 0) assert.deepEqual(second?.before, created?.after);
    else assert.equal(second?.before?.id, id);
  });
}

/** Changes the log as its owner; no role of the service may. */
async function rewrite(text: string, values: unknown[]): Promise<void> {
  await app.sql('ALTER TABLE events DISABLE TRIGGER events_stay');
  await app.sql(text, values).finally(() => app.sql('ALTER TABLE events ENABLE TRIGGER events_stay'));
}
