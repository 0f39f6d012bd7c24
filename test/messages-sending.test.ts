import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { DeliveryError, type OutgoingMessage } from '../src/cases/appointments/messages/message.ts';
import { startMessage, startMessages } from '../src/cases/appointments/messages/message-queue.sql.ts';
import { WORKER_ORIGIN } from '../src/kernel/audit/audit-log.ts';
import { UnavailableError } from '../src/kernel/errors.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../src/kernel/jobs/backoff.ts';
import type { Query } from '../src/kernel/sql/statement.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { until } from './harness/until.ts';

const app = await startApp();

type Fields = Record<string, unknown>;

const post = new Recorder();
const worker = messageWorker(app, { email: post, sms: post });
const fault = (permanent = false) => {
  throw new DeliveryError('no luck', { permanent });
};

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  post.sent.length = 0;
  post.during = () => {};
  post.providerId = null;
});

/** On 10 June at 10:00 wall time (09:00 UTC), an hour long. */
async function book(company: TestCompany, more: Fields = {}) {
  const answer = await company.post(`${company.path}/appointments`, {
    adviser_email: company.adviser,
    start_time: '2026-06-10 10:00:00',
    end_time: '2026-06-10 11:00:00',
    email_recipient: company.customers[0].email,
    sms_recipient: '07400 123456',
    ...more,
  });
  assert.equal(answer.status, 200, answer.text);
  const path = `${company.path}/appointments/${answer.body.id}`;
  return { id: answer.body.id as string, path };
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
async function messages(company: TestCompany, path: string): Promise<any[]> {
  const answer = await company.get(`${path}/messages`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const kinds = () => post.sent.map(({ channel, kind }) => `${channel} ${kind}`).sort();
const REMINDER_DUE = '2026-06-09T09:00:00Z';

// At its time, and once

test('a reminder goes out at its due time and not before, once, whoever comes by', async () => {
  const company = await app.company();
  await book(company, { email_notification: true, sms_notification: true });
  app.clock.set('2026-06-09T08:59:59.999999Z');
  assert.equal(await worker.runOnce(), 0);
  app.clock.set(REMINDER_DUE);
  const others = Array.from({ length: 4 }, () => messageWorker(app, { email: post, sms: post }));
  await Promise.all([worker, ...others].map((worker) => worker.runOnce()));
  assert.deepEqual(kinds(), ['email reminder', 'sms reminder']);
  app.clock.advance({ hours: 1 });
  assert.equal(await worker.runOnce(), 0);
});

test('twenty messages and five workers at once: each goes out once', async () => {
  const companies = await Promise.all([app.company(), app.company()]);
  for (let i = 0; i < 10; i++) for (const company of companies) await book(company, { email_confirmation: true });
  const workers = Array.from({ length: 5 }, () => messageWorker(app, { email: post, sms: post, slots: 8 }));
  await Promise.all(workers.map((worker) => worker.runOnce()));
  assert.equal(post.sent.length, 20);
  assert.equal(new Set(post.sent.map(({ id }) => id)).size, 20);
});

// Read again before it is sent

const LATE_CHANGES: [why: string, change: string, word: string | null][] = [
  ['deleted', `UPDATE appointments SET deleted_at = now() WHERE id = $1`, null],
  ['cancelled', `UPDATE appointments SET cancelled = 1 WHERE id = $1`, 'cancelled'],
  ['moved', `UPDATE appointments SET start_at = start_at - interval '1 hour' WHERE id = $1`, 'cancelled'],
  ['left without a recipient', `UPDATE appointments SET email_recipient = NULL WHERE id = $1`, 'skipped'],
  ['no longer to be reminded of', `UPDATE appointments SET email_reminder = false WHERE id = $1`, 'cancelled'],
];

for (const [why, change, word] of LATE_CHANGES) {
  test(`a reminder of an appointment that is ${why} when its turn comes is not sent`, async () => {
    const company = await app.company();
    const { id, path } = await book(company, { email_notification: true });
    // By hand, because the operations also withdraw the message: here only the second look can.
    await app.sql(change, [id]);
    app.clock.set(REMINDER_DUE);
    await worker.runOnce();
    assert.deepEqual(post.sent, []);
    if (word) assert.equal((await messages(company, path))[0].state, word);
    assert.deepEqual(
      await app.sql(`SELECT 1 FROM messages WHERE appointment_id = $1 AND state = 'scheduled'`, [id]),
      [],
    );
  });
}

test('a message goes out with what the appointment says when its turn comes', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true, location: 'old' });
  await company.patch(path, { location: 'new', email_recipient: company.customers[1].email });
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ location, recipient }) => [location, recipient]),
    [['new', company.customers[1].email]],
  );
});

