import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from './harness/assert.ts';
import { type Received, verified } from './harness/receiver.ts';
import { until } from './harness/until.ts';
import { IMPATIENT, webhookWorker } from './harness/webhook-worker.ts';
import { call, change, notesOf, stateOf } from './harness/webhooks.ts';
import { app, deliveries, deliverUntil, endpointOf, receiver, worker } from './harness/webhooks-delivery.ts';

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

test('the events of one record are delivered one after the other, also by several concurrent workers', async () => {
  const company = await app.company();
  await endpointOf(company);
  const offices = [worker, webhookWorker(app), webhookWorker(app)];
  const ids = await Promise.all(Array.from({ length: 6 }, () => call(company, '0')));
  const changeThrice = async (id: string, first: number) => {
    for (const notes of [first, first + 1, first + 2]) await change(company, id, String(notes));
  };
  for (let i = 1; i <= 15; i += 3) {
    app.clock.advance({ seconds: 1 });
    await Promise.all([...ids.map((id) => changeThrice(id, i)), ...offices.map((one) => one.runOnce())]);
  }
  // A worker may find an endpoint claimed by another, and polls again later.
  const waiting = `SELECT 1 FROM webhook_deliveries WHERE state = 'waiting'`;
  await until(async () => {
    app.clock.advance({ seconds: 1 });
    await Promise.all(offices.map((one) => one.runOnce()));
    return receiver.received.length >= 6 * 16 && (await app.sql(waiting)).length === 0;
  });
  assert.equal(receiver.received.length, 6 * 16);
  const attempts = await app.sql('SELECT DISTINCT attempts FROM webhook_deliveries');
  assert.deepEqual(attempts, [{ attempts: 1 }]);
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
  assert.deepEqual(worker.outcomes, [], 'it waits until the endpoint is resumed');
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

test('after a resumption the three days start again, in the order of each record', async () => {
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
  assert.equal(worker.mails.length, 0, 'the company has no contact');
  const [notice] = await app.sql('SELECT state, last_error FROM webhook_notices WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.equal(notice?.state, 'untold');
});

test('an endpoint that takes others stays active when one event is abandoned, and a mail a day says so', async () => {
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

test('a mail that is refused is retried', async () => {
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

test('410 disables the endpoint immediately; resumed, it gets everything', async () => {
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

test('what hangs, or breaks off, is retried, and comes again by the same id', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  await call(company);
  receiver.onEvent = () => ({ hang: true });
  await webhookWorker(app, { outbound: IMPATIENT }).runOnce();
  // On a loaded machine the attempt may end before its request arrives.
  const hung = receiver.received.length;
  receiver.onEvent = () => ({ drop: true });
  app.clock.advance({ seconds: 30 });
  await worker.runOnce();
  receiver.onEvent = () => undefined;
  app.clock.advance({ seconds: 120 });
  await worker.runOnce();
  assert.equal(receiver.received.length, hung + 2);
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
  for (let i = 0; i < 20; i++) await call(company);
  const working = worker.runOnce();
  const of = (name: string) => receiver.received.filter(({ path }) => path === `/hooks/${name}`).length;
  await until(() => of('quick') >= 20);
  assert.equal(of('slow'), 4);
  resolve();
  await working;
  assert.equal(of('slow'), 20);
});
