import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { Database } from '../src/kernel/database/database.ts';
import { purgeEnded } from '../src/webhooks/retention.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { until } from './harness/until.ts';
import { webhookWorker } from './harness/webhook-worker.ts';
import { call, change, type Endpoint, notesOf, openWebhooks, stateOf } from './harness/webhooks.ts';

/** Webhooks in difficult situations: outages, long backlogs, endpoints that are locked. */

const { app, receiver, worker, endpointOf, deliverUntil } = await openWebhooks();

const at = (path: string) => receiver.received.filter((received) => received.path === path);

/** Inserts deliveries that are due in an hour, as if they had been attempted and refused. */
const backlog = (company: TestCompany, { id }: Endpoint, count: number) =>
  app.sql(
    `INSERT INTO webhook_deliveries
       (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at, lease_until, created_at)
     SELECT $1, $2, (SELECT max(position) FROM events), 'interaction.created', gen_random_uuid(), 'waiting', true,
            $4::timestamptz, $4::timestamptz + interval '1 hour', $4 FROM generate_series(1, $3::int)`,
    [company.companyId, id, count, app.clock.read().toString()],
  );

/** What is sent to a receiver that works again. */
async function resumed(company: TestCompany, { path }: Endpoint): Promise<string[]> {
  receiver.onEvent = () => undefined;
  receiver.received.length = 0;
  await ok(company.post(`${path}/resume`));
  await worker.runOnce();
  return notesOf(receiver.received);
}

test('the event with which an endpoint begins to fail is the first to come after its resumption', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await change(company, await call(company, 'one'), 'two');
  receiver.onEvent = () => ({ status: 500 });
  await deliverUntil('2026-06-05T09:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'failing');
  assert.deepEqual(await resumed(company, endpoint), ['one', 'two']);
});

test('an outage that begins beside a success gives nothing up', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company, 'A');
  await call(company, 'B');
  receiver.onEvent = ({ event }) => (event.after.notes === 'B' ? undefined : { status: 500 });
  await worker.runOnce();
  receiver.onEvent = () => ({ status: 500 });
  app.clock.set('2026-06-01T10:00:00Z');
  await call(company, 'C');
  await deliverUntil('2026-06-05T09:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'failing');
  assert.deepEqual((await resumed(company, endpoint)).sort(), ['A', 'C']);
});

test('a ping that is taken is no success', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company, 'A');
  receiver.onEvent = ({ event }) => (event.type === 'ping' ? undefined : { status: 500 });
  await deliverUntil('2026-06-04T08:00:00Z');
  await ok(company.post(`${endpoint.path}/ping`));
  await deliverUntil('2026-06-04T10:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'failing');
});

test('workers that were away for three days give nothing up after two attempts', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 500 });
  await worker.runOnce();
  app.clock.set('2026-06-04T10:00:00Z');
  await worker.runOnce();
  assert.equal(await stateOf(company, endpoint), 'active');
  await deliverUntil('2026-06-05T23:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'failing');
  assert.equal(receiver.received.length, 10);
});

test('what was claimed before something was put before it is given back', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const id = await call(company, 'one');
  await worker.runOnce();
  await change(company, id, 'two');
  receiver.received.length = 0;
  const [{ id: first }] = await ok(company.get(`${endpoint.path}/deliveries`));
  const { queryFirst: ask } = app.db;
  let replayed = false;
  app.db.queryFirst = async function (this: Database, query) {
    if (query.statement.name === 'webhook_deliveries.start' && !replayed) {
      replayed = true;
      await ok(company.post(`${endpoint.path}/deliveries/${first}/replay`));
    }
    return ask.call(this, query) as never;
  };
  try {
    await worker.runOnce();
  } finally {
    app.db.queryFirst = ask;
  }
  assert.deepEqual(notesOf(receiver.received), ['one', 'two']);
});

test('types are those of the time at which something happened', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company, 'wanted');
  await ok(company.patch(endpoint.path, { types: ['invoice.*'] }));
  await call(company, 'not wanted');
  await ok(company.patch(endpoint.path, { state: 'disabled' }));
  await call(company, 'not wanted either');
  await ok(company.patch(endpoint.path, { types: ['interaction.*'] }));
  await call(company, 'wanted again');
  await ok(company.post(`${endpoint.path}/resume`));
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received).sort(), ['wanted', 'wanted again']);
  const left = await app.sql('SELECT earlier_types FROM webhook_endpoints WHERE id = $1', [endpoint.id]);
  assert.deepEqual(left, [{ earlier_types: [] }]);
});

