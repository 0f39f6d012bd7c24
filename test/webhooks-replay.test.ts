import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { fanOut } from '../src/webhooks/fan-out.sql.ts';
import { ok } from './harness/assert.ts';
import { type Received, verified } from './harness/receiver.ts';
import { until } from './harness/until.ts';
import { webhookWorker } from './harness/webhook-worker.ts';
import { call, change, notesOf, stateOf } from './harness/webhooks.ts';
import { app, deliveries, deliverUntil, endpointOf, receiver, worker } from './harness/webhooks-delivery.ts';

// So long that polling finds nothing: the worker must be notified.
const NEVER_MS = 1_000_000_000;

test('both secrets sign during a rotation, and only the new one after it', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const { secret } = await ok(company.post(`${endpoint.path}/rotate`, { overlap_hours: 2 }));
  assert.notEqual(secret, endpoint.secret);
  const send = async () => {
    await call(company);
    await worker.runOnce();
    return receiver.received.at(-1) as Received;
  };
  const during = await send();
  for (const one of [secret, endpoint.secret]) await verified(during, [one], app.clock.read());
  assert.equal(String(during.headers['webhook-signature']).split('v1=').length, 3);
  app.clock.advance({ hours: 2 });
  const afterwards = await send();
  await verified(afterwards, [secret], app.clock.read());
  await assert.rejects(verified(afterwards, [endpoint.secret], app.clock.read()), { code: 'wrong_signature' });
  const { secret: third } = await ok(company.post(`${endpoint.path}/rotate`, { overlap_hours: 0 }));
  const atOnce = await send();
  await verified(atOnce, [third], app.clock.read());
  await assert.rejects(verified(atOnce, [secret], app.clock.read()), { code: 'wrong_signature' });
});

test('a ping is sent once, also to an endpoint that is disabled', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await ok(company.patch(endpoint.path, { state: 'disabled' }));
  await call(company, 'kept');
  const ping = await ok(company.post(`${endpoint.path}/ping`));
  assert.deepEqual([ping.event_type, ping.state, ping.event_id], ['ping', 'waiting', ping.id]);
  await worker.runOnce();
  const [received] = receiver.received as [Received];
  assert.equal(receiver.received.length, 1);
  await verified(received, [endpoint.secret], app.clock.read());
  assert.deepEqual(received.event, {
    id: ping.id,
    type: 'ping',
    at: '2026-06-01T09:00:00.000000Z',
    endpoint_id: endpoint.id,
  });
  assert.equal(received.headers['webhook-id'], ping.id);
  receiver.onEvent = () => ({ status: 500 });
  const second = await ok(company.post(`${endpoint.path}/ping`));
  await deliverUntil('2026-06-08T09:00:00Z');
  assert.equal(receiver.received.length, 2);
  assert.equal((await ok(company.get(`${endpoint.path}/deliveries/${second.id}`))).state, 'failed');
  assert.equal(await stateOf(company, endpoint), 'disabled');
  assert.equal((await company.post(`${endpoint.path}/deliveries/${ping.id}/replay`)).status, 400);
});

test('a delivery can be replayed: the same event once more', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  const replay = async () =>
    company.post(`${endpoint.path}/deliveries/${(await deliveries(company, endpoint)).at(-1).id}/replay`);
  receiver.onEvent = () => ({ status: 500 });
  await worker.runOnce();
  assert.equal((await replay()).status, 400, 'it waits already');
  receiver.onEvent = () => undefined;
  app.clock.advance({ seconds: 30 });
  await worker.runOnce();
  const [first] = await deliveries(company, endpoint);
  const again = await ok(replay());
  assert.deepEqual([again.event_id, again.replay_of, again.state], [first.event_id, first.id, 'waiting']);
  await worker.runOnce();
  assert.deepEqual(new Set(receiver.received.map(({ text }) => text)).size, 1);
  assert.equal(receiver.received.length, 3);
});

test('a range can be replayed by ids, by times and by types, in order', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const id = await call(company, '0');
  for (const notes of ['1', '2', '3', '4']) {
    app.clock.advance({ minutes: 1 });
    await change(company, id, notes);
  }
  await worker.runOnce();
  const ids = receiver.received.map(({ event }) => event.id);
  const replayed = async (body: object) => {
    receiver.received.length = 0;
    const { queued, next } = await ok(company.post(`${endpoint.path}/replay`, body));
    await worker.runOnce();
    assert.deepEqual([queued, next], [receiver.received.length, null]);
    return notesOf(receiver.received).join('');
  };
  assert.equal(await replayed({}), '01234');
  assert.equal(await replayed({ after: ids[1] }), '234');
  assert.equal(await replayed({ after: ids[0], until: ids[2] }), '12');
  assert.equal(await replayed({ after: '2026-06-01T09:02:00Z' }), '234');
  assert.equal(await replayed({ after: '2026-06-01 10:01', until: '2026-06-01 10:03:00' }), '12');
  assert.equal(await replayed({ types: ['interaction.created'] }), '0');
  assert.equal(await replayed({ types: ['webhook_endpoint.*'] }), '');
  for (const body of [{ after: 'evt_AAAAAAAAAAAAAAAAAAAAAA' }, { until: 'yesterday' }, { types: ['nothing'] }]) {
    assert.equal((await company.post(`${endpoint.path}/replay`, body)).status, 400, JSON.stringify(body));
  }
});

