import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNotFound, ok } from './harness/assert.ts';
import {
  app,
  assertRefusedUnchanged,
  book,
  EVERY_MESSAGE,
  type Fields,
  messages,
  onDay,
  outcome,
  REMINDERS,
  START,
  scheduled,
  sendOut,
  UPDATE_METHODS,
  words,
} from './harness/lifecycle-appointments.ts';

// Outcome

test('attended, cancelled and type are set, show in every answer, and what is not sent stays', async () => {
  const company = await app.company();
  const path = await book(company);
  app.clock.set(START);
  const facts = ({ attended, cancelled, type }: Fields) => [attended, cancelled, type];
  const steps: [Fields, unknown[]][] = [
    [{ type: 'review' }, [0, 0, 'review']],
    [{ attended: true }, [1, 0, 'review']],
    [{}, [1, 0, 'review']],
    [{ attended: false, cancelled: true }, [0, 1, 'review']],
    [{ cancelled: null, attended: true, type: null }, [1, 0, null]],
    [{ attended: null, type: '😀'.repeat(100) }, [0, 0, '😀'.repeat(100)]],
  ];
  for (const [body, expected] of steps) {
    const answer = await ok(outcome(company, path, body));
    assert.deepEqual(facts(answer), expected);
    assert.deepEqual(answer, await ok(company.get(path)));
    assert.deepEqual(facts(await ok(company.patch(path, {}))), expected);
  }
});

for (const [before, body, field] of [
  [{}, { attended: true, cancelled: true }, 'cancelled'],
  [{ attended: true }, { cancelled: true }, 'cancelled'],
  [{ cancelled: true }, { attended: true }, 'attended'],
] as const) {
  test(`both attended and cancelled is refused: ${JSON.stringify(body)} after ${JSON.stringify(before)}`, async () => {
    const company = await app.company();
    const path = await book(company, EVERY_MESSAGE);
    app.clock.set(START);
    await ok(outcome(company, path, before));
    await assertRefusedUnchanged(company, () => outcome(company, path, body), { [field]: 'invalid_state' });
  });
}

test('an appointment cannot be attended before its start, also after it was moved', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  const attend = () => outcome(company, path, { attended: true, type: 'review' });
  app.clock.set('2026-06-10T08:59:59.999999Z');
  await assertRefusedUnchanged(company, attend, { attended: 'invalid_state' });
  await ok(outcome(company, path, { attended: false, cancelled: null, type: 'x' }));
  app.clock.set(START);
  await ok(attend());
  await ok(company.patch(path, onDay('2026-06-11')));
  await ok(outcome(company, path, { type: 'later' }));
  await assertRefusedUnchanged(company, attend, { attended: 'invalid_state' });
  await assertRefusedUnchanged(company, () => outcome(company, path, { attended: true, cancelled: true, type: 5 }), {
    attended: 'invalid_state',
    cancelled: 'invalid_state',
    type: 'type',
  });
});

test('of attended and cancelled, sent concurrently, one is refused', async () => {
  const company = await app.company();
  app.clock.set(START);
  for (let i = 0; i < 10; i++) {
    const path = await book(company);
    const answers = await Promise.all([
      outcome(company, path, { attended: true }),
      outcome(company, path, { cancelled: true }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
    const { attended, cancelled } = await ok(company.get(path));
    assert.equal(attended + cancelled, 1);
  }
});

test('every faulty field of an outcome is named, and nothing changes', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  app.clock.set(START);
  await assertRefusedUnchanged(
    company,
    () => outcome(company, path, { attended: 1, cancelled: 'true', type: 'x'.repeat(101) }),
    {
      attended: 'type',
      cancelled: 'type',
      type: 'too_long',
    },
  );
  await assertRefusedUnchanged(company, () => outcome(company, path, { type: 5, attended: true, cancelled: true }), {
    type: 'type',
    cancelled: 'invalid_state',
  });
  await assertRefusedUnchanged(company, () => outcome(company, path, { type: 'a\0b' }), { type: 'invalid_character' });
  await assertRefusedUnchanged(company, () => outcome(company, path, undefined), { body: 'required' });
});

test('an outcome of a deleted appointment is 404', async () => {
  const company = await app.company();
  const path = await book(company);
  await ok(company.delete(path));
  assertNotFound(await outcome(company, path, { attended: true }));
  assertNotFound(await outcome(company, path, { attended: 'yes' }));
});

test('cancelling withdraws every message that has not been sent', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: true }))), ['cancelled', 'cancelled', 0]);
  assert.deepEqual(await scheduled(company), []);
});

