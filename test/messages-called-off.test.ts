import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DeliveryError } from '../src/cases/appointments/messages/message.ts';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer } from './harness/http.ts';
import { postOffice, Recorder } from './harness/post.ts';

/** Appointments that do not take place, and some that take place after all: what the client's calendar has, decides. */

const world = await openWorld();
const post = new Recorder();
const office = postOffice(world, { email: post, sms: post });
const fault = (permanent = false) => {
  throw new DeliveryError('no luck', { permanent });
};

beforeEach(async () => {
  world.clock.set('2026-06-01T09:00:00Z');
  await world.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  post.sent.length = 0;
  post.during = () => {};
  post.providerId = null;
});

/** On 10 June at 10:00 wall time (09:00 UTC), an hour long. */
async function book(firm: Firm, more: Record<string, unknown> = {}) {
  const answer = await firm.post(`${firm.path}/appointments`, {
    adviser_email: firm.adviser,
    start_time: '2026-06-10 10:00:00',
    end_time: '2026-06-10 11:00:00',
    email_recipient: firm.customers[0].email,
    sms_recipient: '07400 123456',
    ...more,
  });
  assert.equal(answer.status, 200, answer.text);
  const path = `${firm.path}/appointments/${answer.body.id}`;
  return { id: answer.body.id as string, path };
}

const kinds = () => post.sent.map(({ channel, kind }) => `${channel} ${kind}`).sort();
const REMINDER_DUE = '2026-06-09T09:00:00Z';

type Change = (firm: Firm, path: string) => Promise<Answer>;
const CALLED_OFF: [how: string, off: Change, on: Change][] = [
  ['deleted', (firm, path) => firm.delete(path), (firm, path) => firm.post(`${path}/restore`)],
  [
    'cancelled',
    (firm, path) => firm.patch(`${path}/outcome`, { cancelled: true }),
    (firm, path) => firm.patch(`${path}/outcome`, { cancelled: false }),
  ],
];

for (const [how, off, on] of CALLED_OFF) {
  const turn = async (change: Change, firm: Firm, path: string) => {
    const answer = await change(firm, path);
    assert.equal(answer.status, 200, answer.text);
  };
  const goneOut = async () => {
    post.sent.length = 0;
    await office.runOnce();
    return kinds();
  };

  test(`an appointment that is ${how} is called off by email once, where its confirmation had gone out`, async () => {
    const firm = await world.firm();
    const told = await book(firm, { email_confirmation: true, sms_confirmation: true, email_notification: true });
    const untold = await book(firm, { sms_confirmation: true, email_notification: true });
    await office.runOnce();
    for (const { path } of [told, untold]) await turn(off, firm, path);
    assert.deepEqual(await goneOut(), ['email cancellation']);
    assert.deepEqual([post.sent[0]?.appointmentId, post.sent[0]?.recipient], [told.id, firm.customers[0].email]);
    world.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), []);
  });

  test(`an appointment that is ${how} and takes place again before a worker came is not called off`, async () => {
    const firm = await world.firm();
    const { path } = await book(firm, { email_confirmation: true, email_notification: true });
    await office.runOnce();
    for (const change of [off, on, off, on]) await turn(change, firm, path);
    assert.deepEqual(await goneOut(), []);
    world.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), ['email reminder']);
  });

  test(`an appointment that was ${how} and called off, and takes place again, reminds; it confirms only when asked`, async () => {
    const firm = await world.firm();
    const { id, path } = await book(firm, { email_confirmation: true, email_notification: true });
    await office.runOnce();
    await turn(off, firm, path);
    assert.deepEqual(await goneOut(), ['email cancellation']);
    await turn(on, firm, path);
    assert.deepEqual(await goneOut(), []);
    await turn(off, firm, path);
    assert.deepEqual(await goneOut(), [], 'the calendar has no entry any more');
    const cancellations = `SELECT 1 FROM messages WHERE appointment_id = $1 AND kind = 'cancellation'`;
    assert.equal((await world.sql(cancellations, [id])).length, 1);
    await turn(on, firm, path);
    await firm.patch(path, { email_confirmation: true });
    assert.deepEqual(await goneOut(), ['email confirmation']);
    await turn(off, firm, path);
    assert.deepEqual(await goneOut(), ['email cancellation'], 'it has one again');
    await turn(on, firm, path);
    world.clock.set(REMINDER_DUE);
    assert.deepEqual(await goneOut(), ['email reminder']);
  });

  test(`an appointment that takes place again while it is called off (${how}) is called off no second time`, async () => {
    const firm = await world.firm();
    for (const fails of [false, true]) {
      const { id, path } = await book(firm, { email_confirmation: true });
      await office.runOnce();
      await turn(off, firm, path);
      post.during = async () => {
        post.during = () => {};
        await turn(on, firm, path);
        if (fails) fault();
      };
      assert.deepEqual(await goneOut(), fails ? [] : ['email cancellation']);
      world.clock.advance({ minutes: 1 });
      assert.deepEqual(await goneOut(), []);
      await turn(off, firm, path);
      assert.deepEqual(await goneOut(), fails ? ['email cancellation'] : [], 'what the calendar has decides');
      const open = `SELECT 1 FROM messages WHERE appointment_id = $1 AND state IN ('scheduled', 'sending')`;
      assert.deepEqual(await world.sql(open, [id]), []);
    }
  });

  test(`an appointment that is ${how} while its confirmation is on its way is called off, unless that fails`, async () => {
    const firm = await world.firm();
    for (const fails of [false, true]) {
      const { id, path } = await book(firm, { email_confirmation: true });
      const sent: string[] = [];
      post.during = async ({ kind }) => {
        if (kind === 'confirmation') await turn(off, firm, path);
        if (kind === 'confirmation' && fails) fault(true);
        sent.push(kind);
      };
      await office.runOnce();
      world.clock.advance({ seconds: 10 });
      await office.runOnce();
      assert.deepEqual(sent, fails ? [] : ['confirmation', 'cancellation']);
      const open = `SELECT 1 FROM messages WHERE appointment_id = $1 AND state IN ('scheduled', 'sending')`;
      assert.deepEqual(await world.sql(open, [id]), []);
    }
  });
}

