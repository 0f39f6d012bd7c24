import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateNameOf } from '../src/cases/appointments/messages/templates/render.ts';
import { ok } from './harness/assert.ts';
import { app, book, fault, post, REMINDER_DUE, worker } from './harness/messages-sending.ts';

/** What a message says depends on what its recipient was told before. */

const OLD = '2026-06-10T09:00:00Z';
const NEW = '2026-06-17T13:00:00Z';
const MOVE = { start_time: '2026-06-17 14:00:00', end_time: '2026-06-17 15:00:00' };

/** Runs the workers and returns the messages: channel, text, start, and start that the recipient was told before. */
const sent = async () => {
  post.sent.length = 0;
  await worker.runOnce();
  const said = post.sent.map((message) => {
    const { channel, start, earlier } = message;
    return [channel, templateNameOf(message), start.toString(), earlier?.start.toString()];
  });
  return said.sort();
};

for (const channel of ['email', 'sms'] as const) {
  const confirm = { [`${channel}_confirmation`]: true };
  const remind = { [`${channel}_notification`]: true };

  test(`a move that is confirmed by ${channel} is a change from the time that the client was told last`, async () => {
    const company = await app.company();
    const { path } = await book(company, confirm);
    assert.deepEqual(await sent(), [[channel, 'confirmation', OLD, undefined]]);
    // The client does not hear of this move.
    await ok(company.patch(path, { start_time: '2026-06-12 10:00:00', end_time: '2026-06-12 11:00:00' }));
    await ok(company.patch(path, { ...MOVE, ...confirm }));
    assert.deepEqual(await sent(), [[channel, 'change', NEW, OLD]]);
    assert.equal(post.sent[0]?.earlier?.end?.toString(), '2026-06-10T10:00:00Z');
    await ok(company.patch(path, confirm));
    assert.deepEqual(await sent(), [[channel, 'confirmation', NEW, NEW]], 'the same time again is no change');
  });

  test(`a reminder by ${channel} tells a time too`, async () => {
    const company = await app.company();
    const { path } = await book(company, remind);
    app.clock.set(REMINDER_DUE);
    assert.deepEqual(await sent(), [[channel, 'reminder', OLD, undefined]]);
    await ok(company.patch(path, { ...MOVE, ...confirm }));
    assert.deepEqual(await sent(), [[channel, 'change', NEW, OLD]]);
  });

  test(`another place alone is a change by ${channel}, another end too, and other notes are none`, async () => {
    const company = await app.company();
    const { path } = await book(company, { ...confirm, location: 'Room 1' });
    await sent();
    for (const [change, text] of [
      [{ notes: 'Bring the papers' }, 'confirmation'],
      [{ location: 'Room 2' }, 'change'],
      [{ end_time: '2026-06-10 12:00:00' }, 'change'],
      [{ location: null }, 'change'],
    ] as const) {
      await ok(company.patch(path, { ...change, ...confirm }));
      assert.deepEqual(await sent(), [[channel, text, OLD, OLD]], JSON.stringify(change));
    }
    assert.equal(post.sent[0]?.earlier?.location, 'Room 2');
  });

  test(`a message by ${channel} that failed has told nothing, and one that was called off neither`, async () => {
    const company = await app.company();
    const { path } = await book(company, confirm);
    post.during = () => fault(true);
    await sent();
    post.during = () => {};
    await ok(company.patch(path, { ...MOVE, ...confirm }));
    assert.deepEqual(await sent(), [[channel, 'confirmation', NEW, undefined]]);
    await ok(company.delete(path));
    assert.deepEqual(await sent(), [[channel, 'cancellation', NEW, NEW]]);
    await ok(company.post(`${path}/restore`));
    await ok(company.patch(path, { start_time: '2026-06-18 14:00:00', end_time: '2026-06-18 15:00:00', ...confirm }));
    assert.deepEqual(await sent(), [[channel, 'confirmation', '2026-06-18T13:00:00Z', undefined]]);
  });

  test(`a cancellation by ${channel} names the time and place that the client was told`, async () => {
    const company = await app.company();
    const { path } = await book(company, { ...confirm, location: 'Room 1' });
    await sent();
    await ok(company.patch(path, { ...MOVE, location: 'Room 2' }));
    await ok(company.patch(`${path}/outcome`, { cancelled: true }));
    assert.deepEqual(await sent(), [[channel, 'cancellation', OLD, OLD]]);
    assert.deepEqual([post.sent[0]?.location, post.sent[0]?.end.toString()], ['Room 1', '2026-06-10T10:00:00Z']);
  });

  test(`a client who had only a reminder by ${channel} hears of the cancellation; restoring withdraws it`, async () => {
    const company = await app.company();
    const { path } = await book(company, remind);
    await ok(company.delete(path));
    assert.deepEqual(await sent(), [], 'the client knows nothing of it');
    await ok(company.post(`${path}/restore`));
    app.clock.set(REMINDER_DUE);
    assert.deepEqual(await sent(), [[channel, 'reminder', OLD, undefined]]);
    await ok(company.delete(path));
    await ok(company.post(`${path}/restore`));
    const states = (await ok(company.get(`${path}/messages`))).map(({ kind, state }: Record<string, string>) => [
      kind,
      state,
    ]);
    assert.deepEqual(states.sort(), [
      ['cancellation', 'cancelled'],
      ['reminder', 'sent'],
    ]);
    assert.deepEqual(await sent(), []);
    await ok(company.patch(`${path}/outcome`, { cancelled: true }));
    assert.deepEqual(await sent(), [[channel, 'cancellation', OLD, OLD]]);
    await ok(company.delete(path));
    assert.deepEqual(await sent(), [], 'once is enough');
  });

  test(`an appointment that is deleted while its reminder by ${channel} is being sent is called off`, async () => {
    const company = await app.company();
    for (const fails of [false, true]) {
      app.clock.set('2026-06-01T09:00:00Z');
      const { path } = await book(company, remind);
      app.clock.set(REMINDER_DUE);
      post.during = async ({ kind }) => {
        if (kind === 'reminder') await ok(company.delete(path));
        if (fails) fault(true);
      };
      const said = await sent();
      post.during = () => {};
      app.clock.advance({ seconds: 10 });
      said.push(...(await sent()));
      const texts = said.map(([, text]) => text).sort();
      assert.deepEqual(texts, fails ? [] : ['cancellation', 'reminder']);
    }
  });

  test(`a deletion that did not see that the reminder by ${channel} was being sent is made up for`, async () => {
    const company = await app.company();
    const { id } = await book(company, remind);
    app.clock.set(REMINDER_DUE);
    // As a statement writes it whose snapshot of the messages is older than the sending.
    const unseen = 'UPDATE appointments SET deleted_at = now(), version = version + 1 WHERE id = $1';
    post.during = async ({ kind }) => {
      if (kind === 'reminder') await app.sql(unseen, [id]);
    };
    const texts = (await sent()).map(([, text]) => text);
    assert.deepEqual(texts, ['cancellation', 'reminder']);
  });

  test(`what an earlier release sent by ${channel} is known by the start that the message was made for`, async () => {
    const company = await app.company();
    const { id, path } = await book(company, confirm);
    await sent();
    await app.sql('UPDATE messages SET told_start_at = NULL, told_end_at = NULL WHERE appointment_id = $1', [id]);
    await ok(company.patch(path, { ...MOVE, ...confirm }));
    assert.deepEqual(await sent(), [[channel, 'change', NEW, OLD]]);
    assert.equal(post.sent[0]?.earlier?.end, null);
    await app.sql('UPDATE messages SET told_start_at = NULL, told_end_at = NULL WHERE appointment_id = $1', [id]);
    await ok(company.delete(path));
    assert.deepEqual(await sent(), [[channel, 'cancellation', NEW, NEW]]);
    assert.equal(post.sent[0]?.end.toString(), '2026-06-17T14:00:00Z');
  });
}