test('a reminder whose start has passed before a worker came is skipped, a confirmation whose end has', async () => {
  const company = await app.company();
  const reminded = await book(company, { email_notification: true });
  const confirmed = await book(company, { email_confirmation: true });
  app.clock.set('2026-06-10T09:00:00Z');
  await worker.runOnce();
  assert.deepEqual(kinds(), ['email confirmation']);
  assert.equal((await messages(company, reminded.path))[0].state, 'skipped');
  assert.equal((await messages(company, confirmed.path))[0].state, 'sent');
  const late = await book(company, { email_confirmation: true });
  app.clock.set('2026-06-10T10:00:00Z');
  await worker.runOnce();
  assert.equal((await messages(company, late.path))[0].state, 'skipped');
});

// While it is on its way

test('while a message is being sent its word is scheduled', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  const words: unknown[] = [];
  post.during = async () => {
    const { email_confirmation, email_notification, email_day_before } = (await company.patch(path, {})).body;
    words.push(email_confirmation, email_notification, email_day_before, (await messages(company, path))[0].state);
  };
  await worker.runOnce();
  assert.deepEqual(words, ['scheduled', 'scheduled', 1, 'scheduled']);
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  assert.deepEqual(words.slice(4), ['sent', 'scheduled', 1, 'sent']);
});

test('what is withdrawn while it is being sent is sent, and not tried again should that fail', async () => {
  const company = await app.company();
  for (const fails of [false, true]) {
    const { path } = await book(company, { email_confirmation: true });
    post.during = async () => {
      await company.patch(path, { email_confirmation: false });
      if (fails) fault();
    };
    await worker.runOnce();
    assert.equal((await messages(company, path))[0].state, fails ? 'cancelled' : 'sent');
    post.during = () => {};
    app.clock.advance({ minutes: 5 });
    await worker.runOnce();
  }
  assert.equal(post.sent.length, 1);
});

test('a confirmation asked for again while one is on its way goes out as well; in place of it, should that fail', async () => {
  const company = await app.company();
  for (const fails of [false, true]) {
    post.sent.length = 0;
    const { path } = await book(company, { email_confirmation: true });
    let asked = false;
    post.during = async () => {
      if (asked) return;
      asked = true;
      await company.patch(path, { email_confirmation: true });
      if (fails) fault();
    };
    await worker.runOnce();
    // A worker that came by while the first was on its way has put the second off for a moment.
    app.clock.advance({ seconds: 5 });
    await worker.runOnce();
    assert.equal(post.sent.length, fails ? 1 : 2);
    assert.deepEqual(
      (await messages(company, path)).map(({ state }) => state),
      [fails ? 'cancelled' : 'sent', 'sent'],
    );
    app.clock.advance({ minutes: 5 });
    assert.equal(await worker.runOnce(), 0);
  }
});