test('a hundred changes of types are kept of an endpoint that gets nothing, and then no more', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const types = (n: number) => ({ types: [n % 2 === 0 ? 'interaction.*' : 'invoice.*'] });
  await ok(company.patch(endpoint.path, { state: 'disabled' }));
  for (let n = 1; n <= 100; n++) await ok(company.patch(endpoint.path, types(n)));
  const beyond = await company.patch(endpoint.path, types(101));
  assert.equal(beyond.status, 400, beyond.text);
  assert.deepEqual(beyond.body.errors[0], {
    field: 'types',
    code: 'invalid_state',
    message: 'have been changed 100 times since events were last queued; resume the endpoint first',
  });
  // Other changes, and changes that leave the types as they are, do not count.
  await ok(company.patch(endpoint.path, { ...types(100), description: 'As before', state: 'active' }));
  await worker.runOnce();
  await ok(company.patch(endpoint.path, types(101)));
});

test('results that wait for a locked endpoint delay no others, and no accepted delivery is repeated', async (t) => {
  const [company, other] = [await app.company(), await app.company()];
  const { id } = await endpointOf(company, { url: `${receiver.url}/held` });
  await endpointOf(other, { url: `${receiver.url}/free` });
  // The service caches a company for two seconds.
  app.clock.advance({ seconds: 3 });
  for (let i = 0; i < 8; i++) await call(company);
  const answered = Promise.withResolvers<void>();
  receiver.onEvent = ({ path }) => (path === '/hooks/held' ? { until: answered.promise } : undefined);
  const db = new Database({ connection: app.connection, poolSize: 4 });
  const worker = webhookWorker({ ...app, db });
  await worker.start();
  t.after(async () => {
    await worker.stop(10);
    await db.close();
  });
  await until(() => at('/hooks/held').length >= 4);
  // The service ends a transaction that is idle for ten seconds.
  const holder = new pg.Client(app.connection);
  await holder.connect();
  t.after(() => holder.end());
  await holder.query('BEGIN');
  await holder.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE', [id]);
  let refusals = 0;
  db.onStatement = (name) => {
    if (name === 'webhook_endpoints.lock_shared') refusals++;
  };
  answered.resolve();
  await until(() => refusals >= 4);
  for (let i = 0; i < 4; i++) await call(other);
  await until(() => at('/hooks/free').length >= 4);
  await holder.query('COMMIT');
  const ended = `SELECT 1 FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'delivered'`;
  await until(async () => (await app.sql(ended, [id])).length >= 8);
  assert.equal(at('/hooks/held').length, 8);
});

test('two endpoints that hang leave room for the others of their company', async (t) => {
  const company = await app.company();
  for (const name of ['slow1', 'slow2']) await endpointOf(company, { url: `${receiver.url}/${name}` });
  await endpointOf(company, { url: `${receiver.url}/quick`, types: ['interaction.deleted'] });
  app.clock.advance({ seconds: 3 });
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push(await call(company));
  receiver.onEvent = ({ path }) => (path.includes('slow') ? { hang: true } : undefined);
  const worker = webhookWorker(app, {
    outbound: { allowPrivateAddresses: true, timeouts: { headersMs: 1_000, totalMs: 1_100 } },
  });
  await worker.start();
  t.after(() => worker.stop(10));
  await until(() => receiver.received.length >= 10);
  await ok(company.delete(`${company.path}/interactions/${ids[0]}`));
  const before = receiver.received.length;
  await until(() => at('/hooks/quick').length >= 1);
  const between = receiver.received.findIndex(({ path }) => path === '/hooks/quick') - before;
  assert.ok(between <= 16, `after ${between} more that hang, of ${2 * ids.length}`);
});

test('however many deliveries wait, an endpoint is resumed and removed immediately', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await ok(company.patch(endpoint.path, { state: 'disabled' }));
  await backlog(company, endpoint, 5_000);
  await app.sql('ANALYZE webhook_deliveries');
  const waiting = async () =>
    (
      await app.sql<{ count: number }>(
        `SELECT count(*)::int FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'waiting'`,
        [endpoint.id],
      )
    )[0]?.count;
  await ok(company.post(`${endpoint.path}/resume`));
  await ok(company.delete(endpoint.path));
  assert.equal(await waiting(), 5_000, 'the requests have touched none of it');
  const statements = new Map<string, number>();
  app.db.onStatement = (name) => statements.set(name, 1 + (statements.get(name) ?? 0));
  await worker.runOnce();
  app.db.onStatement = () => {};
  assert.equal(await waiting(), 0);
  assert.ok(Number(statements.get('webhook_deliveries.discard')) >= 5, 'and the worker drops a thousand at a time');
});