test('what one recipient was told is no change for another', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { path } = await book(company, { email_confirmation: true });
  await sent();
  await ok(company.patch(path, { ...MOVE, email_recipient: ann.email, email_confirmation: true }));
  assert.deepEqual(await sent(), [['email', 'confirmation', NEW, undefined]]);
  await ok(company.patch(path, { email_recipient: john.email.toUpperCase(), email_confirmation: true }));
  assert.deepEqual(await sent(), [['email', 'change', NEW, OLD]], 'letter case makes no other recipient');
});

test('a number that is spelled in two ways gets one cancellation', async () => {
  const company = await app.company();
  const { path } = await book(company, { sms_confirmation: true });
  post.receiptFor = () => '+447400123456';
  await sent();
  await ok(company.patch(path, { sms_recipient: '+44 7400 123456', sms_confirmation: true }));
  await sent();
  await ok(company.delete(path));
  assert.deepEqual(await sent(), [['sms', 'cancellation', OLD, OLD]]);
});

test('a client is greeted by name also after the email address of the customer has changed', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { path } = await book(company, { email_confirmation: true, email_notification: true });
  await sent();
  const manager = await company.withScopes('manage');
  const customers = `/manage/cases/${company.caseId}/customers`;
  const nameOfRecipient = async () => {
    await sent();
    return post.sent[0]?.customer?.first_names;
  };
  await ok(manager.patch(`${customers}/${john.id}`, { email: 'john@new.example' }));
  await ok(manager.patch(`${customers}/${john.id}`, { phone: '07400 999999' }));
  await ok(manager.patch(`${customers}/${john.id}`, { email: 'john@newer.example' }));
  app.clock.set(REMINDER_DUE);
  assert.equal(await nameOfRecipient(), 'John');
  await ok(manager.patch(`${customers}/${ann.id}`, { email: john.email.toUpperCase() }));
  await ok(company.delete(path));
  assert.equal(await nameOfRecipient(), 'Ann', 'the customer who has the address now comes first');
});