test('a confirmation of a new start waits for that of the old one, and is the last that the client gets', async () => {
  const company = await app.company();
  for (const fails of [false, true]) {
    post.sent.length = 0;
    app.clock.set('2026-06-01T09:00:00Z');
    const { path } = await book(company, { sms_confirmation: true });
    const others = messageWorker(app, { email: post, sms: post });
    post.during = async () => {
      post.during = () => {};
      const moved = { start_time: '2026-06-11 10:00:00', end_time: '2026-06-11 11:00:00', sms_confirmation: true };
      assert.equal((await company.patch(path, moved)).status, 200);
      await others.runOnce();
      assert.deepEqual(post.sent, []);
      if (fails) fault();
    };
    await worker.runOnce();
    app.clock.advance({ seconds: 5 });
    await others.runOnce();
    app.clock.advance({ minutes: 5 });
    assert.equal(await worker.runOnce(), 0);
    const starts = post.sent.map(({ start }) => start.toString());
    assert.deepEqual(starts, [...(fails ? [] : ['2026-06-10T09:00:00Z']), '2026-06-11T09:00:00Z']);
  }
});

test('a confirmation whose worker died is not sent after a newer one has gone out', async () => {
  const company = await app.company();
  const { id, path } = await book(company, { sms_confirmation: true });
  await worker.runOnce();
  await company.patch(path, { sms_confirmation: true });
  await worker.runOnce();
  const [first] = await messages(company, path);
  await app.sql(`UPDATE messages SET state = 'sending', sent_at = NULL WHERE id = $1`, [first.id]);
  await worker.runOnce();
  assert.equal(post.sent.length, 2);
  const states = 'SELECT state FROM messages WHERE appointment_id = $1 ORDER BY id';
  assert.deepEqual(await app.sql(states, [id]), [{ state: 'cancelled' }, { state: 'sent' }]);
});

test('a move while the reminder of the old start is on its way makes that of the new start, once', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true });
  app.clock.set(REMINDER_DUE);
  post.during = async () => {
    await company.patch(path, { start_time: '2026-06-20 10:00:00', end_time: '2026-06-20 11:00:00' });
    post.during = () => {};
    fault();
  };
  await worker.runOnce();
  app.clock.advance({ minutes: 1 });
  await worker.runOnce();
  assert.deepEqual(post.sent, []);
  app.clock.set('2026-06-19T09:00:00Z');
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map((message: OutgoingMessage) => message.start.toString()),
    ['2026-06-20T09:00:00Z'],
  );
});

// A worker that dies

test('a message of a dead worker is free again within a minute, and is sent as the same message', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  const dead = messageWorker(app, { email: { send: () => new Promise(() => {}), close() {} } });
  void dead.runOnce();
  await until(async () => (await app.sql(`SELECT 1 FROM messages WHERE state = 'sending'`)).length > 0);
  app.clock.advance({ seconds: 44 });
  assert.equal(await worker.runOnce(), 0);
  app.clock.advance({ seconds: 2 });
  assert.equal(await worker.runOnce(), 1);
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.attempts, post.sent[0]?.id], ['sent', 2, message.id]);
});

test('a worker that wakes up after its lease was taken over begins nothing', async () => {
  const company = await app.company();
  const { id } = await book(company, { email_confirmation: true });
  const [own, other] = [randomUUID(), randomUUID()];
  const [leased = assert.fail()] = await app.sql<{ id: string }>(
    'UPDATE messages SET lease_by = $2 WHERE appointment_id = $1 RETURNING id',
    [id, other],
  );
  const { companyId, caseId } = company;
  const now = app.clock.read().toString();
  const common = { now, behind_until: now, origin: WORKER_ORIGIN };
  const arrays = { company_ids: [companyId], case_ids: [caseId], appointment_ids: [id], message_ids: [leased.id] };
  const startMany = (lease: string) => app.db.queryRows(startMessages({ ...arrays, leases: [lease], ...common }));
  const key = { company_id: companyId, case_id: caseId, id, message_id: leased.id };
  const startOne = (lease: string) => app.db.queryRows(startMessage({ ...key, lease, ...common }));
  for (const start of [startMany, startOne]) assert.deepEqual(await start(own), []);
  const [message] = await app.sql('SELECT state, attempts, lease_by FROM messages WHERE appointment_id = $1', [id]);
  assert.deepEqual(message, { state: 'scheduled', attempts: 0, lease_by: other });
  assert.equal((await startMany(other)).length, 1);
});

