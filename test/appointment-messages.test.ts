import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ALL_FLAGS,
  app,
  at,
  book,
  CHANNELS,
  deliver,
  due,
  MESSAGES,
  messages,
  REMINDERS,
  recipients,
  scheduled,
  setLeadDays,
  states,
} from './harness/appointment-messages.ts';

// The states

for (const [flag, channel, kind] of MESSAGES) {
  test(`${flag} is null, and no message is made, unless it was requested`, async () => {
    const company = await app.company();
    for (const asked of [undefined, null, false]) {
      const appointment = await book(company, { ...recipients(company), [flag]: asked });
      assert.equal(appointment.answer[flag], null);
      assert.equal((await appointment.read())[flag], null);
      assert.equal((await appointment.update({ [flag]: asked }))[flag], null);
      assert.deepEqual(await messages(appointment), []);
    }
  });

  test(`${flag} with a recipient is scheduled, once, and nothing else is`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    const words = MESSAGES.map(([name]) => appointment.answer[name]);
    assert.deepEqual(
      words,
      MESSAGES.map(([name]) => (name === flag ? 'scheduled' : null)),
    );
    const made = (await messages(appointment)).map((one) => [one.channel, one.kind, one.state, one.start]);
    assert.deepEqual(made, [[channel, kind, 'scheduled', '2026-06-10T09:00:00Z']]);
    assert.equal((await appointment.read())[flag], 'scheduled');
  });

  test(`${flag} by an update is as good as by the booking`, async () => {
    const company = await app.company();
    const appointment = await book(company, recipients(company));
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment, channel, kind)).length, 1);
    assert.equal((await messages(appointment)).length, 1);
  });

  test(`${flag} without a recipient is skipped`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    assert.equal(appointment.answer[flag], 'skipped');
    assert.equal((await appointment.read())[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    const later = await book(company);
    assert.equal((await later.update({ [flag]: true }))[flag], 'skipped');
    assert.deepEqual(await scheduled(later), []);
  });

  test(`${flag} is skipped where only the other channel has a recipient`, async () => {
    const company = await app.company();
    const other = channel === 'email' ? 'sms_recipient' : 'email_recipient';
    const appointment = await book(company, { [other]: recipients(company)[other], [flag]: true });
    assert.equal(appointment.answer[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} tells where its message stands`, async () => {
    const company = await app.company();
    for (const state of ['sent', 'failed'] as const) {
      const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
      await deliver(appointment, state, kind);
      const answer = await appointment.read();
      for (const [name, , other] of MESSAGES) assert.equal(answer[name], other === kind ? state : 'scheduled', name);
    }
  });

  for (const waiting of [false, true]) {
    const still = waiting ? 'again, while it waits,' : '';
    test(`${flag} asked for ${still} by the request that clears the recipient is skipped`, async () => {
      const company = await app.company();
      const appointment = await book(company, { ...recipients(company), [flag]: waiting });
      const answer = await appointment.update({ [flag]: true, [`${channel}_recipient`]: null });
      assert.equal(answer[flag], 'skipped');
      assert.deepEqual(await scheduled(appointment), []);
      assert.equal((await appointment.read())[flag], 'skipped');
    });
  }

  test(`${flag} and its recipient may come in one update`, async () => {
    const company = await app.company();
    const appointment = await book(company);
    assert.equal((await appointment.update({ [flag]: true, ...recipients(company) }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });

  for (const no of [false, null]) {
    test(`${flag}: ${no} withdraws what has not been sent`, async () => {
      const company = await app.company();
      const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
      const answer = await appointment.update({ [flag]: no });
      for (const [name] of MESSAGES) assert.equal(answer[name], name === flag ? 'cancelled' : 'scheduled', name);
      assert.deepEqual(await states(appointment, channel, kind), ['cancelled']);
      assert.equal((await scheduled(appointment)).length, 3);
      assert.equal((await appointment.read())[flag], 'cancelled');
    });

    test(`${flag}: ${no} leaves what was sent`, async () => {
      const company = await app.company();
      const appointment = await book(company, { ...recipients(company), [flag]: true });
      await deliver(appointment);
      assert.equal((await appointment.update({ [flag]: no }))[flag], 'sent');
      assert.deepEqual(await states(appointment, channel, kind), ['sent']);
    });
  }

  test(`${flag} can be requested again after it was withdrawn`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await appointment.update({ [flag]: false }))[flag], 'cancelled');
      assert.deepEqual(await scheduled(appointment), []);
      assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
      assert.equal((await scheduled(appointment)).length, 1);
    }
  });

  test(`${flag}: true again while the message waits does not double it`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    app.clock.advance({ minutes: 5 });
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    }
    assert.deepEqual(await states(appointment, channel, kind), ['scheduled']);
  });
}

// When a reminder is due

const DUE: [timeZone: string, why: string, start: string, due: string][] = [
  ['Europe/London', 'in summer', '2026-07-15 10:00:00', '2026-07-14T09:00:00Z'],
  ['Europe/London', 'in winter', '2027-01-15 10:00:00', '2027-01-14T10:00:00Z'],
  ['Europe/London', 'late in the evening', '2026-07-15 23:45:00', '2026-07-14T22:45:00Z'],
  ['Europe/London', 'just after midnight', '2026-07-15 00:15:00', '2026-07-13T23:15:00Z'],
  ['Europe/London', 'on the first of a year', '2027-01-01 10:00:00', '2026-12-31T10:00:00Z'],
  ['Europe/London', 'after a leap day', '2028-03-01 10:00:00', '2028-02-29T10:00:00Z'],
  ['Europe/London', 'on the day the clocks go forward', '2026-03-29 09:00:00', '2026-03-28T09:00:00Z'],
  ['Europe/London', 'the day after the clocks went forward', '2026-03-30 09:00:00', '2026-03-29T08:00:00Z'],
  ['Europe/London', 'at a wall time that the day before skips', '2026-03-30 01:30:00', '2026-03-29T01:30:00Z'],
  ['Europe/London', 'on the day the clocks go back', '2026-10-25 09:00:00', '2026-10-24T08:00:00Z'],
  ['Europe/London', 'the day after the clocks went back', '2026-10-26 09:00:00', '2026-10-25T09:00:00Z'],
  ['Europe/London', 'at a wall time that the day before repeats', '2026-10-26 01:30:00', '2026-10-25T00:30:00Z'],
  ['Europe/London', 'the first time a wall time comes', '2026-10-25 01:30:00', '2026-10-24T00:30:00Z'],
  ['Europe/London', 'the second time a wall time comes', '2026-10-25T01:30:00Z', '2026-10-24T00:30:00Z'],
  ['America/New_York', 'after the change of its own zone', '2026-11-02 09:00:00', '2026-11-01T14:00:00Z'],
  ['America/New_York', 'before the change of its own zone', '2026-11-01 09:00:00', '2026-10-31T13:00:00Z'],
  ['Asia/Kathmandu', 'with odd minutes', '2026-07-15 00:00:00', '2026-07-13T18:15:00Z'],
];

for (const [timeZone, why, start_time, expected] of DUE) {
  test(`a reminder is sent at the same wall time on the day before: ${why}, ${timeZone}`, async () => {
    app.clock.set('2026-03-01T09:00:00Z');
    const company = await app.company({ timeZone });
    const times = { start_time, end_time: '2028-12-31 12:00:00' };
    const flags = { email_notification: true, sms_notification: true };
    const booked = await book(company, { ...times, ...flags, ...recipients(company) });
    const moved = await book(company, { end_time: '2029-01-01 12:00:00', ...flags, ...recipients(company) });
    await moved.update(times);
    for (const appointment of [booked, moved]) {
      for (const channel of CHANNELS) assert.equal(await due(appointment, channel), expected);
      const { email_day_before, sms_day_before } = await appointment.read();
      assert.deepEqual([email_day_before, sms_day_before], [1, 1]);
    }
  });
}

test('at any start a reminder is due at the same wall time one day earlier', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true });
  const minute = (from: string) => Temporal.Instant.from(from).epochMilliseconds / 60_000;
  const near = (from: string) => fc.integer({ min: minute(from), max: minute(from) + 72 * 60 });
  const starts = fc.oneof(near('2026-10-24T00:00Z'), near('2027-03-27T00:00Z'), near('2026-07-15T00:00Z'));
  await fc.assert(
    fc.asyncProperty(starts, async (start) => {
      const instant = Temporal.Instant.fromEpochMilliseconds(start * 60_000);
      await appointment.move(instant.toString());
      const dayBefore = instant.toZonedDateTimeISO('Europe/London').subtract({ days: 1 }).toInstant();
      assert.equal(await due(appointment), dayBefore.toString());
    }),
    { numRuns: 40 },
  );
});

for (const [days, start_time, expected] of [
  [2, '2026-07-15 10:00:00', '2026-07-13T09:00:00Z'],
  [3, '2026-10-27 09:00:00', '2026-10-24T08:00:00Z'],
  [2, '2026-10-27 01:30:00', '2026-10-25T00:30:00Z'],
  [7, '2027-04-04 01:30:00', '2027-03-28T01:30:00Z'],
  [30, '2026-07-31 10:00:00', '2026-07-01T09:00:00Z'],
] as const) {
  test(`a company may have its reminders ${days} days before, at the same wall time: ${start_time}`, async () => {
    const company = await app.company();
    await setLeadDays(company, days);
    const appointment = await book(company, { ...at(start_time), ...recipients(company), email_notification: true });
    assert.equal(await due(appointment), expected);
    assert.equal(appointment.answer.email_day_before, 0);
  });
}

test('booked later than the lead of the company, a reminder is sent one hour before', async () => {
  const company = await app.company();
  await setLeadDays(company, 7);
  const appointment = await book(company, {
    ...at('2026-06-05 10:00:00'),
    ...recipients(company),
    email_notification: true,
  });
  assert.equal(await due(appointment), '2026-06-05T08:00:00Z');
});

const BOUNDARIES: [why: string, now: string, word: string, due: string | undefined, dayBefore: number][] = [
  ['an instant before the day before', '2026-06-09T08:59:59.999999Z', 'scheduled', '2026-06-09T09:00:00Z', 1],
  ['exactly one day before', '2026-06-09T09:00:00Z', 'scheduled', '2026-06-09T09:00:00Z', 1],
  ['an instant later than one day before', '2026-06-09T09:00:00.000001Z', 'scheduled', '2026-06-10T08:00:00Z', 0],
  ['two hours before', '2026-06-10T07:00:00Z', 'scheduled', '2026-06-10T08:00:00Z', 0],
  ['exactly one hour before', '2026-06-10T08:00:00Z', 'scheduled', '2026-06-10T08:00:00Z', 0],
  ['an instant later than one hour before', '2026-06-10T08:00:00.000001Z', 'skipped', undefined, 0],
  ['at the start', '2026-06-10T09:00:00Z', 'skipped', undefined, 0],
  ['after the end', '2026-06-11T09:00:00Z', 'skipped', undefined, 0],
];

for (const [why, now, word, expected, dayBefore] of BOUNDARIES) {
  for (const [flag, channel] of REMINDERS) {
    test(`${flag} asked for ${why} is ${word}, ${expected ? `due ${expected}` : 'never due'}`, async () => {
      app.clock.set('2026-06-01T09:00:00Z');
      const company = await app.company();
      const early = await book(company, recipients(company));
      const moved = await book(company, { ...at('2026-08-01 10:00:00'), ...recipients(company), [flag]: true });
      app.clock.set(now);
      const booked = await book(company, { ...recipients(company), [flag]: true });
      const answers = [
        [booked, booked.answer],
        [early, await early.update({ [flag]: true })],
        [moved, await moved.move('2026-06-10 10:00:00')],
      ] as const;
      for (const [appointment, answer] of answers) {
        assert.equal(answer[flag], word);
        assert.equal(answer[`${channel}_day_before`], dayBefore);
        if (expected) assert.equal(await due(appointment, channel), expected);
        assert.equal((await scheduled(appointment)).length, expected ? 1 : 0);
      }
    });
  }
}

test('one hour before the start is an hour that passes, also over a clock change', async () => {
  for (const [now, start, expected] of [
    ['2026-03-28T12:00:00Z', '2026-03-29 02:15:00', '2026-03-29T00:15:00Z'],
    ['2026-10-24T12:00:00Z', '2026-10-25T01:15:00Z', '2026-10-25T00:15:00Z'],
    ['2026-10-24T12:00:00Z', '2026-10-25 02:15:00', '2026-10-25T01:15:00Z'],
  ] as const) {
    app.clock.set(now);
    const company = await app.company();
    const appointment = await book(company, { ...at(start), ...recipients(company), email_notification: true });
    assert.equal(await due(appointment), expected);
  }
});

test('a reminder on the day the clocks change is one wall day before, not 24 hours', async () => {
  app.clock.set('2026-10-24T08:30:00Z');
  const company = await app.company();
  const appointment = await book(company, {
    ...at('2026-10-25 09:00:00'),
    ...recipients(company),
    email_notification: true,
  });
  assert.equal(await due(appointment), '2026-10-25T08:00:00Z');
});

test('the day-before field of a channel is that of its own reminder', async () => {
  const company = await app.company();
  const days = ({ email_day_before, sms_day_before }: { email_day_before: number; sms_day_before: number }) => [
    email_day_before,
    sms_day_before,
  ];
  const appointment = await book(company, { ...recipients(company), email_notification: true, sms_confirmation: true });
  assert.deepEqual(days(appointment.answer), [1, 0]);
  assert.deepEqual(days(await appointment.update({ email_notification: false })), [0, 0]);
  assert.deepEqual(days(await appointment.update({ sms_notification: true })), [0, 1]);
  assert.deepEqual(days(await appointment.update({ sms_recipient: null })), [0, 0]);
  assert.deepEqual(days((await book(company, { email_notification: true })).answer), [0, 0]);
});

test('a reminder one hour before a start just after midnight is due on the day before', async () => {
  const company = await app.company();
  app.clock.set('2026-06-09T12:00:00Z');
  const late = { ...at('2026-06-10 00:30:00'), ...recipients(company), email_notification: true };
  const appointment = await book(company, late);
  assert.equal(await due(appointment), '2026-06-09T22:30:00Z');
  assert.equal(appointment.answer.email_day_before, 1);
});

test('a confirmation is due immediately', async () => {
  const company = await app.company();
  const asked = { email_confirmation: true, sms_confirmation: true };
  const booked = await book(company, { ...recipients(company), ...asked });
  const updated = await book(company, recipients(company));
  await updated.update(asked);
  for (const appointment of [booked, updated]) {
    for (const channel of CHANNELS) {
      assert.equal(await due(appointment, channel, 'confirmation'), '2026-06-01T09:00:00Z');
    }
  }
});

test('in a zone that skips a whole day, a reminder that would be due at the start is due one hour before', async () => {
  app.clock.set('2011-12-01T00:00:00Z');
  const company = await app.company({ timeZone: 'Pacific/Apia' });
  // Apia had no 30 December 2011: the wall time of the start on that day is the start itself.
  for (const [start, expected] of [
    ['2011-12-31 10:00:00', '2011-12-30T19:00:00Z'],
    ['2011-12-31 00:30:00', '2011-12-30T09:30:00Z'],
    ['2012-01-01 10:00:00', '2011-12-30T20:00:00Z'],
  ] as const) {
    const end = start.replace(':00:00', ':45:00').replace(':30:00', ':45:00');
    const times = { start_time: start, end_time: end };
    const appointment = await book(company, { ...recipients(company), ...times, email_notification: true });
    assert.equal(appointment.answer.email_notification, 'scheduled');
    assert.equal(await due(appointment, 'email'), expected);
  }
});
