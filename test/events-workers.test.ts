import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { recordResult } from '../src/cases/appointments/meetings/meeting-queue.sql.ts';
import { DeliveryError } from '../src/cases/appointments/messages/message.ts';
import { recordMessageFailure } from '../src/cases/appointments/messages/message-queue.sql.ts';
import { WORKER_ORIGIN } from '../src/kernel/audit/audit-log.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { assertShows, type Event, eventsOf, type Image, typesOf } from './harness/events.ts';
import type { Answer } from './harness/http.ts';
import { meetingWorker, openZoom } from './harness/meeting-worker.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { type Holding, overlapping } from './harness/overlap.ts';

/** What workers do is logged too, and exactly, also beside concurrent requests. */

const app = await startApp();
const post = new Recorder();
const worker = messageWorker(app, { email: post, sms: post });
const meetings = meetingWorker(app, await openZoom());

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  await app.sql(`UPDATE meetings SET state = 'none' WHERE state = 'pending'`);
  post.during = () => {};
});

/** Books an appointment on 10 June at 10:00 wall time (09:00 UTC) for an hour. */
async function book(company: TestCompany, more: Image = {}) {
  const { id } = await ok(
    company.post(`${company.path}/appointments`, {
      adviser_email: company.adviserWithVideo,
      start_time: '2026-06-10 10:00:00',
      end_time: '2026-06-10 11:00:00',
      email_recipient: company.customers[0].email,
      sms_recipient: '07400 123456',
      ...more,
    }),
  );
  return { id: id as string, path: `${company.path}/appointments/${id}` };
}

const REMINDER_DUE = '2026-06-09T09:00:00Z';
const fails = (permanent: boolean) => () => {
  throw new DeliveryError('no luck', { permanent });
};

/** The event is the worker's, is about this case, and shows the message as GET does. */
async function assertEnding(company: TestCompany, path: string, event: Event | undefined, type: string): Promise<void> {
  assert.ok(event);
  const { id } = event.record;
  assert.deepEqual(
    [event.type, event.actor, event.request_id, event.case_id, event.record.type],
    [type, { type: 'worker' }, null, company.caseId, 'message'],
  );
  assertShows(
    event.after,
    (await ok(company.get(`${path}/messages`))).find((message: Image) => message.id === id),
  );
}

for (const [what, asked] of [
  ['a confirmation by email', { email_confirmation: true }],
  ['a confirmation by SMS', { sms_confirmation: true }],
  ['a reminder by email', { email_notification: true }],
] as const) {
  test(`${what} that was sent is in the log once, with to whom`, async () => {
    const company = await app.company();
    const { path } = await book(company, asked);
    app.clock.set(what.includes('reminder') ? REMINDER_DUE : '2026-06-01T09:00:00Z');
    await worker.runOnce();
    await worker.runOnce();
    const [event, ...others] = await eventsOf(company, 'message');
    assert.deepEqual(others, []);
    await assertEnding(company, path, event, 'message.sent');
    assert.equal(event?.before?.state, null);
    assert.deepEqual(event?.changed, ['attempts', 'due_at', 'sent_at', 'sent_to', 'state']);
  });
}

test('many that are sent by one statement have an entry each', async () => {
  const company = await app.company();
  for (let i = 0; i < 6; i++) await book(company, { email_notification: true, sms_notification: true });
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  const events = await eventsOf(company, 'message');
  assert.deepEqual(typesOf(events), Array(12).fill('message.sent'));
  assert.equal(new Set(events.map(({ record }) => record.id)).size, 12);
});

test('an attempt that failed is no ending; the last one is, with its reason', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true });
  app.clock.set(REMINDER_DUE);
  post.during = fails(false);
  await worker.runOnce();
  assert.deepEqual(await eventsOf(company, 'message'), []);
  post.during = fails(true);
  app.clock.advance({ hours: 2 });
  await worker.runOnce();
  const [event, ...others] = await eventsOf(company, 'message');
  assert.deepEqual(others, []);
  await assertEnding(company, path, event, 'message.failed');
  assert.deepEqual([event?.after?.last_error, event?.before?.last_error], ['no luck', null]);
});

test('one whose time passed while it was being sent has failed; that it was sent after all is an entry more', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true });
  app.clock.set(REMINDER_DUE);
  const another = messageWorker(app, { email: post, sms: post });
  post.during = async () => {
    app.clock.set('2026-06-10T09:00:00Z');
    await another.runOnce();
  };
  // One slot for the company, so it does not claim its own message again after the clock has moved.
  await messageWorker(app, { email: post, sms: post, slots: 4 }).runOnce();
  const [failed, sent, ...others] = await eventsOf(company, 'message');
  assert.deepEqual(others, []);
  assert.equal(failed?.type, 'message.failed');
  assert.deepEqual([failed?.before?.state, failed?.after?.state, sent?.before?.state], [null, 'failed', 'failed']);
  await assertEnding(company, path, sent, 'message.sent');
});

test('what is placed, withdrawn or skipped is the affair of the appointment, and no message is in the log', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_notification: true, sms_notification: true, email_confirmation: true });
  await ok(company.patch(path, { start_time: '2026-06-10 10:30:00', sms_notification: false }));
  await ok(company.delete(path));
  await ok(company.post(`${path}/restore`));
  assert.deepEqual(await eventsOf(company, 'message'), []);
});