test('what is replayed goes before what waits behind it, and what waits is not lost', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const id = await call(company, '1');
  await worker.runOnce();
  receiver.onEvent = () => ({ status: 500 });
  await change(company, id, '2');
  await change(company, id, '3');
  await worker.runOnce();
  receiver.received.length = 0;
  receiver.onEvent = () => undefined;
  await ok(company.post(`${endpoint.path}/replay`, {}));
  app.clock.advance({ seconds: 40 });
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received), ['1', '2', '3'], 'what waits already goes out once');
});

test('what waits for a removed endpoint is dropped', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 500 });
  await worker.runOnce();
  await ok(company.delete(endpoint.path));
  await call(company);
  await deliverUntil('2026-06-08T09:00:00Z');
  assert.equal(receiver.received.length, 1);
  const rows = await app.sql('SELECT state FROM webhook_deliveries WHERE endpoint_id = $1', [endpoint.id]);
  assert.deepEqual(rows, [{ state: 'dropped' }]);
});

test('an address that is changed is where the next attempt goes', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 500 });
  await worker.runOnce();
  receiver.onEvent = () => undefined;
  await ok(company.patch(endpoint.path, { url: `${receiver.url}/moved` }));
  app.clock.advance({ seconds: 30 });
  await worker.runOnce();
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/hooks', '/hooks/moved'],
  );
});

test('a worker that waits is woken by a write, and by a write only of a company with endpoints', {
  timeout: 120_000,
}, async (t) => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  // The service caches a company for two seconds.
  app.clock.advance({ seconds: 3 });
  const waiting = webhookWorker(app, { pollMs: NEVER_MS });
  await waiting.start();
  let running = true;
  const stop = async () => {
    if (running) await waiting.stop();
    running = false;
  };
  t.after(stop);
  for (let i = 1; i <= 20; i++) {
    await call(company);
    await until(() => receiver.received.length >= i);
  }
  await ok(company.post(`${endpoint.path}/ping`));
  await until(() => receiver.received.length >= 21);
  await stop();
  const notices: string[] = [];
  const listening = new pg.Client(app.connection);
  await listening.connect();
  t.after(() => listening.end());
  await listening.query('SELECT pg_sleep(0.2)');
  listening.on('notification', ({ channel }) => notices.push(channel));
  await listening.query('LISTEN due_work');
  await call(await app.company());
  await listening.query(`SELECT pg_sleep(0.2)`);
  assert.deepEqual(notices, []);
});

test('the metrics tell of what waits, and of endpoints that are failing', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await ok(company.post(`${endpoint.path}/ping`));
  await app.sql(`UPDATE webhook_endpoints SET state = 'failing' WHERE id = $1`, [endpoint.id]);
  const figures = async () => {
    const { text } = await app.anonymous.get('/metrics');
    return ['webhook_deliveries_waiting', 'webhook_endpoints_failing'].map((name) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]),
    );
  };
  assert.deepEqual(await figures(), [1, 1]);
  await worker.runOnce();
  assert.equal((await figures())[0], 0);
});

test('what is queued at the very moment in which the one before it ends has its turn', async () => {
  const company = await app.company();
  const { id: endpointId } = await endpointOf(company);
  const id = await call(company, '1');
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.onEvent = ({ event }) => (event.after.notes === '1' ? { until: promise } : undefined);
  const working = worker.runOnce();
  await until(() => receiver.received.length >= 1);
  await change(company, id, '2');

  // Another worker, between its statement and its commit.
  const other = new pg.Client(app.connection);
  await other.connect();
  const [{ top }] = (await app.sql('SELECT max(position) AS top FROM events')) as [{ top: string }];
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE', [endpointId]);
  await other.query(fanOut.prepared.text, [company.companyId, endpointId, top, 500, app.clock.read().toString()]);
  resolve();
  const { promise: tried, resolve: hasTried } = Promise.withResolvers<void>();
  app.db.onStatement = (name) => name === 'webhook_endpoints.lock_shared' && hasTried();
  await tried;
  app.db.onStatement = () => {};
  await other.query('COMMIT');
  await other.end();
  await working;
  assert.deepEqual(notesOf(receiver.received), ['1', '2']);
});