for (const [state, change] of [
  ['failed', () => app.clock.set('2026-06-10T09:00:00Z')],
  ['cancelled', (id: string) => app.sql('UPDATE appointments SET deleted_at = now() WHERE id = $1', [id])],
] as const) {
  test(`a reminder that a dead worker was sending ends as ${state} when it makes sense no more`, async () => {
    const company = await app.company();
    const { id } = await book(company, { email_notification: true });
    await app.sql(`UPDATE messages SET state = 'sending', attempts = 1, lease_until = $2 WHERE appointment_id = $1`, [
      id,
      REMINDER_DUE,
    ]);
    app.clock.set('2026-06-09T09:01:00Z');
    await change(id);
    await worker.runOnce();
    assert.deepEqual(post.sent, []);
    assert.deepEqual(await app.sql('SELECT state FROM messages WHERE appointment_id = $1', [id]), [{ state }]);
  });
}

/** The app's database, but for the statements that `broken` names. */
const databaseWithout = (broken: (name: string) => Error | undefined): typeof app.db =>
  Object.assign(Object.create(app.db), {
    queryRows: async (query: Query) => {
      const error = broken(query.statement.name);
      if (error) throw error;
      return app.db.queryRows(query);
    },
  });

for (const [why, error] of [
  ['is away', new UnavailableError('away')],
  ['has a full disk', Object.assign(new Error('No space left on device'), { code: '53100' })],
] as const) {
  test(`a message that has gone out while the database ${why} is written down later, and not sent twice`, async () => {
    const company = await app.company();
    const { path } = await book(company, { email_notification: true });
    app.clock.set(REMINDER_DUE);
    let refused = 0;
    const broken = (name: string) => (name.startsWith('messages.record_sent') && refused++ < 20 ? error : undefined);
    const patient = messageWorker({ ...app, db: databaseWithout(broken) }, { email: post });
    const running = patient.runOnce();
    await until(() => post.sent.length > 0);
    app.clock.advance({ minutes: 2 });
    await Promise.all([running, patient.runOnce()]);
    const [message] = await messages(company, path);
    assert.deepEqual([message.state, message.attempts, post.sent.length], ['sent', 1, 1]);
  });
}

test('a fault is written down by the claim that holds the message when the database is back', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true });
  app.clock.set(REMINDER_DUE);
  let away = true;
  let tried = 0;
  post.during = () => {
    tried++;
    fault();
  };
  const broken = (name: string) =>
    away && name === 'messages.record_failure' ? new UnavailableError('away') : undefined;
  const patient = messageWorker({ ...app, db: databaseWithout(broken) }, { email: post });
  const running = patient.runOnce();
  await until(() => tried !== 0);
  const claims = 'SELECT lease_by FROM messages WHERE company_id = $1';
  const [before] = await app.sql<{ lease_by: string }>(claims, [company.companyId]);
  app.clock.advance({ minutes: 2 });
  const again = patient.runOnce();
  await until(
    async () => (await app.sql<{ lease_by: string }>(claims, [company.companyId]))[0]?.lease_by !== before?.lease_by,
  );
  away = false;
  await Promise.all([running, again]);
  const [{ state, last_error }] = await messages(company, path);
  assert.deepEqual([state, last_error], ['scheduled', 'no luck']);
  const [row] = await app.sql('SELECT state, lease_by FROM messages WHERE company_id = $1', [company.companyId]);
  assert.deepEqual(row, { state: 'scheduled', lease_by: null });
});