test('a customer who has got an address back is greeted before one who had it', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const manager = await company.withScopes('manage');
  const setEmail = (id: string, email: string) =>
    ok(manager.patch(`/manage/cases/${company.caseId}/customers/${id}`, { email }));
  for (const email of ['john@new.example', john.email, 'john@newer.example']) await setEmail(john.id, email);
  for (const email of [john.email, 'ann@new.example', john.email]) await setEmail(ann.id, email);
  await book(company, { email_confirmation: true });
  await sent();
  assert.equal(post.sent[0]?.customer?.first_names, 'Ann');
});

test('ten earlier addresses of a customer are kept', async () => {
  const company = await app.company();
  const manager = await company.withScopes('manage');
  const customer = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
  for (let count = 0; count < 12; count++) await ok(manager.patch(customer, { email: `john-${count}@x.example` }));
  const select = 'SELECT former_emails FROM customers WHERE id = $1';
  const [row] = await app.sql<{ former_emails: string[] }>(select, [company.customers[0].id]);
  assert.deepEqual(
    row?.former_emails,
    Array.from({ length: 10 }, (_, index) => `john-${10 - index}@x.example`),
  );
});

test('the recipient of an SMS is greeted by the name of the customer with that number', async () => {
  const company = await app.company();
  await book(company, { sms_recipient: '+44 7400 654321', sms_confirmation: true });
  await book(company, { sms_recipient: '07400654321', sms_confirmation: true });
  await book(company, { sms_recipient: '07400 111111', sms_confirmation: true });
  await sent();
  const names = post.sent.map(({ customer }) => customer?.first_names);
  assert.deepEqual(names.sort(), ['Ann', 'Ann', undefined]);
});

// The word of a skipped confirmation

test('a skipped confirmation stays skipped when the appointment is deleted, restored, cancelled and reinstated', async () => {
  const company = await app.company();
  for (const flag of ['email_confirmation', 'sms_confirmation'] as const) {
    const { path } = await book(company, { email_recipient: null, sms_recipient: null, [flag]: true });
    const word = async () => (await ok(company.get(path)))[flag];
    assert.equal(await word(), 'skipped');
    await ok(company.patch(`${path}/outcome`, { cancelled: true }));
    assert.equal(await word(), 'skipped', 'cancelled');
    await ok(company.patch(`${path}/outcome`, { cancelled: false }));
    assert.equal(await word(), 'skipped', 'reinstated');
    await ok(company.delete(path));
    await ok(company.post(`${path}/restore`));
    assert.equal(await word(), 'skipped', 'deleted and restored');
  }
});
