import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { fanOut } from '../src/webhooks/fan-out.sql.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { type Received, verified } from './harness/receiver.ts';
import { until } from './harness/until.ts';
import { webhookWorker } from './harness/webhook-worker.ts';
import { call, change, type Endpoint, notesOf, openWebhooks, stateOf } from './harness/webhooks.ts';

/** From a change to the receiver: what is sent, in which order, how often, and what is done when it fails. */

const { app, receiver, worker, endpointOf, deliverUntil } = await openWebhooks();
// Nobody finds anything by looking: it must be heard.
const NEVER_MS = 1_000_000_000;

const deliveries = (company: TestCompany, { path }: Endpoint, query = '') =>
  ok(company.get(`${path}/deliveries${query}`));

test('an event comes exactly as GET /events shows it, signed, with its id', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company, 'Grüße 👋');
  await worker.runOnce();
  const [received] = receiver.received as [Received];
  const shown = await company.get('/events?types=interaction.*');
  assert.equal(`[${received.text}]`, shown.text);
  const { 'content-type': type, 'user-agent': agent, 'webhook-id': id } = received.headers;
  assert.deepEqual([type, agent, id], ['application/json', 'case-records', shown.body[0].id]);
  const { event } = await verified(received, [endpoint.secret], app.clock.read());
  assert.deepEqual(event, shown.body[0]);
  assert.deepEqual(worker.outcomes, ['delivered']);
});

test('only the chosen types are sent, from the making of the endpoint on', async () => {
  const company = await app.company();
  const before = await call(company, 'before');
  await endpointOf(company, { types: ['interaction.created', 'interaction.deleted'] });
  const id = await call(company);
  await change(company, id, 'changed');
  await change(company, before, 'changed');
  await ok(company.delete(`${company.path}/interactions/${id}`));
  await worker.runOnce();
  assert.deepEqual(
    receiver.received.map(({ event }) => [event.type, event.record.id]),
    [
      ['interaction.created', id],
      ['interaction.deleted', id],
    ],
  );
});

test('the types of an endpoint are those of what happens after they were changed', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company, { types: ['*'] });
  await worker.runOnce();
  assert.deepEqual(
    receiver.received.map(({ event }) => event.type),
    ['webhook_endpoint.created'],
  );
  await ok(company.patch(endpoint.path, { types: ['interaction.deleted'] }));
  await call(company);
  await worker.runOnce();
  assert.equal(receiver.received.length, 1);
});

test('each endpoint of each company gets its own company’s events, and no other', async () => {
  const [company, other] = [await app.company(), await app.company()];
  await endpointOf(company, { url: `${receiver.url}/1` });
  await endpointOf(company, { url: `${receiver.url}/2` });
  await endpointOf(other, { url: `${receiver.url}/3` });
  const id = await call(company);
  await worker.runOnce();
  assert.deepEqual(receiver.received.map(({ path, event }) => [path, event.record.id]).sort(), [
    ['/hooks/1', id],
    ['/hooks/2', id],
  ]);
});

test('of one record the next waits for the one before it, and others do not wait', async () => {
  const company = await app.company();
  await endpointOf(company);
  const [first, second] = [await call(company, 'a1'), await call(company, 'b1')];
  await change(company, first, 'a2');
  await change(company, second, 'b2');
  receiver.onEvent = ({ event }) => (event.after.notes === 'a1' ? { status: 500 } : undefined);
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received).sort(), ['a1', 'b1', 'b2']);
  await change(company, first, 'a3');
  await worker.runOnce();
  assert.equal(receiver.received.length, 3, 'a2 and a3 wait for a1');
  receiver.onEvent = () => undefined;
  app.clock.advance({ seconds: 33 });
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received).slice(3), ['a1', 'a2', 'a3']);
});

test('a record with many events goes out one after the other, over several workers at once', async () => {
  const company = await app.company();
  await endpointOf(company);
  const offices = [worker, webhookWorker(app), webhookWorker(app)];
  const ids = await Promise.all(Array.from({ length: 6 }, () => call(company, '0')));
  for (let i = 1; i <= 15; i++) {
    app.clock.advance({ seconds: 1 });
    await Promise.all([...ids.map((id) => change(company, id, String(i))), ...offices.map((one) => one.runOnce())]);
  }
  app.clock.advance({ seconds: 1 });
  await Promise.all(offices.map((one) => one.runOnce()));
  // On a busy machine a worker finds an endpoint taken by another, and looks again later.
  for (let i = 0; i < 10 && receiver.received.length < 6 * 16; i++) {
    app.clock.advance({ seconds: 1 });
    await worker.runOnce();
  }
  assert.equal(receiver.received.length, 6 * 16);
  for (const id of ids) {
    const its = receiver.received.filter(({ event }) => event.record.id === id);
    assert.deepEqual(
      notesOf(its),
      Array.from({ length: 16 }, (_, i) => String(i)),
    );
  }
});