test('a cancellation goes to whom the confirmation went to, under their own name', async () => {
  const firm = await world.firm();
  const [john, ann] = firm.customers;
  const { path } = await book(firm, { email_confirmation: true });
  await office.runOnce();
  await firm.patch(path, { email_recipient: ann.email });
  await firm.delete(path);
  post.sent.length = 0;
  await office.runOnce();
  assert.deepEqual(
    post.sent.map(({ kind, recipient, customer }) => [kind, recipient, customer]),
    [['cancellation', john.email, 'Mr John Smith']],
  );
});

test('everybody whose calendar has the appointment is told, each by a mail of their own, whoever it names by now', async () => {
  const firm = await world.firm();
  const [john, ann] = firm.customers;
  const told = () => post.sent.map(({ kind, recipient, customer }) => [kind, recipient, customer]).sort();
  for (const [, off, on] of CALLED_OFF) {
    const { path } = await book(firm, { email_confirmation: true });
    await office.runOnce();
    await firm.patch(path, { email_recipient: ann.email, email_confirmation: true });
    await office.runOnce();
    post.sent.length = 0;
    await off(firm, path);
    await office.runOnce();
    assert.deepEqual(told(), [
      ['cancellation', ann.email, 'Mrs Ann Smith'],
      ['cancellation', john.email, 'Mr John Smith'],
    ]);
    await on(firm, path);
    await firm.patch(path, { email_confirmation: true });
    await office.runOnce();
    post.sent.length = 0;
    await off(firm, path);
    await office.runOnce();
    assert.deepEqual(told(), [['cancellation', ann.email, 'Mrs Ann Smith']], 'only one has it again');
    post.sent.length = 0;
  }
});

test('one whose cancellation is refused does not keep the others from being told', async () => {
  const firm = await world.firm();
  const [john, ann] = firm.customers;
  const { path } = await book(firm, { email_confirmation: true });
  await office.runOnce();
  await firm.patch(path, { email_recipient: ann.email, email_confirmation: true });
  await office.runOnce();
  post.sent.length = 0;
  post.during = ({ recipient }) => {
    if (recipient === ann.email) fault(true);
  };
  await firm.delete(path);
  await office.runOnce();
  assert.deepEqual(
    post.sent.map(({ recipient }) => recipient),
    [john.email],
  );
});

test('a confirmation that arrives after another worker has withdrawn it is called off', async () => {
  const firm = await world.firm();
  const { path } = await book(firm, { email_confirmation: true });
  const other = postOffice(world, { email: post, sms: post });
  post.during = async () => {
    post.during = () => {};
    await firm.delete(path);
    // A cancellation that is looked at before the confirmation is withdrawn waits for five seconds, more than once if need be.
    for (const seconds of [46, 5, 5, 5]) {
      world.clock.advance({ seconds });
      await other.runOnce();
    }
    const open = `SELECT 1 FROM messages WHERE company_id = $1 AND state IN ('scheduled', 'sending')`;
    assert.deepEqual(await world.sql(open, [firm.companyId]), [], 'all of it is withdrawn');
  };
  await office.runOnce();
  assert.deepEqual(
    post.sent.map(({ kind }) => kind),
    ['confirmation', 'cancellation'],
  );
});

test('an appointment that is cancelled, then deleted, is called off once, and restoring it does not undo that', async () => {
  const firm = await world.firm();
  const { path } = await book(firm, { email_confirmation: true, email_notification: true });
  await office.runOnce();
  post.sent.length = 0;
  await firm.patch(`${path}/outcome`, { cancelled: true });
  await firm.delete(path);
  await firm.post(`${path}/restore`);
  await office.runOnce();
  world.clock.set(REMINDER_DUE);
  await office.runOnce();
  assert.deepEqual(kinds(), ['email cancellation']);
});

test('a deletion that is under way when the confirmation has gone out, and saw nothing of it, is waited for', async () => {
  const firm = await world.firm();
  const { id } = await book(firm, { email_confirmation: true });
  const client = await world.db.pool.connect();
  try {
    // By hand: the deletion as a statement writes it whose view of the messages is older than the sending.
    post.during = async () => {
      post.during = () => {};
      await client.query('BEGIN');
      await client.query('UPDATE appointments SET deleted_at = now(), version = version + 1 WHERE id = $1', [id]);
    };
    const running = office.runOnce();
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await world.sql(waits)).length === 0);
    await client.query('COMMIT');
    await running;
    assert.deepEqual(kinds(), ['email cancellation', 'email confirmation']);
  } finally {
    client.release();
  }
});
