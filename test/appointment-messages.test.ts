import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { overlapping } from './harness/overlap.ts';

const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

type Fields = Record<string, unknown>;
type Message = { channel: string; kind: string; state: string; start: string; due: string };
type Channel = (typeof CHANNELS)[number];
type Kind = 'confirmation' | 'reminder';

const CHANNELS = ['email', 'sms'] as const;
const MESSAGES: [flag: string, channel: Channel, kind: Kind][] = [
  ['email_confirmation', 'email', 'confirmation'],
  ['email_notification', 'email', 'reminder'],
  ['sms_confirmation', 'sms', 'confirmation'],
  ['sms_notification', 'sms', 'reminder'],
];
const CONFIRMATIONS = MESSAGES.filter(([, , kind]) => kind === 'confirmation');
const REMINDERS = MESSAGES.filter(([, , kind]) => kind === 'reminder');
const STATES = [...MESSAGES.map(([flag]) => flag), 'email_day_before', 'sms_day_before'];
const ALL_FLAGS = Object.fromEntries(MESSAGES.map(([flag]) => [flag, true]));

const recipients = (company: TestCompany) => ({
  email_recipient: company.customers[0].email,
  sms_recipient: '07400 123456',
});

/** An appointment and its answers; unless told otherwise on 10 June at 10:00 wall time, an hour long. */
async function book(company: TestCompany, more: Fields = {}) {
  const times = { start_time: '2026-06-10 10:00:00', end_time: '2026-06-10 11:00:00' };
  const answer = await ok(
    company.post(`${company.path}/appointments`, { adviser_email: company.adviser, ...times, ...more }),
  );
  const path = `${company.path}/appointments/${answer.id}`;
  return {
    id: answer.id as string,
    path,
    answer,
    update: (body: Fields) => ok(company.patch(path, body)),
    move: (start_time: string, more: Fields = {}) =>
      ok(company.patch(path, { start_time, end_time: hourAfter(start_time), ...more })),
    /** There is no operation that only reads; an update that sends nothing shows the record. */
    read: () => ok(company.patch(path, {})),
  };
}

type Appointment = Awaited<ReturnType<typeof book>>;

const at = (start_time: string) => ({ start_time, end_time: hourAfter(start_time) });

function hourAfter(time: string): string {
  if (time.endsWith('Z')) return Temporal.Instant.from(time).add({ hours: 1 }).toString();
  const end = Temporal.PlainDateTime.from(time.replace(' ', 'T')).toZonedDateTime('Europe/London').add({ hours: 1 });
  return end.toInstant().toString();
}

function messages({ id }: Appointment): Promise<Message[]> {
  const utc = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  return app.sql<Message>(
    `SELECT channel, kind, state, ${utc('start_at')} AS start, ${utc('due_at')} AS due
     FROM messages WHERE appointment_id = $1 ORDER BY channel, kind, created_at, id`,
    [id],
  );
}

async function states(appointment: Appointment, channel: Channel, kind: Kind): Promise<string[]> {
  const all = await messages(appointment);
  return all.filter((one) => one.channel === channel && one.kind === kind).map(({ state }) => state);
}

async function scheduled(appointment: Appointment, channel?: Channel, kind?: Kind): Promise<Message[]> {
  const all = await messages(appointment);
  return all.filter(
    (one) => one.state === 'scheduled' && one.channel === (channel ?? one.channel) && one.kind === (kind ?? one.kind),
  );
}

/** When the one waiting message is due; it fails where there is none or more than one. */
async function due(appointment: Appointment, channel: Channel = 'email', kind: Kind = 'reminder'): Promise<string> {
  const waiting = await scheduled(appointment, channel, kind);
  assert.equal(waiting.length, 1, JSON.stringify(waiting));
  return waiting[0]?.due ?? '';
}

/** Every column of every row: what an update that sends nothing must leave alone. */
const rows = ({ id }: Appointment) => app.sql('SELECT * FROM messages WHERE appointment_id = $1 ORDER BY id', [id]);

async function assertUntouched(appointment: Appointment, act: () => Promise<unknown>): Promise<void> {
  const before = await rows(appointment);
  assert.notEqual(before.length, 0);
  await act();
  assert.deepEqual(await rows(appointment), before);
}

/** Sending is another step's work: it is done here by hand, for what is waiting. */
async function deliver({ id }: Appointment, state: 'sent' | 'failed' = 'sent', kind = '%'): Promise<void> {
  const sql = `UPDATE messages SET state = $2 WHERE appointment_id = $1 AND state = 'scheduled' AND kind LIKE $3`;
  await app.sql(sql, [id, state, kind]);
}