test('the pauses grow over three days; then the endpoint is failing, and the contact is told once', async () => {
  const company = await app.company();
  await ok(
    company.patch('/manage/company', { contact_email: 'it@firm.example', sender_address: 'office@firm.example' }),
  );
  const endpoint = await endpointOf(company);
  await call(company, 'a');
  receiver.onEvent = () => ({ status: 500, text: `no${'!'.repeat(2_000)}` });
  await deliverUntil('2026-06-04T08:59:00Z');
  assert.equal(await stateOf(company, endpoint), 'active');
  assert.equal(worker.mails.length, 0);
  await call(company, 'late');
  await deliverUntil('2026-06-04T09:00:00Z');
  await worker.runOnce();
  const failed = (await deliveries(company, endpoint, '?state=waiting')).at(-1);
  const { tries } = await ok(company.get(`${endpoint.path}/deliveries/${failed.id}`));
  const times = tries.map(({ at }: { at: string }) => Temporal.Instant.from(at));
  const pauses = times
    .slice(1)
    .map((at: Temporal.Instant, i: number) => Math.round(times[i].until(at).total('seconds')));
  assert.deepEqual(pauses.slice(0, 9), [30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 21_600]);
  assert.equal(Math.round(times[0].until(times.at(-1)).total('seconds')), 72 * 3_600);
  assert.equal(tries[0].status, 500);
  assert.equal(tries[0].answer.length, 1_000);
  const record = await ok(company.get(endpoint.path));
  assert.deepEqual([record.state, record.failing_since.slice(0, 19)], ['failing', '2026-06-04T09:00:00']);
  assert.match(record.state_reason, /three days/);
  assert.deepEqual(
    worker.mails.map(({ recipient }) => recipient),
    ['it@firm.example'],
  );
  assert.match(worker.mails[0]?.text ?? '', /127\.0\.0\.1/);
  assert.deepEqual(worker.outcomes, [], 'it waits for somebody to resume the endpoint');
  const log = await ok(company.get(`${endpoint.path}/history`));
  assert.deepEqual(log.map(({ type, actor }: { type: string; actor: object }) => [type, actor]).at(-1), [
    'webhook_endpoint.marked_failing',
    { type: 'worker' },
  ]);

  // Nothing more is sent, and nothing is lost.
  const { length } = receiver.received;
  await call(company, 'meanwhile');
  await deliverUntil('2026-06-20T09:00:00Z');
  assert.equal(receiver.received.length, length);
  assert.equal(worker.mails.length, 1);
  receiver.onEvent = () => undefined;
  await ok(company.post(`${endpoint.path}/resume`));
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received.slice(length)).sort(), ['a', 'late', 'meanwhile']);
  assert.equal(await stateOf(company, endpoint), 'active');
});

test('after a resumption three days begin anew, in the order of each record', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const id = await call(company, '1');
  await change(company, id, '2');
  receiver.onEvent = () => ({ drop: true });
  await deliverUntil('2026-06-04T10:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'failing');
  await change(company, id, '3');
  await ok(company.patch(endpoint.path, { state: 'active' }));
  await deliverUntil('2026-06-07T09:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'active', 'not before three days have passed again');
  receiver.received.length = 0;
  receiver.onEvent = () => undefined;
  await deliverUntil('2026-06-07T12:00:00Z');
  assert.deepEqual(notesOf(receiver.received), ['1', '2', '3']);
  assert.equal(worker.mails.length, 0, 'there is nobody to tell');
  const [notice] = await app.sql('SELECT state, last_error FROM webhook_notices WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.equal(notice?.state, 'untold');
});

test('an endpoint that takes others stays active when one event is given up, and a mail a day says so', async () => {
  const company = await app.company();
  await ok(company.patch('/manage/company', { sender_address: 'office@firm.example' }));
  const endpoint = await endpointOf(company);
  const id = await call(company, 'poison');
  await change(company, id, 'next');
  await call(company, 'poison');
  receiver.onEvent = ({ event }) => (event.after.notes === 'poison' ? { status: 422 } : undefined);
  await deliverUntil('2026-06-04T00:00:00Z');
  await call(company, 'fine');
  await deliverUntil('2026-06-05T09:00:00Z');
  assert.equal(await stateOf(company, endpoint), 'active');
  assert.equal((await deliveries(company, endpoint, '?state=failed')).length, 2);
  assert.ok(notesOf(receiver.received).includes('next'), 'what waited for it goes on');
  assert.deepEqual(
    worker.mails.map(({ recipient }) => recipient),
    ['office@firm.example'],
  );
});

test('a mail that is refused is tried again', async () => {
  const company = await app.company();
  await ok(company.patch('/manage/company', { contact_email: 'it@firm.example' }));
  await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 500 });
  let refusals = 2;
  const failing = webhookWorker(app, {
    tell: async () => {
      if (refusals-- > 0) throw new Error('no mail server');
    },
  });
  await deliverUntil('2026-06-04T08:59:59Z');
  app.clock.set('2026-06-04T09:00:00Z');
  for (let i = 0; i < 5; i++) {
    await failing.runOnce();
    app.clock.advance({ minutes: 1 });
  }
  assert.equal(failing.mails.length, 1);
});

