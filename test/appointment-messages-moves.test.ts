import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL_FLAGS,
  type Appointment,
  app,
  assertUntouched,
  at,
  book,
  CHANNELS,
  deliver,
  due,
  MESSAGES,
  REMINDERS,
  recipients,
  scheduled,
  setLeadDays,
  states,
} from './harness/appointment-messages.ts';
import { ok } from './harness/assert.ts';

// Moving

for (const [flag, channel] of REMINDERS) {
  test(`moving the start moves the reminder with it: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    for (const [start, expected] of [
      ['2026-06-20 15:00:00', '2026-06-19T14:00:00Z'],
      ['2026-06-05 08:00:00', '2026-06-04T07:00:00Z'],
      ['2026-11-20 15:00:00', '2026-11-19T15:00:00Z'],
    ] as const) {
      assert.equal((await appointment.move(start))[flag], 'scheduled');
      assert.equal(await due(appointment, channel), expected);
      assert.equal((await scheduled(appointment)).length, 1);
    }
  });

  test(`moving the start after the reminder of the old one was sent makes a new one: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    app.clock.set('2026-06-09T12:00:00Z');
    await deliver(appointment);
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-19T09:00:00Z');
    assert.deepEqual((await states(appointment, channel, 'reminder')).sort(), ['scheduled', 'sent']);
  });

  test(`moving back to a start whose reminder was sent sends no second: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    await appointment.move('2026-06-20 10:00:00');
    const back = await appointment.move('2026-06-10 10:00:00');
    assert.equal(back[flag], 'sent');
    assert.deepEqual(await scheduled(appointment), []);
    assert.deepEqual((await states(appointment, channel, 'reminder')).sort(), ['cancelled', 'sent']);
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'sent');
    assert.equal((await appointment.update({ [flag]: false }))[flag], 'sent');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'sent');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`a reminder that was sent is not sent again because it is requested again: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    await assertUntouched(appointment, async () => {
      for (const asked of [true, false, true]) {
        assert.equal((await appointment.update({ [flag]: asked }))[flag], 'sent');
      }
    });
  });

  test(`a reminder that waits beyond its hour keeps it when it is requested again: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    for (const now of ['2026-06-09T12:00:00Z', '2026-06-10T08:30:00Z']) {
      app.clock.set(now);
      await assertUntouched(appointment, async () => {
        assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
      });
    }
  });

  test(`a reminder that was withdrawn does not come back when the start moves: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.update({ [flag]: false });
    for (const start of ['2026-06-20 10:00:00', '2026-06-10 10:00:00']) {
      assert.notEqual((await appointment.move(start))[flag], 'scheduled');
      assert.deepEqual(await scheduled(appointment), []);
    }
  });

  test(`a move that withdraws the reminder makes none for the new start: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.move('2026-06-20 10:00:00', { [flag]: false });
    assert.deepEqual(await scheduled(appointment), []);
    assert.deepEqual(await states(appointment, channel, 'reminder'), ['cancelled']);
  });
}

test('moving away and back before anything was sent leaves one reminder, for the first start', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true, sms_notification: true });
  for (let round = 0; round < 2; round += 1) {
    await appointment.move('2026-06-20 10:00:00');
    const back = await appointment.move('2026-06-10 10:00:00');
    assert.deepEqual([back.email_notification, back.sms_notification], ['scheduled', 'scheduled']);
    for (const channel of CHANNELS) assert.equal(await due(appointment, channel), '2026-06-09T09:00:00Z');
  }
});

test('moving to a start with too little time left withdraws the old reminder and skips the new', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true });
  const late = await appointment.move('2026-06-01 10:30:00');
  assert.equal(late.email_notification, 'skipped');
  assert.equal(late.email_day_before, 0);
  assert.deepEqual(await scheduled(appointment), []);
  assert.equal((await appointment.move('2026-06-20 10:00:00')).email_notification, 'scheduled');
  assert.equal(await due(appointment), '2026-06-19T09:00:00Z');
});

test('a reminder that found no time is made when the start moves further away', async () => {
  const company = await app.company();
  const late = at('2026-06-01 10:30:00');
  const appointment = await book(company, { ...late, ...recipients(company), email_notification: true });
  assert.equal(appointment.answer.email_notification, 'skipped');
  assert.equal((await appointment.move('2026-06-10 10:00:00')).email_notification, 'scheduled');
  assert.equal(await due(appointment), '2026-06-09T09:00:00Z');
});

test('a failed reminder does not stop the one for a new start', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true });
  await deliver(appointment, 'failed');
  assert.equal((await appointment.move('2026-06-20 10:00:00')).email_notification, 'scheduled');
  assert.deepEqual((await states(appointment, 'email', 'reminder')).sort(), ['failed', 'scheduled']);
});

test('moving the start does not confirm again', async () => {
  const company = await app.company();
  const asked = { email_confirmation: true, sms_confirmation: true };
  const appointment = await book(company, { ...recipients(company), ...asked });
  await deliver(appointment);
  const moved = await appointment.move('2026-06-20 10:00:00');
  assert.deepEqual([moved.email_confirmation, moved.sms_confirmation], ['sent', 'sent']);
  assert.deepEqual(await scheduled(appointment), []);
});

test('a confirmation that still waits when the start moves stays one', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_confirmation: true, sms_confirmation: true });
  const moved = await appointment.move('2026-06-20 10:00:00');
  assert.deepEqual([moved.email_confirmation, moved.sms_confirmation], ['scheduled', 'scheduled']);
  for (const channel of CHANNELS) assert.equal((await scheduled(appointment, channel, 'confirmation')).length, 1);
});

// What touches no message

for (const [what, change] of [
  ['notes', { notes: 'New notes' }],
  ['location', { location: 'New place' }],
  ['cleared notes and location', { notes: null, location: null }],
  ['the end alone', { end_time: '2026-06-10 12:00:00' }],
  ['the start it already has', { start_time: '2026-06-10 10:00:00' }],
  ['the start it already has, written in UTC', { start_time: '2026-06-10T09:00:00.000000Z' }],
  ['nothing', {}],
  ['fields it does not know', { adviser_email: 'x@firm.example', video_meeting: true, resend: true }],
] as const) {
  test(`an update of ${what} touches no message`, async () => {
    const company = await app.company();
    for (const arrange of [
      async () => {},
      async (appointment: Appointment) => deliver(appointment),
      async (appointment: Appointment) => deliver(appointment, 'failed'),
      async (appointment: Appointment) => deliver(appointment, 'sent', 'confirmation'),
      async (appointment: Appointment) => {
        await appointment.update({ email_confirmation: false, email_notification: false, sms_recipient: null });
      },
    ]) {
      const appointment = await book(company, {
        ...recipients(company),
        ...ALL_FLAGS,
        notes: 'Notes',
        location: 'Place',
      });
      await arrange(appointment);
      app.clock.advance({ minutes: 1 });
      await assertUntouched(appointment, () => appointment.update(change));
    }
  });
}

test('a start with microseconds is the same start to the last of them', async () => {
  const company = await app.company();
  const start_time = '2026-06-10T09:00:00.123457Z';
  const appointment = await book(company, { ...at(start_time), ...recipients(company), ...ALL_FLAGS });
  app.clock.advance({ minutes: 1 });
  await assertUntouched(appointment, async () => {
    await appointment.update({ notes: 'New notes' });
    await appointment.update({ start_time });
  });
  await appointment.update({ start_time: '2026-06-10T09:00:00.123456Z' });
  assert.deepEqual((await states(appointment, 'email', 'reminder')).sort(), ['cancelled', 'scheduled']);
});

test('changing notes while a reminder is overdue, or long past, does not move it', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  for (const now of ['2026-06-09T09:00:01Z', '2026-06-10T08:30:00Z', '2026-06-12T09:00:00Z']) {
    app.clock.set(now);
    await assertUntouched(appointment, () => appointment.update({ notes: now, location: now }));
  }
});

test('changing notes after the company changed its lead does not move a reminder', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  await setLeadDays(company, 3);
  await assertUntouched(appointment, () => appointment.update({ notes: 'New notes' }));
});

test('changing notes does not give a skipped message another chance', async () => {
  const company = await app.company();
  const late = at('2026-06-01 10:30:00');
  const appointment = await book(company, { ...late, ...recipients(company), email_notification: true });
  const answer = await appointment.update({ notes: 'New notes' });
  assert.equal(answer.email_notification, 'skipped');
  assert.deepEqual(await scheduled(appointment), []);
});

test('a refused update touches no message', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const off = Object.fromEntries(MESSAGES.map(([flag]) => [flag, false]));
  for (const wrong of [
    { email_recipient: 'unknown@client.example' },
    { sms_recipient: '12' },
    { end_time: '2026-06-19 10:00:00' },
    { notes: 5 },
  ]) {
    await assertUntouched(appointment, async () => {
      const body = { ...at('2026-06-20 10:00:00'), ...off, ...wrong };
      const answer = await company.patch(appointment.path, body);
      assert.equal(answer.status, 400, answer.text);
    });
  }
});

test('a refused booking makes no message', async () => {
  const company = await app.company();
  const body = { adviser_email: company.adviser, ...at('2026-06-10 10:00:00'), ...ALL_FLAGS, ...recipients(company) };
  const answer = await company.post(`${company.path}/appointments`, { ...body, sms_recipient: '12' });
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(await app.sql('SELECT * FROM messages WHERE company_id = $1', [company.companyId]), []);
});

test('the messages of one appointment are not those of another', async () => {
  const company = await app.company();
  const [one, other] = [
    await book(company, { ...recipients(company), ...ALL_FLAGS }),
    await book(company, recipients(company)),
  ];
  await assertUntouched(one, async () => {
    await other.update(ALL_FLAGS);
    await other.move('2026-06-20 10:00:00');
    await other.update(Object.fromEntries(MESSAGES.map(([flag]) => [flag, false])));
    await ok(company.delete(other.path));
  });
});