async function setLeadDays(company: TestCompany, days: number): Promise<void> {
  await app.sql('UPDATE companies SET reminder_lead_days = $2 WHERE id = $1', [company.companyId, days]);
  app.clock.advance({ seconds: 3 });
}

// The words

for (const [flag, channel, kind] of MESSAGES) {
  test(`${flag} is null, and no message is made, unless it was asked for`, async () => {
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
    test(`${flag}: ${no} withdraws what has not gone out`, async () => {
      const company = await app.company();
      const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
      const answer = await appointment.update({ [flag]: no });
      for (const [name] of MESSAGES) assert.equal(answer[name], name === flag ? 'cancelled' : 'scheduled', name);
      assert.deepEqual(await states(appointment, channel, kind), ['cancelled']);
      assert.equal((await scheduled(appointment)).length, 3);
      assert.equal((await appointment.read())[flag], 'cancelled');
    });

    test(`${flag}: ${no} leaves what has gone out`, async () => {
      const company = await app.company();
      const appointment = await book(company, { ...recipients(company), [flag]: true });
      await deliver(appointment);
      assert.equal((await appointment.update({ [flag]: no }))[flag], 'sent');
      assert.deepEqual(await states(appointment, channel, kind), ['sent']);
    });
  }

  test(`${flag} can be asked for again after it was withdrawn`, async () => {
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
  test(`a reminder goes out at the same wall time on the day before: ${why}, ${timeZone}`, async () => {
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

test('booked later than the lead of the company, a reminder goes out one hour before', async () => {
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

test('a confirmation is due at once', async () => {
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

  test(`moving the start after the reminder of the old one went out makes a new one: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    app.clock.set('2026-06-09T12:00:00Z');
    await deliver(appointment);
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-19T09:00:00Z');
    assert.deepEqual((await states(appointment, channel, 'reminder')).sort(), ['scheduled', 'sent']);
  });

  test(`moving back to a start whose reminder went out sends no second: ${flag}`, async () => {
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

  test(`a reminder that went out is not sent again because it is asked for again: ${flag}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    await assertUntouched(appointment, async () => {
      for (const asked of [true, false, true]) {
        assert.equal((await appointment.update({ [flag]: asked }))[flag], 'sent');
      }
    });
  });

  test(`a reminder that waits beyond its hour keeps it when it is asked for again: ${flag}`, async () => {
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

test('moving away and back before anything went out leaves one reminder, for the first start', async () => {
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
    { email_recipient: 'nobody@client.example' },
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

// Confirmations

for (const [flag, channel, kind] of CONFIRMATIONS) {
  test(`${flag} asked for again after it went out makes exactly one new message`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    app.clock.advance({ hours: 1 });
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
      assert.deepEqual((await states(appointment, channel, kind)).sort(), ['scheduled', 'sent']);
    }
    await deliver(appointment);
    assert.equal((await appointment.read())[flag], 'sent');
    assert.equal((await appointment.move('2026-06-20 10:00:00', { [flag]: true }))[flag], 'scheduled');
    assert.deepEqual((await states(appointment, channel, kind)).sort(), ['scheduled', 'sent', 'sent']);
  });

  test(`${flag} asked for again after it failed is tried again`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment, 'failed');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });

  test(`${flag} of a request that withdraws the second leaves the first as it went out`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    await appointment.update({ [flag]: true });
    await appointment.update({ [flag]: false });
    assert.deepEqual((await states(appointment, channel, kind)).sort(), ['cancelled', 'sent']);
  });

  test(`${flag} without a recipient stays skipped when one is added, until it is asked for again`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    assert.equal((await appointment.update(recipients(company)))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });

  test(`${flag} that waits is skipped when its recipient is cleared`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.update({ [`${channel}_recipient`]: null }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} that waits stays one when the recipient changes`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    const others = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' };
    assert.equal((await appointment.update(others))[flag], 'scheduled');
    assert.deepEqual(await states(appointment, channel, kind), ['scheduled']);
  });

  test(`${flag} goes out for an appointment under way, and is skipped for one that is over`, async () => {
    const company = await app.company();
    const early = await book(company, recipients(company));
    app.clock.set('2026-06-10T09:59:59Z');
    assert.equal((await book(company, { ...recipients(company), [flag]: true })).answer[flag], 'scheduled');
    for (const now of ['2026-06-10T10:00:00Z', '2026-06-11T09:00:00Z']) {
      app.clock.set(now);
      const over = await book(company, { ...recipients(company), [flag]: true });
      assert.equal(over.answer[flag], 'skipped');
      assert.equal((await early.update({ [flag]: true }))[flag], 'skipped');
      for (const appointment of [over, early]) assert.deepEqual(await scheduled(appointment), []);
    }
  });

  test(`${flag} that still waits when the appointment is over, asked for again, is skipped and does not wait on`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    app.clock.set('2026-06-11T09:00:00Z');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} of an appointment that is over is made when it is moved and asked for again`, async () => {
    const company = await app.company();
    app.clock.set('2026-06-12T09:00:00Z');
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'skipped');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });
}

// Recipients of reminders

for (const [flag, channel] of REMINDERS) {
  const field = `${channel}_recipient` as const;

  test(`${flag} is scheduled when a recipient is added later, and skipped when it is cleared`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    assert.equal(appointment.answer[`${channel}_day_before`], 0);
    for (let round = 0; round < 2; round += 1) {
      const added = await appointment.update({ [field]: recipients(company)[field] });
      assert.equal(added[flag], 'scheduled');
      assert.equal(added[`${channel}_day_before`], 1);
      assert.equal(await due(appointment, channel), '2026-06-09T09:00:00Z');
      const cleared = await appointment.update({ [field]: null });
      assert.equal(cleared[flag], 'skipped');
      assert.equal(cleared[`${channel}_day_before`], 0);
      assert.deepEqual(await scheduled(appointment), []);
    }
  });

  test(`${flag} that was not asked for is not made by a recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company);
    assert.equal((await appointment.update(recipients(company)))[flag], null);
    assert.deepEqual(await messages(appointment), []);
  });

  test(`${flag} that was withdrawn is not made by a recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.update({ [flag]: false });
    await appointment.update({ [field]: null });
    await appointment.update({ [field]: recipients(company)[field] });
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} whose recipient comes too late stays skipped`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    app.clock.set('2026-06-10T08:30:00Z');
    assert.equal((await appointment.update({ [field]: recipients(company)[field] }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} whose recipient comes on the last day goes out one hour before`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    app.clock.set('2026-06-09T12:00:00Z');
    const answer = await appointment.update({ [field]: recipients(company)[field] });
    assert.equal(answer[flag], 'scheduled');
    assert.equal(answer[`${channel}_day_before`], 0);
    assert.equal(await due(appointment, channel), '2026-06-10T08:00:00Z');
  });

  test(`${flag} stays one, and keeps its hour, when the recipient changes`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    const other = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' }[field];
    assert.equal((await appointment.update({ [field]: other }))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-09T09:00:00Z');
  });

  test(`${flag} that went out is not sent again to another recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    const other = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' }[field];
    for (const value of [other, null, recipients(company)[field]]) {
      assert.equal((await appointment.update({ [field]: value }))[flag], 'sent');
      assert.deepEqual(await states(appointment, channel, 'reminder'), ['sent']);
    }
  });

  test(`${flag} follows a request that moves the start and changes the recipient at once`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.move('2026-06-20 10:00:00', { [field]: null }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    const back = await appointment.move('2026-06-22 10:00:00', { [field]: recipients(company)[field] });
    assert.equal(back[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-21T09:00:00Z');
  });

  test(`${flag} whose recipient was cleared moves without one`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.update({ [field]: null });
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    assert.equal((await appointment.update({ [field]: recipients(company)[field] }))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-19T09:00:00Z');
  });
}

// Deleting

for (const how of ['DELETE', 'POST']) {
  test(`${how} withdraws every message that has not gone out, and only those`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await deliver(appointment, 'sent', 'confirmation');
    await ok(company.send(how, appointment.path));
    for (const channel of CHANNELS) {
      assert.deepEqual(await states(appointment, channel, 'confirmation'), ['sent']);
      assert.deepEqual(await states(appointment, channel, 'reminder'), ['cancelled']);
    }
    const waiting = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await ok(company.send(how, waiting.path));
    assert.deepEqual(
      (await messages(waiting)).map(({ state }) => state),
      Array(4).fill('cancelled'),
    );
  });

  test(`nothing brings messages back after ${how}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await ok(company.send(how, appointment.path));
    await assertUntouched(appointment, async () => {
      for (const [method, body] of [
        ['PATCH', ALL_FLAGS],
        ['POST', { ...at('2026-06-20 10:00:00'), ...ALL_FLAGS }],
        ['POST', undefined],
        ['DELETE', undefined],
      ] as const) {
        assert.equal((await company.send(method, appointment.path, body)).status, 404);
      }
    });
  });
}

test('a deletion that is refused withdraws nothing', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const other = await app.company();
  await assertUntouched(appointment, async () => {
    assert.equal((await other.delete(appointment.path)).status, 404);
    assert.equal((await company.delete(appointment.path, { 'content-type': undefined })).status, 400);
    assert.equal((await company.post(appointment.path, 'null')).status, 400);
    assert.equal((await company.post(appointment.path, '{}'.padEnd(1024 * 1024 + 1))).status, 413);
  });
});

// At once

async function assertAtMostOneEach(appointment: Appointment): Promise<void> {
  for (const [flag, channel, kind] of MESSAGES) {
    const waiting = await scheduled(appointment, channel, kind);
    assert.ok(waiting.length <= 1, `${flag}: ${JSON.stringify(waiting)}`);
  }
}

async function tenAtOnce(send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => send(index)));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  return answers;
}