test('410 disables the endpoint at once; resumed, it gets everything', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const id = await call(company, '1');
  await call(company, 'other');
  await change(company, id, '2');
  receiver.onEvent = () => ({ status: 410 });
  await worker.runOnce();
  const record = await ok(company.get(endpoint.path));
  assert.deepEqual([record.state, record.state_reason], ['disabled', 'The endpoint answered 410 Gone.']);
  const log = await ok(company.get(`${endpoint.path}/history`));
  assert.equal(log.at(-1).type, 'webhook_endpoint.disabled');
  await deliverUntil('2026-06-10T09:00:00Z');
  assert.ok(receiver.received.length <= 2);
  receiver.received.length = 0;
  receiver.onEvent = () => undefined;
  await ok(company.post(`${endpoint.path}/resume`));
  await worker.runOnce();
  assert.deepEqual(notesOf(receiver.received).sort(), ['1', '2', 'other']);
  assert.equal((await company.post(`${endpoint.path}/resume`)).status, 400, 'it is active');
});

for (const [status, header, seconds] of [
  [429, '90', 90],
  [503, 'Mon, 01 Jun 2026 09:05:00 GMT', 300],
  [429, '1', 30],
  [503, '999999', 21_600],
  [500, '90', 30],
  [429, 'soon', 30],
] as const) {
  test(`Retry-After: ${header} of a ${status} means ${seconds} seconds`, async () => {
    const company = await app.company();
    const endpoint = await endpointOf(company);
    await call(company);
    receiver.onEvent = () => ({ status, headers: { 'retry-after': header } });
    await worker.runOnce();
    const [{ next_attempt_at: next }] = await deliveries(company, endpoint);
    assert.equal(Math.round(app.clock.read().until(Temporal.Instant.from(next)).total('seconds')), seconds);
  });
}

test('a redirection is not followed', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ status: 307, headers: { location: `${receiver.url}/elsewhere` } });
  await worker.runOnce();
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/hooks'],
  );
  const [{ id, state }] = await deliveries(company, endpoint);
  assert.equal(state, 'waiting');
  const { tries } = await ok(company.get(`${endpoint.path}/deliveries/${id}`));
  assert.deepEqual([tries.length, tries[0].status], [1, 307]);
});

test('what hangs, or breaks off, is tried again, and comes again by the same id', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ hang: true });
  await worker.runOnce();
  receiver.onEvent = () => ({ drop: true });
  app.clock.advance({ seconds: 30 });
  await worker.runOnce();
  receiver.onEvent = () => undefined;
  app.clock.advance({ seconds: 120 });
  await worker.runOnce();
  assert.equal(receiver.received.length, 3);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
  const [{ id, state, attempts }] = await deliveries(company, endpoint);
  assert.deepEqual([state, attempts], ['delivered', 3]);
  const { tries } = await ok(company.get(`${endpoint.path}/deliveries/${id}`));
  assert.deepEqual(
    tries.map(({ status, error }: { status: number; error: string | null }) => [status, error]),
    [
      [null, 'No answer within 0.3 s.'],
      [null, 'The connection failed: ECONNRESET.'],
      [200, null],
    ],
  );
});

test('an answer without end is read no further than it has to be, and counts', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ text: 'x'.repeat(10_000_000) });
  await worker.runOnce();
  const [{ state }] = await deliveries(company, endpoint);
  assert.equal(state, 'delivered');
});

test('one endpoint that hangs leaves room for the others of its company', async () => {
  const company = await app.company();
  const { promise, resolve } = Promise.withResolvers<void>();
  receiver.onEvent = ({ path }) => (path === '/hooks/slow' ? { until: promise } : undefined);
  await endpointOf(company, { url: `${receiver.url}/slow` });
  await endpointOf(company, { url: `${receiver.url}/quick` });
  const patient = webhookWorker(app, {
    reach: { allowPrivateAddresses: true, timeouts: { headersMs: 10_000, totalMs: 10_000 } },
    slots: 32,
  });
  for (let i = 0; i < 20; i++) await call(company);
  const working = patient.runOnce();
  const of = (name: string) => receiver.received.filter(({ path }) => path === `/hooks/${name}`).length;
  await until(() => of('quick') >= 20);
  assert.equal(of('slow'), 4);
  resolve();
  await working;
  assert.equal(of('slow'), 20);
});

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

test('a ping goes out once, also to an endpoint that is disabled', async () => {
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
  // The service looks a company up every two seconds.
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
  const patient = webhookWorker(app, {
    reach: { allowPrivateAddresses: true, timeouts: { headersMs: 10_000, totalMs: 10_000 } },
  });
  const working = patient.runOnce();
  await until(() => receiver.received.length >= 1);
  await change(company, id, '2');

  // Another worker, between its statement and its end.
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