test('an appointment that somebody has locked holds up its own messages alone', async () => {
  const company = await app.company();
  const locked = await book(company, { email_confirmation: true });
  const free = await book(company, { email_confirmation: true });
  const client = await app.db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM appointments WHERE id = $1 FOR UPDATE', [locked.id]);
    const running = worker.runOnce();
    await until(() => post.sent.length > 0);
    assert.deepEqual(
      post.sent.map(({ appointmentId }) => appointmentId),
      [free.id],
    );
    await client.query('COMMIT');
    await running;
    assert.equal(post.sent.length, 2);
  } finally {
    client.release();
  }
});

// Faults

test('a passing fault is tried again after growing pauses, until the start', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true });
  app.clock.set(REMINDER_DUE);
  const tried: number[] = [];
  post.during = () => {
    tried.push(Temporal.Instant.from(REMINDER_DUE).until(app.clock.read()).total('seconds'));
    fault();
  };
  while (Temporal.Instant.compare(app.clock.read(), Temporal.Instant.from('2026-06-10T09:00:00Z')) < 0) {
    await worker.runOnce();
    const [next] = await app.sql<{ at: string | null }>(
      `SELECT to_json(max(claim_at))#>>'{}' AS at FROM messages WHERE state = 'scheduled'`,
    );
    if (!next?.at) break;
    app.clock.set(next.at);
  }
  const pauses = tried.slice(1).map((at, i) => Math.round(at - (tried[i] ?? 0)));
  assert.deepEqual(pauses.slice(0, 7), [10, 30, 120, 600, 1800, 3600, 3600]);
  assert.ok((tried.at(-1) ?? 0) > 23.9 * 3600, 'until shortly before the start');
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.last_error, message.attempts], ['failed', 'no luck', tried.length]);
});

test('a permanent fault ends as failed at once, with the reason', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  post.during = () => fault(true);
  await worker.runOnce();
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.last_error, message.attempts], ['failed', 'no luck', 1]);
  assert.equal((await company.patch(path, {})).body.email_confirmation, 'failed');
});

test('an error of our own is tried again and shows nothing of the inside', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  post.during = () => {
    throw new TypeError('undefined is not a function');
  };
  await worker.runOnce();
  const [message] = await messages(company, path);
  assert.deepEqual(
    [message.state, message.last_error],
    ['scheduled', 'The message could not be composed; see the log.'],
  );
});

test('what a server says is stored, whatever it says', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, sms_notification: true });
  post.during = () => {
    throw new DeliveryError('no\0 luck', { permanent: true });
  };
  await worker.runOnce();
  assert.equal((await messages(company, path))[0].last_error, 'no luck');
  post.during = () => {};
  post.providerId = '250\0 \ud800 fine';
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  assert.equal((await messages(company, path))[1].state, 'sent');
});

test('pauses vary by a fifth, and there is none when the time is up', () => {
  const now = Temporal.Instant.from('2026-06-01T09:00:00Z');
  const far = now.add({ hours: 100 });
  const next = (attempt: number, deadline: Temporal.Instant, random: number) =>
    nextAttemptAt(PROVIDER_SCHEDULE, { attempt, now, deadline }, () => random);
  const pause = (random: number) => now.until(next(1, far, random) ?? now).total('seconds');
  assert.deepEqual([pause(0), pause(0.5), pause(1)], [8, 10, 12]);
  assert.equal(next(9, now.add({ minutes: 10 }), 0.5)?.toString(), '2026-06-01T09:05:00Z');
  assert.equal(next(1, now.add({ seconds: 8 }), 0.5), undefined);
  assert.equal(next(1, now.subtract({ seconds: 8 }), 0.5), undefined);
});

// Seeing it, and sending again

