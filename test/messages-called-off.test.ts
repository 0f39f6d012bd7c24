import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DeliveryError } from '../src/cases/appointments/messages/message.ts';
import { namesOf } from '../src/cases/appointments/messages/templates/fields.ts';
import { startApp, TestClock, type TestCompany } from './harness/app.ts';
import type { Answer } from './harness/http.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { untilBlocked } from './harness/overlap.ts';

/** Messages about appointments that are called off or reinstated, which depend on what the client's calendar has. */

const app = await startApp();
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

/** Books an appointment on 10 June at 10:00 wall time (09:00 UTC) for an hour. */
async function book(company: TestCompany, more: Record<string, unknown> = {}) {
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

const kinds = () => post.sent.map(({ channel, kind }) => `${channel} ${kind}`).sort();
const REMINDER_DUE = '2026-06-09T09:00:00Z';

type Change = (company: TestCompany, path: string) => Promise<Answer>;
const CALLED_OFF: [how: string, off: Change, on: Change][] = [
  ['deleted', (company, path) => company.delete(path), (company, path) => company.post(`${path}/restore`)],
  [
    'cancelled',
    (company, path) => company.patch(`${path}/outcome`, { cancelled: true }),
    (company, path) => company.patch(`${path}/outcome`, { cancelled: false }),
  ],
];

for (const [how, off, on] of CALLED_OFF) {
  const turn = async (change: Change, company: TestCompany, path: string) => {
    const answer = await change(company, path);
    assert.equal(answer.status, 200, answer.text);
  };
  const goneOut = async () => {
    post.sent.length = 0;
    await worker.runOnce();
    return kinds();
  };

  test(`an appointment that is ${how} is called off once on each channel that had told the client of it`, async () => {
    const company = await app.company();
    const told = await book(company, { email_confirmation: true, sms_confirmation: true, email_notification: true });
    const bySms = await book(company, { sms_confirmation: true, email_notification: true });
    const untold = await book(company, { sms_notification: true, email_notification: true });
    await worker.runOnce();
    for (const { path } of [told, bySms, untold]) await turn(off, company, path);
    assert.deepEqual(await goneOut(), ['email cancellation', 'sms cancellation', 'sms cancellation']);
    const recipients = post.sent.map(({ appointmentId, recipient }) => [appointmentId, recipient]);
    const expected = [
      [told.id, company.customers[0].email],
      [told.id, '07400 123456'],
      [bySms.id, '07400 123456'],
    ];
    assert.deepEqual(recipients.sort(), expected.sort());
    app.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), []);
  });

  test(`an appointment that is ${how} and takes place again before a worker came is not called off`, async () => {
    const company = await app.company();
    const { path } = await book(company, { email_confirmation: true, email_notification: true });
    await worker.runOnce();
    for (const change of [off, on, off, on]) await turn(change, company, path);
    assert.deepEqual(await goneOut(), []);
    app.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), ['email reminder']);
  });

  test(`an appointment that was ${how} and called off, and takes place again, reminds; it confirms only when asked`, async () => {
    const company = await app.company();
    const { id, path } = await book(company, { email_confirmation: true, email_notification: true });
    await worker.runOnce();
    await turn(off, company, path);
    assert.deepEqual(await goneOut(), ['email cancellation']);
    await turn(on, company, path);
    assert.deepEqual(await goneOut(), []);
    await turn(off, company, path);
    assert.deepEqual(await goneOut(), [], 'the calendar has no entry any more');
    const cancellations = `SELECT 1 FROM messages WHERE appointment_id = $1 AND kind = 'cancellation'`;
    assert.equal((await app.sql(cancellations, [id])).length, 1);
    await turn(on, company, path);
    await company.patch(path, { email_confirmation: true });
    assert.deepEqual(await goneOut(), ['email confirmation']);
    await turn(off, company, path);
    assert.deepEqual(await goneOut(), ['email cancellation'], 'it has one again');
    await turn(on, company, path);
    app.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), ['email reminder']);
  });

  test(`an appointment that takes place again while it is called off (${how}) is called off no second time`, async () => {
    const company = await app.company();
    for (const fails of [false, true]) {
      const { id, path } = await book(company, { email_confirmation: true });
      await worker.runOnce();
      await turn(off, company, path);
      post.during = async () => {
        post.during = () => {};
        await turn(on, company, path);
        if (fails) fault();
      };
      assert.deepEqual(await goneOut(), fails ? [] : ['email cancellation']);
      app.clock.advance({ minutes: 1 });
      assert.deepEqual(await goneOut(), []);
      await turn(off, company, path);
      assert.deepEqual(await goneOut(), fails ? ['email cancellation'] : [], 'what the calendar has decides');
      const open = `SELECT 1 FROM messages WHERE appointment_id = $1 AND state IN ('scheduled', 'sending')`;
      assert.deepEqual(await app.sql(open, [id]), []);
    }
  });

  test(`an appointment that is ${how} while its confirmation is being sent is called off, unless that fails`, async () => {
    const company = await app.company();
    for (const fails of [false, true]) {
      const { id, path } = await book(company, { email_confirmation: true });
      const sent: string[] = [];
      post.during = async ({ kind }) => {
        if (kind === 'confirmation') await turn(off, company, path);
        if (kind === 'confirmation' && fails) fault(true);
        sent.push(kind);
      };
      await worker.runOnce();
      app.clock.advance({ seconds: 10 });
      await worker.runOnce();
      assert.deepEqual(sent, fails ? [] : ['confirmation', 'cancellation']);
      const open = `SELECT 1 FROM messages WHERE appointment_id = $1 AND state IN ('scheduled', 'sending')`;
      assert.deepEqual(await app.sql(open, [id]), []);
    }
  });
}

