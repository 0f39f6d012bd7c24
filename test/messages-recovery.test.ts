import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { DeliveryError } from '../src/cases/appointments/messages/message.ts';
import { startMessage, startMessages } from '../src/cases/appointments/messages/message-queue.sql.ts';
import { WORKER_ORIGIN } from '../src/kernel/audit/audit-log.ts';
import { UnavailableError } from '../src/kernel/errors.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../src/kernel/jobs/backoff.ts';
import type { Query } from '../src/kernel/sql/statement.ts';
import { messageWorker } from './harness/message-worker.ts';
import { app, book, fault, messages, post, REMINDER_DUE, worker } from './harness/messages-sending.ts';
import { until } from './harness/until.ts';

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
  const common = { mail_from: 'no-reply@service.example', now, behind_until: now, origin: WORKER_ORIGIN };
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

/** The app's database, except that `broken` chooses statements that fail. */
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
  test(`a message that was sent while the database ${why} is recorded later, and not sent twice`, async () => {
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

test('a failure is recorded by the claim that holds the message when the database is back', async () => {
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

test('a locked appointment delays only its own messages', async () => {
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

test('a passing fault is retried after growing pauses, until the start', async () => {
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

test('a permanent fault ends as failed immediately, with the reason', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  post.during = () => fault(true);
  await worker.runOnce();
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.last_error, message.attempts], ['failed', 'no luck', 1]);
  assert.equal((await company.patch(path, {})).body.email_confirmation, 'failed');
});

test('an internal error is retried and reveals nothing of the inside', async () => {
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