test('waiting deliveries are attempted immediately after a resumption', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  for (let i = 0; i < 3; i++) await call(company, String(i));
  receiver.onEvent = () => ({ status: 500 });
  await deliverUntil('2026-06-01T20:00:00Z');
  await ok(company.patch(endpoint.path, { state: 'disabled' }));
  assert.deepEqual((await resumed(company, endpoint)).sort(), ['0', '1', '2']);
});

test('a company has at most fifty endpoints, however many are created concurrently', async () => {
  const company = await app.company();
  const body = { url: receiver.url, types: ['interaction.*'] };
  const answers = await Promise.all(Array.from({ length: 53 }, () => company.post('/webhooks/endpoints', body)));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.errors[0].field, body.errors[0].code]),
    Array.from({ length: 3 }, () => [400, 'url', 'too_many']),
  );
});

test('a replay skips waiting events and other types than the endpoint’s, and is refused if too many wait', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company, { types: ['interaction.created'] });
  await change(company, await call(company), 'other type');
  await worker.runOnce();
  const replay = async (body: object) => (await ok(company.post(`${endpoint.path}/replay`, body))).queued;
  assert.equal(await replay({ types: ['*'] }), 1);
  assert.equal(await replay({}), 0);
  await backlog(company, endpoint, 50_001);
  const { status, body } = await company.post(`${endpoint.path}/replay`, {});
  assert.deepEqual([status, body.errors?.[0]?.field], [400, 'deliveries']);
});

test('of an endpoint one ping waits, and goes before everything else', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  for (let i = 0; i < 6; i++) await call(company);
  const [one, same] = [
    await ok(company.post(`${endpoint.path}/ping`)),
    await ok(company.post(`${endpoint.path}/ping`)),
  ];
  assert.equal(one.id, same.id);
  receiver.onEvent = () => ({ status: 500 });
  await worker.runOnce();
  app.clock.advance({ hours: 1 });
  receiver.received.length = 0;
  await ok(company.post(`${endpoint.path}/ping`));
  await worker.runOnce();
  assert.equal(receiver.received[0]?.event.type, 'ping');
});

test('a Retry-After pauses all that waits for the endpoint', async () => {
  const company = await app.company();
  await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 429, headers: { 'retry-after': '600' } });
  await worker.runOnce();
  receiver.onEvent = () => undefined;
  await call(company);
  app.clock.advance({ seconds: 500 });
  await worker.runOnce();
  assert.equal(receiver.received.length, 1);
  app.clock.advance({ seconds: 101 });
  await worker.runOnce();
  assert.equal(receiver.received.length, 3);
});

test('secrets, notices and removed endpoints are forgotten in their time', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await ok(company.post(`${endpoint.path}/rotate`, { overlap_hours: 1 }));
  const context = { db: app.db, clock: app.clock.read };
  const previous = async () =>
    (await app.sql('SELECT sealed_previous_secret AS sealed FROM webhook_endpoints WHERE id = $1', [endpoint.id]))[0]
      ?.sealed;
  await purgeEnded(context);
  assert.ok(await previous());
  app.clock.advance({ hours: 1 });
  await purgeEnded(context);
  assert.equal(await previous(), null);
  await call(company);
  receiver.onEvent = () => ({ status: 410 });
  await worker.runOnce();
  await ok(company.delete(endpoint.path));
  await worker.runOnce();
  app.clock.advance({ hours: 31 * 24 });
  await purgeEnded(context);
  const count = async (table: string, column: string) =>
    (await app.sql(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [endpoint.id])).length;
  assert.deepEqual(
    [await count('webhook_deliveries', 'endpoint_id'), await count('webhook_notices', 'endpoint_id')],
    [0, 0],
  );
  const unlogged = `INSERT INTO webhook_endpoints (company_id, id, url, types, state, position, created_at, updated_at, removed_at)
    VALUES ($1, gen_random_uuid(), 'https://gone.example/', '{*}', 'active', 0, now(), now(), now())`;
  await app.sql(unlogged, [company.companyId]);
  await purgeEnded(context);
  assert.deepEqual(await app.sql(`SELECT 1 FROM webhook_endpoints WHERE url = 'https://gone.example/'`), []);
  assert.equal(await count('webhook_endpoints', 'id'), 1, 'the log still tells of it');
});