test('ten moves at once leave one reminder per channel, for the start that stands', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const starts = Array.from({ length: 10 }, (_, index) => `2026-06-${20 + (index % 5)} 10:00:00`);
  await tenAtOnce((index) => company.patch(appointment.path, { ...at(starts[index] ?? ''), ...ALL_FLAGS }));
  const { start_time } = await appointment.read();
  const stands = Temporal.Instant.from(start_time);
  for (const channel of CHANNELS) {
    const reminders = await scheduled(appointment, channel, 'reminder');
    assert.deepEqual(
      reminders.map(({ start, due }) => [start, due]),
      [[stands.toString(), stands.subtract({ hours: 24 }).toString()]],
    );
    assert.equal((await scheduled(appointment, channel, 'confirmation')).length, 1);
  }
});

test('ten requests at once for everything make one message each', async () => {
  const company = await app.company();
  const appointment = await book(company);
  await tenAtOnce(() => company.patch(appointment.path, { ...recipients(company), ...ALL_FLAGS }));
  assert.deepEqual(
    (await messages(appointment)).map(({ state }) => state),
    Array(4).fill('scheduled'),
  );
});

test('ten requests at once to confirm again make one new confirmation', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  await deliver(appointment);
  await tenAtOnce(() => company.post(appointment.path, ALL_FLAGS));
  for (const [, channel, kind] of MESSAGES) {
    const expected = kind === 'confirmation' ? ['scheduled', 'sent'] : ['sent'];
    assert.deepEqual((await states(appointment, channel, kind)).sort(), expected);
  }
});