test('a cancellation goes to the recipient of the confirmation, under that person’s name', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { path } = await book(company, { email_confirmation: true });
  await worker.runOnce();
  await company.patch(path, { email_recipient: ann.email });
  await company.delete(path);
  post.sent.length = 0;
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map((message) => [message.kind, message.recipient, namesOf(message).full]),
    [['cancellation', john.email, 'Mr John Smith']],
  );
});

test('every recipient whose calendar has the appointment gets a mail, whatever recipient it has now', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const told = () => post.sent.map((message) => [message.kind, message.recipient, namesOf(message).full]).sort();
  for (const [, off, on] of CALLED_OFF) {
    const { path } = await book(company, { email_confirmation: true });
    await worker.runOnce();
    await company.patch(path, { email_recipient: ann.email, email_confirmation: true });
    await worker.runOnce();
    post.sent.length = 0;
    await off(company, path);
    await worker.runOnce();
    assert.deepEqual(told(), [
      ['cancellation', ann.email, 'Mrs Ann Smith'],
      ['cancellation', john.email, 'Mr John Smith'],
    ]);
    await on(company, path);
    await company.patch(path, { email_confirmation: true });
    await worker.runOnce();
    post.sent.length = 0;
    await off(company, path);
    await worker.runOnce();
    assert.deepEqual(told(), [['cancellation', ann.email, 'Mrs Ann Smith']], 'only one has it again');
    post.sent.length = 0;
  }
});

test('one whose cancellation is refused does not keep the others from being told', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { path } = await book(company, { email_confirmation: true });
  await worker.runOnce();
  await company.patch(path, { email_recipient: ann.email, email_confirmation: true });
  await worker.runOnce();
  post.sent.length = 0;
  post.during = ({ recipient }) => {
    if (recipient === ann.email) fault(true);
  };
  await company.delete(path);
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ recipient }) => recipient),
    [john.email],
  );
});

test('a confirmation that arrives after another worker has withdrawn it is called off', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  // The clock of the slow worker stands still. Otherwise it could claim the confirmation again itself, after the lease.
  const slow = messageWorker({ ...app, clock: new TestClock() }, { email: post, sms: post });
  post.during = async () => {
    post.during = () => {};
    await company.delete(path);
    // A cancellation that is due before the confirmation is withdrawn waits for five seconds, repeatedly if needed.
    for (const seconds of [46, 5, 5, 5]) {
      app.clock.advance({ seconds });
      await worker.runOnce();
    }
    const open = `SELECT 1 FROM messages WHERE company_id = $1 AND state IN ('scheduled', 'sending')`;
    assert.deepEqual(await app.sql(open, [company.companyId]), [], 'all of it is withdrawn');
  };
  await slow.runOnce();
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ kind }) => kind),
    ['confirmation', 'cancellation'],
  );
});

test('an appointment that is cancelled, then deleted, is called off once, and restoring it does not undo that', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  await worker.runOnce();
  post.sent.length = 0;
  await company.patch(`${path}/outcome`, { cancelled: true });
  await company.delete(path);
  await company.post(`${path}/restore`);
  await worker.runOnce();
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  assert.deepEqual(kinds(), ['email cancellation']);
});

test('a deletion that was in progress when the confirmation was sent, and did not see it, is waited for', async () => {
  const company = await app.company();
  const { id } = await book(company, { email_confirmation: true });
  const client = await app.db.pool.connect();
  try {
    // The deletion as written by a statement whose snapshot of the messages is older than the sending.
    post.during = async () => {
      post.during = () => {};
      await client.query('BEGIN');
      await client.query('UPDATE appointments SET deleted_at = now(), version = version + 1 WHERE id = $1', [id]);
    };
    const running = worker.runOnce();
    await untilBlocked(app);
    await client.query('COMMIT');
    await running;
    assert.deepEqual(kinds(), ['email cancellation', 'email confirmation']);
  } finally {
    client.release();
  }
});
