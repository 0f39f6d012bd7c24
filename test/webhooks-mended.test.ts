import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../src/kernel/database/database.ts';
import { toQuery } from '../src/kernel/database/legacy-query.ts';
import { purgeEnded } from '../src/webhooks/retention.ts';
import type { Firm } from './harness/app.ts';
import { call, change, type Endpoint, notesOf, ok, openWebhooks, stateOf } from './harness/webhook-company.ts';
import { webhookOffice } from './harness/webhook-office.ts';

/** What happens to webhooks at the worst moment: outages, long backlogs, endpoints that somebody else holds. */

const { world, receiver, office, endpointOf, until } = await openWebhooks();

const at = (path: string) => receiver.received.filter((received) => received.path === path);

/** So many deliveries that wait for an hour from now, as if they had been tried and refused. */
const backlog = (firm: Firm, { id }: Endpoint, count: number) =>
  world.sql(
    `INSERT INTO webhook_deliveries
       (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at, lease_until, created_at)
     SELECT $1, $2, (SELECT max(position) FROM events), 'interaction.created', gen_random_uuid(), 'waiting', true,
            $4::timestamptz, $4::timestamptz + interval '1 hour', $4 FROM generate_series(1, $3::int)`,
    [firm.companyId, id, count, world.clock.read().toString()],
  );

/** What a receiver that is well again is sent. */
async function resumed(firm: Firm, { path }: Endpoint): Promise<string[]> {
  receiver.onEvent = () => undefined;
  receiver.received.length = 0;
  await ok(firm.post(`${path}/resume`));
  await office.runOnce();
  return notesOf(receiver.received);
}

test('the event with which an endpoint begins to fail is the first to come after its resumption', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await change(firm, await call(firm, 'one'), 'two');
  receiver.onEvent = () => ({ status: 500 });
  await until('2026-06-05T09:00:00Z');
  assert.equal(await stateOf(firm, endpoint), 'failing');
  assert.deepEqual(await resumed(firm, endpoint), ['one', 'two']);
});

test('an outage that begins beside a success gives nothing up', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await call(firm, 'A');
  await call(firm, 'B');
  receiver.onEvent = ({ event }) => (event.after.notes === 'B' ? undefined : { status: 500 });
  await office.runOnce();
  receiver.onEvent = () => ({ status: 500 });
  world.clock.set('2026-06-01T10:00:00Z');
  await call(firm, 'C');
  await until('2026-06-05T09:00:00Z');
  assert.equal(await stateOf(firm, endpoint), 'failing');
  assert.deepEqual((await resumed(firm, endpoint)).sort(), ['A', 'C']);
});

test('a ping that is taken is no success', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await call(firm, 'A');
  receiver.onEvent = ({ event }) => (event.type === 'ping' ? undefined : { status: 500 });
  await until('2026-06-04T08:00:00Z');
  await ok(firm.post(`${endpoint.path}/ping`));
  await until('2026-06-04T10:00:00Z');
  assert.equal(await stateOf(firm, endpoint), 'failing');
});

test('workers that were away for three days give nothing up after two attempts', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await call(firm);
  receiver.onEvent = () => ({ status: 500 });
  await office.runOnce();
  world.clock.set('2026-06-04T10:00:00Z');
  await office.runOnce();
  assert.equal(await stateOf(firm, endpoint), 'active');
  await until('2026-06-05T23:00:00Z');
  assert.equal(await stateOf(firm, endpoint), 'failing');
  assert.equal(receiver.received.length, 10);
});

test('what was claimed before something was put before it is given back', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  const id = await call(firm, 'one');
  await office.runOnce();
  await change(firm, id, 'two');
  receiver.received.length = 0;
  const [{ id: first }] = await ok(firm.get(`${endpoint.path}/deliveries`));
  const { queryFirst: ask } = world.db;
  let replayed = false;
  world.db.queryFirst = async function (this: Database, statement, values) {
    if (toQuery(statement).statement.name === 'webhook_deliveries.begin' && !replayed) {
      replayed = true;
      await ok(firm.post(`${endpoint.path}/deliveries/${first}/replay`));
    }
    return ask.call(this, statement, values) as never;
  };
  try {
    await office.runOnce();
  } finally {
    world.db.queryFirst = ask;
  }
  assert.deepEqual(notesOf(receiver.received), ['one', 'two']);
});