test('requests for and against at once leave the words and the messages in agreement', async () => {
  const company = await app.company();
  const appointment = await book(company, recipients(company));
  await tenAtOnce((index) =>
    company.patch(appointment.path, Object.fromEntries(MESSAGES.map(([flag]) => [flag, index % 2 === 0]))),
  );
  await assertAtMostOneEach(appointment);
  const answer = await appointment.read();
  for (const [flag, channel, kind] of MESSAGES) {
    assert.ok(['scheduled', 'cancelled', null].includes(answer[flag]), String(answer[flag]));
    assert.equal((await scheduled(appointment, channel, kind)).length, answer[flag] === 'scheduled' ? 1 : 0, flag);
  }
});

test('recipients set and cleared at once leave the words and the messages in agreement', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true, sms_notification: true });
  const nobody = { email_recipient: null, sms_recipient: null };
  await tenAtOnce((index) => company.patch(appointment.path, index % 2 ? recipients(company) : nobody));
  const answer = await appointment.read();
  for (const [flag, channel, kind] of REMINDERS) {
    const expected = answer[`${channel}_recipient`] ? 'scheduled' : 'skipped';
    assert.equal(answer[flag], expected);
    assert.equal((await scheduled(appointment, channel, kind)).length, expected === 'scheduled' ? 1 : 0);
  }
});

test('a deletion among nine updates leaves nothing scheduled', async () => {
  const company = await app.company();
  for (let round = 0; round < 3; round += 1) {
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    const update = (day: number) => company.patch(appointment.path, { ...at(`2026-06-${day} 10:00:00`), ...ALL_FLAGS });
    const days = [21, 22, 23, 24, 25, 26, 27, 28, 29];
    const [deleted, ...updated] = await Promise.all([company.delete(appointment.path), ...days.map(update)]);
    assert.equal(deleted?.status, 200, deleted?.text);
    for (const answer of updated) assert.ok([200, 404].includes(answer.status), answer.text);
    assert.deepEqual(await scheduled(appointment), []);
  }
});