const ASK_AGAIN = { email_notification: true };

test('a failed reminder that is requested again is rescheduled, and the event names the caller', async () => {
  const company = await app.company();
  const { path } = await book(company, ASK_AGAIN);
  app.clock.set(REMINDER_DUE);
  post.during = fails(true);
  await worker.runOnce();
  await ok(company.patch(path, ASK_AGAIN));
  await ok(company.delete(path));
  const [failed, rescheduled, ...others] = await eventsOf(company, 'message');
  assert.deepEqual(others, []);
  assert.deepEqual([rescheduled?.type, rescheduled?.actor.type], ['message.rescheduled', 'key']);
  assert.deepEqual(rescheduled?.before, failed?.after);
  assert.deepEqual([failed?.after?.state, rescheduled?.after?.state], ['failed', null]);
});

test('a reminder that fails just while it is requested again: both are in the log, in this order', async () => {
  const company = await app.company();
  const { id, path } = await book(company, ASK_AGAIN);
  const claim = randomUUID();
  const [message] = await app.sql(
    `UPDATE messages SET state = 'sending', attempts = 1, lease_by = $2 WHERE appointment_id = $1 RETURNING *`,
    [id, claim],
  );
  const { statement, values } = recordMessageFailure({
    company_id: company.companyId,
    case_id: company.caseId,
    id,
    message_id: message?.id as string,
    lease: claim,
    last_error: 'no luck',
    retry_at: null,
    uncertain_attempts: 0,
    now: app.clock.read().toString(),
    origin: WORKER_ORIGIN,
  });
  const [answer] = await overlapping(app, [[statement.text, values]], [() => company.patch(path, ASK_AGAIN)]);
  assert.equal(answer?.status, 200, String(answer?.text));
  const [failed, rescheduled, ...others] = await eventsOf(company, 'message');
  assert.deepEqual(others, []);
  assert.deepEqual([failed?.type, rescheduled?.type], ['message.failed', 'message.rescheduled']);
  assert.deepEqual([rescheduled?.before?.state, rescheduled?.before?.last_error], ['failed', 'no luck']);
});

// Meetings

test('a link that was made, and one that is gone, are changes of the appointment by the worker', async () => {
  const company = await app.company();
  const { path } = await book(company, { video_meeting: true });
  const booked = await ok(company.get(path));
  await meetings.runOnce();
  const linked = await ok(company.get(path));
  // Moving a meeting at the provider does not change its link.
  await ok(company.patch(path, { start_time: '2026-06-10 09:30:00' }));
  await meetings.runOnce();
  await ok(company.delete(`${path}/meeting`));
  await meetings.runOnce();
  const events = await eventsOf(company, 'appointment');
  assert.deepEqual(
    typesOf(events),
    ['created', 'meeting_changed', 'updated', 'meeting_withdrawn', 'meeting_changed'].map(
      (verb) => `appointment.${verb}`,
    ),
  );
  const [, made, , , gone] = events;
  assertShows(made?.before ?? null, booked);
  assertShows(made?.after ?? null, linked);
  assertShows(gone?.after ?? null, await ok(company.get(path)));
  for (const event of [made, gone]) {
    assert.deepEqual(event?.changed, ['join_url', 'video_id']);
    assert.deepEqual([event.actor, event.request_id, event.case_id], [{ type: 'worker' }, null, company.caseId]);
  }
});

/** Requests that wait for the worker to record the link. */
const BESIDE: [string, (company: TestCompany, path: string) => Promise<Answer>][] = [
  ['updated', (company, path) => company.patch(path, { notes: 'x' })],
  ['cancelled', (company, path) => company.patch(`${path}/outcome`, { cancelled: true })],
  ['deleted', (company, path) => company.delete(path)],
  ['meeting_wished', (company, path) => company.post(`${path}/meeting`)],
  ['meeting_withdrawn', (company, path) => company.delete(`${path}/meeting`)],
];
for (const [verb, request] of BESIDE) {
  test(`appointment.${verb} while its link is recorded: one event ends with what the other begins with`, async () => {
    const company = await app.company();
    const { id, path } = await book(company, { video_meeting: true });
    const claim = randomUUID();
    await app.sql('UPDATE meetings SET lease_by = $2 WHERE appointment_id = $1', [id, claim]);
    const link = ['12345', 'https://meet.firm.example/x'] as const;
    const { statement, values } = recordResult({
      company_id: company.companyId,
      case_id: company.caseId,
      id,
      lease: claim,
      generation: 1,
      state: 'ready',
      external_id: link[0],
      join_url: link[1],
      uncertain: false,
      last_error: null,
      retry_at: null,
      now: app.clock.read().toString(),
      origin: WORKER_ORIGIN,
    });
    const held: Holding[] = [[statement.text, values]];
    const [answer] = await overlapping(app, held, [() => request(company, path)]);
    assert.equal(answer?.status, 200, String(answer?.text));
    const [, changed, last, ...others] = await eventsOf(company, 'appointment');
    assert.deepEqual(others, []);
    assert.deepEqual([changed?.type, last?.type], ['appointment.meeting_changed', `appointment.${verb}`]);
    assert.deepEqual([changed?.after?.video_id, changed?.after?.join_url], link);
    assert.deepEqual(changed?.changed, ['join_url', 'video_id']);
    assert.ok(!last?.changed?.includes('video_id'), `${last?.changed}`);
  });
}