test('cancelling leaves what was sent', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await sendOut(company, 'confirmation');
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: true }))), ['sent', 'cancelled', 0]);
});

test('attended and type touch no message', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  const before = await messages(company);
  app.clock.set(START);
  await ok(outcome(company, path, { attended: true, cancelled: false, type: 'review' }));
  assert.deepEqual(await messages(company), before);
});

test('taking a cancellation back reschedules the requested reminders, and sends no confirmation', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(outcome(company, path, { cancelled: true }));
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), ['cancelled', 'scheduled', 1]);
  assert.deepEqual(await scheduled(company), [['reminder', new Date('2026-06-09T09:00:00Z')]]);
});

test('taking a cancellation back too late skips the reminder', async () => {
  const company = await app.company();
  const path = await book(company, REMINDERS);
  await ok(outcome(company, path, { cancelled: true }));
  app.clock.set('2026-06-10T08:00:01Z');
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), [null, 'skipped', 0]);
});

test('a reminder that was sent is not sent again after a cancellation that was taken back', async () => {
  const company = await app.company();
  const path = await book(company, REMINDERS);
  await sendOut(company, 'reminder');
  await ok(outcome(company, path, { cancelled: true }));
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), [null, 'sent', 1]);
});

test('cancelling a second time changes no message', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(outcome(company, path, { cancelled: true }));
  await ok(company.patch(path, { email_confirmation: true, sms_confirmation: true }));
  const before = await messages(company);
  await ok(outcome(company, path, { cancelled: true }));
  assert.deepEqual(await messages(company), before);
});

// Updates while it is cancelled

for (const method of UPDATE_METHODS) {
  for (const [name, change] of Object.entries({
    'moving it': onDay('2026-06-20'),
    'asking for reminders': REMINDERS,
    'asking for reminders and moving it': { ...REMINDERS, ...onDay('2026-06-20') },
    'naming recipients again': { email_recipient: null, sms_recipient: null },
    'changing a note': { notes: 'x' },
  })) {
    test(`${method}: while it is cancelled, ${name} leaves reminders withdrawn`, async () => {
      const company = await app.company();
      const path = await book(company, REMINDERS);
      await ok(outcome(company, path, { cancelled: true }));
      assert.deepEqual(words(await ok(company.send(method, path, change))), [null, 'cancelled', 0]);
      assert.deepEqual(await scheduled(company), []);
    });
  }

  test(`${method}: while it is cancelled, a confirmation that is requested is skipped`, async () => {
    const company = await app.company();
    const path = await book(company);
    await ok(outcome(company, path, { cancelled: true }));
    const answer = await ok(company.send(method, path, { email_confirmation: true, sms_confirmation: true }));
    assert.deepEqual(words(answer), ['skipped', null, 0]);
    assert.deepEqual(await scheduled(company), []);
    assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), ['skipped', null, 0]);
  });
}

test('what was requested while it was cancelled holds when the cancellation is taken back', async () => {
  const company = await app.company();
  const path = await book(company);
  await ok(outcome(company, path, { cancelled: true }));
  assert.deepEqual(words(await ok(company.patch(path, { ...REMINDERS, ...onDay('2026-06-20') }))), [
    null,
    'cancelled',
    0,
  ]);
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), [null, 'scheduled', 1]);
  assert.deepEqual(await scheduled(company), [['reminder', new Date('2026-06-19T09:00:00Z')]]);
});

test('a reminder withdrawn while it was cancelled stays withdrawn when the cancellation is taken back', async () => {
  const company = await app.company();
  const path = await book(company, REMINDERS);
  await ok(outcome(company, path, { cancelled: true }));
  await ok(company.patch(path, { email_notification: false, sms_notification: false }));
  assert.deepEqual(words(await ok(outcome(company, path, { cancelled: false }))), [null, 'cancelled', 0]);
});

test('a concurrent update and cancellation never leave a message to be sent', async () => {
  const company = await app.company();
  for (let i = 0; i < 10; i++) {
    const path = await book(company, REMINDERS);
    await Promise.all([
      ok(company.patch(path, { ...EVERY_MESSAGE, ...onDay('2026-06-20') })),
      ok(outcome(company, path, { cancelled: true })),
    ]);
    assert.deepEqual(await scheduled(company), []);
  }
});