test('types are those of the time at which something happened', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await call(firm, 'wanted');
  await ok(firm.patch(endpoint.path, { types: ['invoice.*'] }));
  await call(firm, 'not wanted');
  await ok(firm.patch(endpoint.path, { state: 'disabled' }));
  await call(firm, 'not wanted either');
  await ok(firm.patch(endpoint.path, { types: ['interaction.*'] }));
  await call(firm, 'wanted again');
  await ok(firm.post(`${endpoint.path}/resume`));
  await office.runOnce();
  assert.deepEqual(notesOf(receiver.received).sort(), ['wanted', 'wanted again']);
  const left = await world.sql('SELECT earlier_types FROM webhook_endpoints WHERE id = $1', [endpoint.id]);
  assert.deepEqual(left, [{ earlier_types: [] }]);
});

test('a hundred changes of types are kept of an endpoint that gets nothing, and then no more', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  const types = (n: number) => ({ types: [n % 2 === 0 ? 'interaction.*' : 'invoice.*'] });
  await ok(firm.patch(endpoint.path, { state: 'disabled' }));
  for (let n = 1; n <= 100; n++) await ok(firm.patch(endpoint.path, types(n)));
  const beyond = await firm.patch(endpoint.path, types(101));
  assert.equal(beyond.status, 400, beyond.text);
  assert.deepEqual(beyond.body.errors[0], {
    field: 'types',
    code: 'invalid_state',
    message: 'have been changed 100 times since events were last queued',
  });
  // Whatever else is changed, and what leaves the types as they are, is none of them.
  await ok(firm.patch(endpoint.path, { ...types(100), description: 'As before', state: 'active' }));
  await office.runOnce();
  await ok(firm.patch(endpoint.path, types(101)));
});

test('settlings that wait for one endpoint keep nobody else waiting, and nothing that was taken comes again', async (t) => {
  const [firm, other] = [await world.firm(), await world.firm()];
  const { id } = await endpointOf(firm, { url: `${receiver.url}/held` });
  await endpointOf(other, { url: `${receiver.url}/free` });
  // The service looks a company up every two seconds.
  world.clock.advance({ seconds: 3 });
  for (let i = 0; i < 8; i++) await call(firm);
  const answered = Promise.withResolvers<void>();
  receiver.onEvent = ({ path }) => (path === '/hooks/held' ? { until: answered.promise } : undefined);
  const db = new Database({ connection: world.connection, poolSize: 4 });
  const times = { headersMs: 10_000, totalMs: 10_000 };
  const worker = webhookOffice({ ...world, db }, { reach: { allowPrivateAddresses: true, timeouts: times } });
  await worker.start();
  t.after(async () => {
    await worker.stop(10);
    await db.close();
  });
  while (at('/hooks/held').length < 4) await pause(5);
  await world.db.transaction(async (held) => {
    await held.queryRows({ name: 'hold', text: 'SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE' }, [
      id,
    ]);
    answered.resolve();
    await pause(300);
    for (let i = 0; i < 4; i++) await call(other);
    while (at('/hooks/free').length < 4) await pause(5);
  });
  const ended = `SELECT 1 FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'delivered'`;
  while ((await world.sql(ended, [id])).length < 8) await pause(10);
  assert.equal(at('/hooks/held').length, 8);
});

test('two endpoints that hang leave room for the others of their company', async (t) => {
  const firm = await world.firm();
  for (const name of ['slow1', 'slow2']) await endpointOf(firm, { url: `${receiver.url}/${name}` });
  await endpointOf(firm, { url: `${receiver.url}/quick`, types: ['interaction.deleted'] });
  world.clock.advance({ seconds: 3 });
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push(await call(firm));
  receiver.onEvent = ({ path }) => (path.includes('slow') ? { hang: true } : undefined);
  const worker = webhookOffice(world, {
    reach: { allowPrivateAddresses: true, timeouts: { headersMs: 1_000, totalMs: 1_100 } },
  });
  await worker.start();
  t.after(() => worker.stop(10));
  while (receiver.received.length < 10) await pause(5);
  await ok(firm.delete(`${firm.path}/interactions/${ids[0]}`));
  const before = receiver.received.length;
  while (at('/hooks/quick').length < 1) await pause(5);
  const between = receiver.received.findIndex(({ path }) => path === '/hooks/quick') - before;
  assert.ok(between <= 16, `after ${between} more that hang, of ${2 * ids.length}`);
});

test('however much waits, an endpoint is resumed and removed at once', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await ok(firm.patch(endpoint.path, { state: 'disabled' }));
  await backlog(firm, endpoint, 60_000);
  await world.sql('ANALYZE webhook_deliveries');
  const waiting = async () =>
    (
      await world.sql<{ count: number }>(
        `SELECT count(*)::int FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'waiting'`,
        [endpoint.id],
      )
    )[0]?.count;
  await ok(firm.post(`${endpoint.path}/resume`));
  await ok(firm.delete(endpoint.path));
  assert.equal(await waiting(), 60_000, 'the requests have touched none of it');
  const statements = new Map<string, number>();
  world.db.onStatement = (name) => statements.set(name, 1 + (statements.get(name) ?? 0));
  await office.runOnce();
  world.db.onStatement = () => {};
  assert.equal(await waiting(), 0);
  assert.ok(Number(statements.get('webhook_deliveries.drop')) >= 60, 'and the worker drops a thousand at a time');
});