test('the messages of an appointment show the documented fields, and those of others are not found', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  const list = await messages(company, path);
  assert.deepEqual(Object.keys(list[0]).sort(), [
    'appointment_id',
    'attempts',
    'channel',
    'due_at',
    'id',
    'kind',
    'last_error',
    'sent_at',
    'sent_to',
    'state',
  ]);
  assert.deepEqual(
    list.map(({ kind }) => kind),
    ['confirmation', 'reminder'],
  );
  const other = await app.company();
  assert.equal((await other.get(`${path}/messages`)).status, 404);
  assert.deepEqual((await other.get('/messages')).body, []);
  assert.equal((await other.post(`${path}/messages/${list[0].id}/resend`)).status, 404);
  assert.equal((await (await company.withScopes('appointments:write')).get(`${path}/messages`)).status, 403);
  assert.equal((await (await company.withScopes('appointments:write')).get('/messages')).status, 403);
  const reader = await company.withScopes('appointments:read');
  assert.equal((await reader.post(`${path}/messages/${list[0].id}/resend`)).status, 403);
});

test('the messages of a company come in pages, by state', async () => {
  const company = await app.company();
  for (let i = 0; i < 3; i++) await book(company, { email_confirmation: true, email_notification: true });
  await worker.runOnce();
  const page = await company.get('/messages?per_page=4&page=2');
  assert.equal(page.headers['x-total-count'], '6');
  assert.equal(page.body.length, 2);
  const sent = await company.get('/messages?state=sent');
  assert.deepEqual([...new Set(sent.body.map(({ state }: { state: string }) => state))], ['sent']);
  assert.equal(sent.headers['x-total-count'], '3');
  assert.equal((await company.get('/messages?state=sending')).status, 400);
});

test('a message that was sent or that failed can be sent once more, about the appointment as it stands', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  await worker.runOnce();
  app.clock.set(REMINDER_DUE);
  post.during = () => fault(true);
  await worker.runOnce();
  post.during = () => {};
  await company.patch(path, { location: 'Room 2' });
  post.sent.length = 0;
  for (const { id } of await messages(company, path)) {
    const resent = await company.post(`${path}/messages/${id}/resend`);
    assert.equal(resent.status, 200, resent.text);
    assert.notEqual(resent.body.id, id);
    assert.deepEqual([resent.body.state, resent.body.due_at], ['scheduled', '2026-06-09T09:00:00.000000Z']);
    assert.equal((await company.post(`${path}/messages/${id}/resend`)).status, 400, 'one is waiting');
  }
  await worker.runOnce();
  assert.deepEqual(kinds(), ['email confirmation', 'email reminder']);
  assert.ok(post.sent.every(({ location }) => location === 'Room 2'));
  const { email_confirmation, email_notification } = (await company.patch(path, {})).body;
  assert.deepEqual([email_confirmation, email_notification], ['sent', 'sent']);
});

test('what waits, what was withdrawn, what is cancelled and what is over cannot be sent once more', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  const [confirmation, reminder] = await messages(company, path);
  const resend = async (id: string) => {
    const { status, body } = await company.post(`${path}/messages/${id}/resend`);
    return [status, body.errors?.[0].field, body.errors?.[0].code];
  };
  assert.deepEqual(await resend(confirmation.id), [400, 'state', 'invalid_state']);
  await company.patch(path, { email_notification: false });
  assert.deepEqual(await resend(reminder.id), [400, 'state', 'invalid_state']);
  assert.equal((await resend('0190a000-0000-7000-8000-000000000000'))[0], 404);
  await worker.runOnce();
  await company.patch(`${path}/outcome`, { cancelled: true });
  await worker.runOnce();
  assert.deepEqual(await resend(confirmation.id), [400, 'cancelled', 'invalid_state']);
  const cancellation = (await messages(company, path)).find(({ kind }) => kind === 'cancellation');
  assert.deepEqual(await resend(cancellation.id), [400, 'kind', 'invalid_state']);
  await company.patch(`${path}/outcome`, { cancelled: false });
  app.clock.set('2026-06-10T10:00:00Z');
  assert.deepEqual(await resend(confirmation.id), [400, 'end_time', 'invalid_state']);
  await company.delete(path);
  assert.equal((await resend(confirmation.id))[0], 404);
});
