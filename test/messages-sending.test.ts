import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingMessage } from '../src/cases/appointments/messages/message.ts';
import { ok } from './harness/assert.ts';
import { messageWorker } from './harness/message-worker.ts';
import { app, book, fault, messages, post, REMINDER_DUE, worker } from './harness/messages-sending.ts';

const kinds = () => post.sent.map(({ channel, kind }) => `${channel} ${kind}`).sort();

// On time, and once

test('a reminder is sent at its due time and not before, and once, however many workers run', async () => {
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

test('twenty messages and five concurrent workers: each is sent once', async () => {
  const companies = await Promise.all([app.company(), app.company()]);
  for (let i = 0; i < 10; i++) for (const company of companies) await book(company, { email_confirmation: true });
  const workers = Array.from({ length: 5 }, () => messageWorker(app, { email: post, sms: post, slots: 8 }));
  await Promise.all(workers.map((worker) => worker.runOnce()));
  assert.equal(post.sent.length, 20);
  assert.equal(new Set(post.sent.map(({ id }) => id)).size, 20);
});

// Checked again before sending

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
    // Changed directly, because the operations also withdraw the message: only the check before sending can notice it.
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

test('a message is sent with what the appointment says when its turn comes', async () => {
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

// While a message is being sent

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

test('what is withdrawn while it is being sent is sent, and not retried should that fail', async () => {
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

test('a confirmation requested again while one is being sent is sent as well; in place of it, should that fail', async () => {
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
    // A worker that ran while the first was being sent has postponed the second for a moment.
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

test('a confirmation whose worker died is not sent after a newer one was sent', async () => {
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

test('a move while the reminder of the old start is being sent makes that of the new start, once', async () => {
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

// Reading messages, and sending again

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

test('a message in the list of the company says of which case and of when it tells', async () => {
  const company = await app.company();
  const { path } = await book(company, { email_confirmation: true });
  const { start_time } = await ok(company.get(path));
  const reader = await company.withScopes('appointments:read');
  for (const [caller, reference] of [
    [company, (await ok(company.get(company.path))).reference],
    [reader, null],
  ] as const) {
    const [message] = await ok(caller.get('/messages'));
    assert.deepEqual(message.case, { id: company.caseId, reference });
    assert.equal(message.start, start_time);
  }
});

test('a message that was sent or failed can be sent again, about the appointment as it is now', async () => {
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