/** Holds the appointment until every request waits for it, so that they continue in the order in which they came. */
const inTurn = ({ id }: Appointment, requests: (() => Promise<Answer>)[]) =>
  overlapping(app, [['SELECT 1 FROM appointments WHERE id = $1 FOR UPDATE', [id]]], requests);

for (const how of ['DELETE', 'POST']) {
  test(`${how} right behind a move withdraws the reminders that the move has just made`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    const answers = await inTurn(appointment, [
      () => company.patch(appointment.path, at('2026-06-20 10:00:00')),
      () => company.send(how, appointment.path),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    assert.deepEqual(await scheduled(appointment), []);
  });
}

test('a move right behind a deletion finds nothing and makes no reminder', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const answers = await inTurn(appointment, [
    () => company.delete(appointment.path),
    () => company.patch(appointment.path, at('2026-06-20 10:00:00')),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404],
  );
  assert.deepEqual(await scheduled(appointment), []);
});

test('a move right behind a move leaves the reminder of the last', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const days = [20, 21, 22];
  const answers = await inTurn(
    appointment,
    days.map((day) => () => company.patch(appointment.path, at(`2026-06-${day} 10:00:00`))),
  );
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const { start_time } = await appointment.read();
  const stands = Temporal.Instant.from(start_time).toString();
  for (const channel of CHANNELS) {
    const reminders = await scheduled(appointment, channel, 'reminder');
    assert.deepEqual(
      reminders.map(({ start }) => start),
      [stands],
    );
  }
});

// Any order of things

for (const channel of CHANNELS) {
  test(`in any order of moves, flags, recipients and deliveries nothing is sent twice or lost: ${channel}`, async () => {
    const company = await app.company();
    const confirmation = `${channel}_confirmation`;
    const reminder = `${channel}_notification`;
    const [soon, later, tooLate] = ['2026-06-10T09:00:00Z', '2026-06-20T14:00:00Z', '2026-06-01T09:30:00Z'] as const;
    const update = fc.record(
      {
        start: fc.constantFrom(soon, later, tooLate),
        reminder: fc.boolean(),
        confirmation: fc.boolean(),
        recipient: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const step = fc.oneof({ weight: 4, arbitrary: update }, { weight: 1, arbitrary: fc.constant('delivery' as const) });

    type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
    const follow = async (steps: Step[]) => {
      const appointment = await book(company, at(soon));
      const model = { start: soon as string, reminder: false, recipient: false, confirming: false, confirmed: 0 };
      const reminded: string[] = [];
      for (const one of steps) {
        const due = () =>
          model.reminder && model.recipient && model.start !== tooLate && !reminded.includes(model.start);
        if (one === 'delivery') {
          await deliver(appointment);
          if (due()) reminded.push(model.start);
          if (model.confirming) model.confirmed += 1;
          model.confirming = false;
        } else {
          model.start = one.start ?? model.start;
          model.reminder = one.reminder ?? model.reminder;
          model.recipient = one.recipient ?? model.recipient;
          model.confirming = (one.confirmation ?? model.confirming) && model.recipient;
          const body: Fields = { ...(one.start && at(one.start)) };
          if (one.reminder !== undefined) body[reminder] = one.reminder;
          if (one.confirmation !== undefined) body[confirmation] = one.confirmation;
          if (one.recipient !== undefined) {
            body[`${channel}_recipient`] = one.recipient ? recipients(company)[`${channel}_recipient`] : null;
          }
          const answer = await appointment.update(body);
          // An update works out the states by itself, or looks them up; a read always looks them up.
          const stored = await ok(company.get(appointment.path));
          for (const field of STATES) assert.equal(answer[field], stored[field], field);
        }
        const made = await messages(appointment);
        const starts = (kind: Kind, state: string) =>
          made.filter((message) => message.kind === kind && message.state === state).map(({ start }) => start);
        assert.deepEqual(starts('reminder', 'scheduled'), due() ? [model.start] : []);
        assert.deepEqual(starts('reminder', 'sent').sort(), [...reminded].sort());
        assert.equal(starts('confirmation', 'scheduled').length, model.confirming ? 1 : 0);
        assert.equal(starts('confirmation', 'sent').length, model.confirmed);
        const answer = await appointment.read();
        if (model.confirming) assert.equal(answer[confirmation], 'scheduled');
        if (due()) assert.equal(answer[reminder], 'scheduled');
        else if (reminded.includes(model.start)) assert.equal(answer[reminder], 'sent');
        else if (model.reminder) assert.equal(answer[reminder], 'skipped');
        else assert.notEqual(answer[reminder], 'scheduled');
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), follow), { numRuns: 60 });
  });
}