test('what waits is tried at once after a resumption', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  for (let i = 0; i < 3; i++) await call(firm, String(i));
  receiver.onEvent = () => ({ status: 500 });
  await until('2026-06-01T20:00:00Z');
  await ok(firm.patch(endpoint.path, { state: 'disabled' }));
  assert.deepEqual((await resumed(firm, endpoint)).sort(), ['0', '1', '2']);
});

test('a company has fifty endpoints at most, however many are made at once', async () => {
  const firm = await world.firm();
  const body = { url: receiver.url, types: ['interaction.*'] };
  const answers = await Promise.all(Array.from({ length: 53 }, () => firm.post('/webhooks/endpoints', body)));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.errors[0].field, body.errors[0].code]),
    Array.from({ length: 3 }, () => [400, 'url', 'too_many']),
  );
});

test('a replay leaves out what waits, other types than the endpoint’s, and is refused where too much waits', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm, { types: ['interaction.created'] });
  await change(firm, await call(firm), 'other type');
  await office.runOnce();
  const replay = async (body: object) => (await ok(firm.post(`${endpoint.path}/replay`, body))).queued;
  assert.equal(await replay({ types: ['*'] }), 1);
  assert.equal(await replay({}), 0);
  await backlog(firm, endpoint, 50_001);
  const { status, body } = await firm.post(`${endpoint.path}/replay`, {});
  assert.deepEqual([status, body.errors?.[0]?.field], [400, 'deliveries']);
});

test('of an endpoint one ping waits, and goes before everything else', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  for (let i = 0; i < 6; i++) await call(firm);
  const [one, same] = [await ok(firm.post(`${endpoint.path}/ping`)), await ok(firm.post(`${endpoint.path}/ping`))];
  assert.equal(one.id, same.id);
  receiver.onEvent = () => ({ status: 500 });
  await office.runOnce();
  world.clock.advance({ hours: 1 });
  receiver.received.length = 0;
  await ok(firm.post(`${endpoint.path}/ping`));
  await office.runOnce();
  assert.equal(receiver.received[0]?.event.type, 'ping');
});

test('a Retry-After pauses all that waits for the endpoint', async () => {
  const firm = await world.firm();
  await endpointOf(firm);
  await call(firm);
  receiver.onEvent = () => ({ status: 429, headers: { 'retry-after': '600' } });
  await office.runOnce();
  receiver.onEvent = () => undefined;
  await call(firm);
  world.clock.advance({ seconds: 500 });
  await office.runOnce();
  assert.equal(receiver.received.length, 1);
  world.clock.advance({ seconds: 101 });
  await office.runOnce();
  assert.equal(receiver.received.length, 3);
});

test('secrets, notices and removed endpoints are forgotten in their time', async () => {
  const firm = await world.firm();
  const endpoint = await endpointOf(firm);
  await ok(firm.post(`${endpoint.path}/rotate`, { overlap_hours: 1 }));
  const desk = { db: world.db, clock: world.clock.read };
  const previous = async () =>
    (await world.sql('SELECT sealed_previous_secret AS sealed FROM webhook_endpoints WHERE id = $1', [endpoint.id]))[0]
      ?.sealed;
  await purgeEnded(desk);
  assert.ok(await previous());
  world.clock.advance({ hours: 1 });
  await purgeEnded(desk);
  assert.equal(await previous(), null);
  await call(firm);
  receiver.onEvent = () => ({ status: 410 });
  await office.runOnce();
  await ok(firm.delete(endpoint.path));
  await office.runOnce();
  world.clock.advance({ hours: 31 * 24 });
  await purgeEnded(desk);
  const count = async (table: string, column: string) =>
    (await world.sql(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [endpoint.id])).length;
  assert.deepEqual(
    [await count('webhook_deliveries', 'endpoint_id'), await count('webhook_notices', 'endpoint_id')],
    [0, 0],
  );
  const unlogged = `INSERT INTO webhook_endpoints (company_id, id, url, types, state, position, created_at, updated_at, removed_at)
    VALUES ($1, gen_random_uuid(), 'https://gone.example/', '{*}', 'active', 0, now(), now(), now())`;
  await world.sql(unlogged, [firm.companyId]);
  await purgeEnded(desk);
  assert.deepEqual(await world.sql(`SELECT 1 FROM webhook_endpoints WHERE url = 'https://gone.example/'`), []);
  assert.equal(await count('webhook_endpoints', 'id'), 1, 'the log still tells of it');
});
