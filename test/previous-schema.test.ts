import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { closeFullEventPartition } from '../src/events/partitions.ts';
import { purgeOldEvents } from '../src/events/retention.ts';
import { connectClient } from '../src/kernel/database/connect.ts';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { PREVIOUS_RELEASE_MIGRATION } from '../src/kernel/schema/previous-release.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { startApp } from './harness/app.ts';
import { readFixture, restoreFixture } from './harness/earlier-databases.ts';
import { caller } from './harness/http.ts';
import { document } from './harness/openapi.ts';

/** Processes of this release can be started before its migrations are applied. */

const LEVEL = String(PREVIOUS_RELEASE_MIGRATION).padStart(4, '0');
const later = { version: 9999, name: '9999_later.sql', sql: '', sha256: '' };

const fixture = await readFixture(`earlier-${LEVEL}.json.gz`);
const database = await restoreFixture(fixture);
const owner = await connectClient({ ...JSON.parse(process.env.TEST_POSTGRES ?? 'null'), database }, 'test');
await owner.query(`
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${SERVICE_ROLE};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO ${SERVICE_ROLE};
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${SERVICE_ROLE}`);
const [adviser] = (await owner.query('SELECT email FROM advisers ORDER BY email')).rows;
const [customer] = (await owner.query('SELECT id, email FROM customers ORDER BY email')).rows;
await owner.end();
const app = await startApp({ migrations: [...(await readMigrations()), later] }, { database });
app.clock.set('2026-11-20T09:00:00Z');
const company = caller(app.baseUrl, fixture.token);
const path = `/cases/${fixture.case_id}`;

test('a process is ready on the schema of the previous release', async () => {
  assert.equal((await app.anonymous.get('/readyz')).status, 200);
});

test('a process is not ready on an older schema', async () => {
  const applied = 'DELETE FROM migrations m WHERE version >= $1 RETURNING to_jsonb(m) AS row';
  const taken = await app.sql<{ row: object }>(applied, [PREVIOUS_RELEASE_MIGRATION]);
  const answer = await app.anonymous.get('/readyz');
  for (const { row } of taken)
    await app.sql('INSERT INTO migrations SELECT * FROM jsonb_populate_record(NULL::migrations, $1)', [row]);
  assert.equal(answer.status, 503, answer.text);
});

test('the twelve specified operations work on the schema of the previous release', async () => {
  const interaction = { type: 'phone', when: '2026-07-01 10:30', notes: 'First call' };
  const entry = { entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: 'Doe', tags: ['executor'] };
  const invoice = {
    ...{ invoice_number: 'INV-1', sender_id: customer.id, vat: 20, sub_total: 100, total: 120 },
    ...{ date_created: '2026-07-01 09:00', date_due: '2026-07-31 09:00' },
    items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
  };
  const appointment = {
    ...{ adviser_email: adviser.email, start_time: '2035-08-01 10:00', end_time: '2035-08-01 11:00' },
    ...{ email_recipient: customer.email, email_confirmation: true, email_notification: true },
  };
  const operations = [
    [`${path}/address-book`, 'entry', entry],
    [`${path}/interactions`, '', interaction],
    [`${path}/invoices`, '', invoice],
    [`${path}/appointments`, '', appointment],
  ] as const;
  for (const [list, suffix, body] of operations) {
    const collection = suffix ? `${list}/${suffix}` : list;
    const created = await company.post(collection, body);
    assert.equal(created.status, 200, created.text);
    const changed = await company.patch(`${collection}/${created.body.data?.id ?? created.body.id}`, body);
    assert.equal(changed.status, 200, changed.text);
    if (list.endsWith('appointments')) {
      assert.equal((await company.delete(`${collection}/${created.body.id}`)).status, 200);
    } else assert.equal((await company.get(list)).status, 200);
  }
});

test('the sums of open invoices are read from the invoices', async () => {
  const answer = await company.get('/invoices/sums');
  assert.equal(answer.status, 200, answer.text);
});

const GETS = Object.entries(document.paths as unknown as Record<string, Record<string, unknown>>)
  .filter(([, methods]) => 'get' in methods)
  .map(([template]) => template);

test('on the schema of the previous release an operation whose tables are missing answers 503', async () => {
  for (const template of GETS) {
    const words: Record<string, string> = { caseId: fixture.case_id, message: 'reminder' };
    const address = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => words[name] ?? randomUUID());
    const answer = await company.get(address);
    assert.notEqual(answer.status, 500, `${address}: ${answer.text}`);
  }
});

test('an operation answers 503 while the index that it needs is still being built', async () => {
  const create = () => company.post(`/manage/cases/${fixture.case_id}/customers`, { last_name: 'Doe' });
  assert.equal((await create()).status, 503);
  await app.sql('ALTER TABLE cases ADD COLUMN external_id text');
  await app.sql('ALTER TABLE customers ADD COLUMN external_id text');
  const answer = await create();
  assert.equal(answer.status, 503, answer.text);
  await app.sql('ALTER TABLE cases DROP COLUMN external_id');
  await app.sql('ALTER TABLE customers DROP COLUMN external_id');
});

test('only the operations of a missing table answer 503, and only before its migration', async () => {
  await app.sql('ALTER TABLE test_messages RENAME TO test_messages_later');
  after(() => app.sql('ALTER TABLE IF EXISTS test_messages_later RENAME TO test_messages'));
  const missing = await company.get('/manage/test-messages');
  assert.equal(missing.status, 503, missing.text);
  assert.equal(missing.body.code, 'unavailable');
  assert.equal(missing.headers['retry-after'], '1');
  assert.equal((await company.get(`${path}/interactions`)).status, 200);
  assert.equal((await app.anonymous.get('/readyz')).status, 200);
  assert.equal((await app.anonymous.get('/metrics')).status, 200);

  await app.sql(
    `INSERT INTO migrations SELECT (jsonb_populate_record(m, '{"version": 9999, "name": "9999_later.sql"}')).* FROM migrations m LIMIT 1`,
  );
  assert.equal((await company.get('/manage/test-messages')).status, 503, 'it may have begun before');
  app.clock.advance({ seconds: 11 });
  assert.equal((await company.get('/manage/test-messages')).status, 500);
  const [later] = await app.sql('DELETE FROM migrations WHERE version = 9999 RETURNING to_jsonb(migrations) AS row');
  assert.equal((await app.anonymous.get('/readyz')).status, 200);
  await app.sql('INSERT INTO migrations SELECT * FROM jsonb_populate_record(NULL::migrations, $1)', [later?.row]);
  assert.equal((await company.get('/manage/test-messages')).status, 503, 'also if it is the first that fails');
  app.clock.advance({ seconds: 11 });
  assert.equal((await company.get('/manage/test-messages')).status, 500);
  await app.sql('ALTER TABLE test_messages_later RENAME TO test_messages');
  assert.equal((await company.get('/manage/test-messages')).status, 200);
});

test('the hourly work of the event log does nothing that the schema of the previous release lacks', async () => {
  assert.equal(await closeFullEventPartition(app.db), false);
  assert.equal(await purgeOldEvents(app.db), 0);
});
