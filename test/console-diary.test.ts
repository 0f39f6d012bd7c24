import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, isDay } from '../console/components/time.ts';
import {
  axisOf,
  type Block,
  blocksOf,
  instantAtRow,
  instantOf,
  instantsOf,
  missingRows,
  ROW_MS,
  rowAt,
  type Span,
  weekOf,
} from '../console/screens/diary/axis.ts';
import { afterKey } from '../console/screens/diary/chosen.ts';
import { type Notice, noticesOfEnding, noticesOfSaving, type Plan } from '../console/screens/diary/notices.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { messageWorker } from './harness/message-worker.ts';

/** The times of the diary, and what it says that a change will send. The screen is in test/browser/console-diary.test.ts. */

const app = await startApp();
const LONDON = 'Europe/London';
const at = (iso: string) => Date.parse(iso);
const utc = (time: number | undefined) => new Date(time ?? Number.NaN).toISOString().slice(0, 16);

const CLOCK_CHANGES = [
  ...['Europe/London 2026-03-29', 'Europe/London 2026-10-25', 'America/New_York 2026-11-01', 'Africa/Cairo 2026-04-24'],
  ...['Australia/Lord_Howe 2026-04-05', 'Australia/Lord_Howe 2026-10-04', 'America/Havana 2026-11-01'],
  ...['Asia/Beirut 2026-03-29', 'Pacific/Chatham 2026-09-27', 'Asia/Kathmandu 2026-06-01'],
] as const;

for (const place of CLOCK_CHANGES) {
  const [timeZone = '', day = ''] = place.split(' ');
  test(`${place}: a wall time is the instant as which the service reads it`, () => {
    for (const offset of [-1, 0, 1]) {
      for (let minute = 0; minute < 24 * 60; minute += 5) {
        const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
        const wall = `${addDays(day, offset)}T${time}`;
        const plain = Temporal.PlainDateTime.from(wall);
        const expected = plain.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds;
        assert.equal(instantOf(wall, timeZone), expected, wall);
      }
    }
  });

  test(`${place}: every quarter of an hour of the day has one row, and every row of a day is a quarter of an hour`, () => {
    const zoned = Temporal.PlainDate.from(day).toZonedDateTime(timeZone);
    const { rows, days } = axisOf(weekOf(day), timeZone);
    const own = days.find((one) => one.day === day);
    const slots = own?.slots.filter((slot) => slot !== undefined) ?? [];
    assert.equal(slots.length, zoned.hoursInDay * 4);
    assert.equal(slots[0], zoned.startOfDay().epochMilliseconds);
    for (const [i, slot] of slots.entries()) assert.equal(slot, (slots[0] ?? 0) + i * ROW_MS);
    for (const [row, slot] of (own?.slots ?? []).entries()) {
      assert.equal(slots.includes(slot ?? -1), slot !== undefined);
      if (slot === undefined) continue;
      const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(slot).toZonedDateTimeISO(timeZone);
      assert.equal(hour * 60 + minute, rows[row]?.minute);
    }
  });
}

test('the hour that the clocks repeat is there twice, and on the other days of the week only once', () => {
  const { rows, days } = axisOf(weekOf('2026-10-25'), LONDON);
  assert.equal(rows.length, 100);
  assert.deepEqual(
    rows.slice(4, 12).map(({ minute, isSecond }) => [minute, isSecond]),
    [...[60, 75, 90, 105].map((minute) => [minute, false]), ...[60, 75, 90, 105].map((minute) => [minute, true])],
  );
  const [saturday, sunday] = days.slice(5);
  assert.deepEqual(saturday && missingRows(saturday), [{ top: 8, bottom: 12 }]);
  assert.deepEqual(sunday && missingRows(sunday), []);
  assert.deepEqual(instantsOf('2026-10-25T01:30', LONDON).map(utc), ['2026-10-25T00:30', '2026-10-25T01:30']);
  assert.equal(sunday && rowAt(at('2026-10-25T01:30Z'), sunday), 10);
});

test('the hour that the clocks skip is a gap: a start stands after it, an end before it, a press in it means its end', () => {
  const { days } = axisOf(['2026-03-29'], LONDON);
  const [day] = days;
  assert.ok(day);
  assert.deepEqual(missingRows(day), [{ top: 4, bottom: 8 }]);
  const change = at('2026-03-29T01:00Z');
  assert.equal(rowAt(change, day), 8);
  assert.equal(rowAt(change, day, { isEnd: true }), 4);
  for (const row of [4, 5, 7]) assert.equal(instantAtRow(row, day), change);
  assert.equal(utc(instantOf('2026-03-29T01:30', LONDON)), '2026-03-29T01:30');
});

test('appointments that overlap are beside one another, others have the whole width', () => {
  const { days } = axisOf(['2026-06-01'], LONDON);
  const [day] = days;
  assert.ok(day);
  const span = (name: string, from: string, to: string) => ({
    name,
    start: instantOf(`2026-06-01T${from}`, LONDON),
    end: instantOf(`2026-06-01T${to}`, LONDON),
  });
  const placed = (...spans: ReturnType<typeof span>[]) =>
    blocksOf(spans, day).map(({ of, lane, lanes }) => `${of.name} ${lane + 1}/${lanes}`);
  assert.deepEqual(placed(span('a', '09:00', '10:00'), span('b', '10:00', '11:00')), ['a 1/1', 'b 1/1']);
  assert.deepEqual(placed(span('a', '09:00', '11:00'), span('b', '10:00', '12:00'), span('c', '11:00', '12:00')), [
    ...['a 1/2', 'b 2/2', 'c 1/2'],
  ]);
  // One of five minutes is drawn as half an hour, so it would cover one that follows it.
  assert.deepEqual(placed(span('a', '09:00', '09:05'), span('b', '09:15', '10:00')), ['a 1/2', 'b 2/2']);
});

test('whatever the appointments are, no two overlap in one lane, and each is within its day', () => {
  const { days } = axisOf(['2026-10-25'], LONDON);
  const [day] = days;
  assert.ok(day);
  const first = at('2026-10-24T20:00Z');
  let seed = 7;
  const random = (max: number) => {
    seed = (seed * 16807) % 2147483647;
    return seed % max;
  };
  for (let round = 0; round < 200; round++) {
    const spans = Array.from({ length: 1 + random(14) }, () => {
      const start = first + random(30 * 60) * 60_000;
      return { start, end: start + (1 + random(300)) * 60_000 };
    });
    const blocks: Block<Span>[] = blocksOf(spans, day);
    for (const one of blocks) {
      assert.ok(one.top >= 0 && one.bottom <= day.slots.length && one.top < one.bottom);
      assert.ok(one.lane < one.lanes);
      for (const other of blocks) {
        if (other === one || one.top >= other.bottom || other.top >= one.bottom) continue;
        assert.notEqual(one.lane, other.lane);
        assert.equal(one.lanes, other.lanes);
      }
    }
  }
});

test('keys move a time by quarters of an hour through clock changes, by day at the same wall time, and by adviser', () => {
  const chosen = { start: at('2026-03-29T00:45Z'), end: at('2026-03-29T02:00Z'), adviser: 'a', hasKeys: true };
  const week = { advisers: undefined, pageDays: 7, timeZone: LONDON };
  const pressed = (key: string, shiftKey = false, with_: Parameters<typeof afterKey>[2] = week) => {
    const after = afterKey(chosen, { key, shiftKey }, with_);
    return after && [utc(after.start), utc(after.end), after.adviser];
  };
  assert.deepEqual(pressed('ArrowDown'), ['2026-03-29T01:00', '2026-03-29T02:15', 'a']);
  assert.deepEqual(pressed('ArrowDown', true), ['2026-03-29T00:45', '2026-03-29T02:15', 'a']);
  assert.deepEqual(pressed('ArrowUp', true), ['2026-03-29T00:45', '2026-03-29T01:45', 'a']);
  // 00:45 on Monday is summer time.
  assert.deepEqual(pressed('ArrowRight'), ['2026-03-29T23:45', '2026-03-30T01:00', 'a']);
  assert.deepEqual(pressed('PageUp'), ['2026-03-22T00:45', '2026-03-22T02:00', 'a']);
  const day = { advisers: ['z', 'a', 'b'], pageDays: 1, timeZone: LONDON };
  assert.deepEqual(pressed('ArrowRight', false, day)?.[2], 'b');
  assert.deepEqual(pressed('ArrowLeft', false, day)?.[2], 'z');
  assert.equal(pressed('x'), undefined);
});

test('only days of the calendar are taken from the address', () => {
  for (const day of ['2026-02-29', '2026-13-01', '0001-01-01', 'today', '', null]) assert.equal(isDay(day), false);
  assert.equal(isDay('2028-02-29'), true);
});

const NOW = '2026-06-03T09:00:00Z';
const LEAD_DAYS = 1;

type Asked = Record<'email_confirmation' | 'email_notification' | 'sms_confirmation' | 'sms_notification', boolean>;
const nothing: Asked = {
  ...{ email_confirmation: false, email_notification: false },
  ...{ sms_confirmation: false, sms_notification: false },
};
const everything: Asked = {
  ...{ email_confirmation: true, email_notification: true },
  ...{ sms_confirmation: true, sms_notification: true },
};

type Fields = { start: string; end: string; email: string; sms: string; location: string } & Asked;

const planOf = (fields: Fields, isCancelled = false): Plan => ({
  start: at(fields.start),
  end: at(fields.end),
  location: fields.location,
  isCancelled,
  recipient: { email: fields.email, sms: fields.sms },
  reminder: { email: fields.email_notification, sms: fields.sms_notification },
});

const confirmOf = (fields: Asked) => ({ email: fields.email_confirmation, sms: fields.sms_confirmation });

const bodyOf = (company: TestCompany, { start, end, email, sms, ...rest }: Fields) => ({
  ...{ adviser_email: company.adviser, start_time: start, end_time: end },
  ...{ email_recipient: email || null, sms_recipient: sms || null, ...rest },
});

const messagesOf = async (company: TestCompany, appointmentID: string) =>
  (await company.client.listAppointmentMessages({ caseId: company.caseId, appointmentID })).data;

const knownOf = (messages: Awaited<ReturnType<typeof messagesOf>>) => ({
  ...{ messages, now: at(NOW), timeZone: LONDON, leadDays: LEAD_DAYS },
});

/** What the notices announce, as messages that wait: kind, channel and when they are due. */
const announced = (notices: readonly Notice[]) =>
  notices
    .flatMap((notice) => {
      if (notice.kind === 'reminder') return [`reminder ${notice.channel} ${utc(notice.due)}`];
      const isConfirmation = notice.kind === 'confirmation' || notice.kind === 'change' || notice.kind === 'again';
      if (isConfirmation) return [`confirmation ${notice.channel} ${NOW.slice(0, 16)}`];
      return notice.kind === 'cancellation' ? [`cancellation ${notice.channel} ${NOW.slice(0, 16)}`] : [];
    })
    .sort();

const waiting = (messages: Awaited<ReturnType<typeof messagesOf>>) =>
  messages
    .filter(({ state }) => state === 'scheduled')
    .map(({ kind, channel, due_at }) => `${kind} ${channel} ${due_at.slice(0, 16)}`)
    .sort();

const TIMES = {
  'next week': ['2026-06-10T13:00:00Z', '2026-06-10T14:00:00Z'],
  'in three hours': ['2026-06-03T12:00:00Z', '2026-06-03T12:30:00Z'],
  'in half an hour': ['2026-06-03T09:30:00Z', '2026-06-03T10:00:00Z'],
  'since an hour': ['2026-06-03T08:00:00Z', '2026-06-03T10:00:00Z'],
  yesterday: ['2026-06-02T08:00:00Z', '2026-06-02T09:00:00Z'],
  'after the clocks have gone back': ['2026-10-25T10:00:00Z', '2026-10-25T11:00:00Z'],
} as const;

test('what the diary says that a booking sends is what the service plans, for every time, recipient and wish', async () => {
  const company = await app.company();
  app.clock.set(NOW);
  const [{ email, phone }] = company.customers;
  for (const [name, [start, end]] of Object.entries(TIMES)) {
    for (const asked of [everything, nothing, { ...nothing, email_confirmation: true, sms_notification: true }]) {
      for (const [to, sms] of [
        [email, phone],
        ['', phone],
        ['', ''],
      ] as const) {
        const fields = { start, end, email: to, sms, location: '', ...asked };
        const notices = noticesOfSaving(planOf(fields), undefined, confirmOf(asked), knownOf([]));
        const { data } = await company.client.createCaseAppointment({
          caseId: company.caseId,
          body: bodyOf(company, fields),
        });
        const planned = waiting(await messagesOf(company, data.id));
        assert.deepEqual(announced(notices), planned, `${name} ${JSON.stringify(fields)}`);
      }
    }
  }
});

test('what the diary says that a change, a cancellation or an undoing sends is what the service plans', async () => {
  const company = await app.company();
  const [{ email, phone }, other] = company.customers;
  const sent: string[] = [];
  const worker = messageWorker(app, {
    email: { send: async () => ({ to: email, providerId: String(sent.push('email')) }), close() {} },
    sms: { send: async () => ({ to: '+447400123456', providerId: String(sent.push('sms')) }), close() {} },
  });
  const [start, end] = TIMES['next week'];
  const first: Fields = { start, end, email, sms: phone, location: 'Office', ...everything };
  const changes: Partial<Fields>[] = [
    { start: '2026-06-11T13:00:00Z', end: '2026-06-11T14:00:00Z', ...nothing, email_notification: true },
    { start: '2026-06-11T13:00:00Z', end: '2026-06-11T14:00:00Z', sms_confirmation: false },
    { location: 'Court', sms_confirmation: false },
    { email: other.email, sms: '' },
    { ...nothing },
    { start: '2026-06-03T09:30:00Z', end: '2026-06-03T10:00:00Z' },
    { start: '2026-06-02T09:30:00Z', end: '2026-06-02T10:00:00Z' },
  ];
  for (const change of changes) {
    app.clock.set('2026-06-03T08:50:00Z');
    const { data } = await company.client.createCaseAppointment({
      caseId: company.caseId,
      body: bodyOf(company, first),
    });
    const key = { caseId: company.caseId, appointmentID: data.id };
    sent.length = 0;
    await worker.runOnce();
    assert.deepEqual(sent.toSorted(), ['email', 'sms']);
    app.clock.set(NOW);
    const before = await messagesOf(company, data.id);
    const next = { ...first, ...change };
    const notices = noticesOfSaving(planOf(next), planOf(first), confirmOf(next), knownOf(before));
    const { adviser_email: _, ...body } = bodyOf(company, next);
    // As the form does it: only what differs, and a confirmation only if it is asked for.
    await company.client.updateCaseAppointment({
      ...key,
      body: {
        ...body,
        email_confirmation: next.email_confirmation || undefined,
        sms_confirmation: next.sms_confirmation || undefined,
        email_notification: next.email_notification === first.email_notification ? undefined : next.email_notification,
        sms_notification: next.sms_notification === first.sms_notification ? undefined : next.sms_notification,
      },
    });
    const after = await messagesOf(company, data.id);
    const unchanged = before
      .filter(({ id, state }) => state === 'scheduled' && after.some((one) => one.id === id && one.state === state))
      .map(({ kind, channel, due_at }) => `${kind} ${channel} ${due_at.slice(0, 16)}`);
    const planned = waiting(after).filter((one) => !unchanged.includes(one));
    const expected = announced(notices).filter((one) => !unchanged.includes(one));
    assert.deepEqual(expected, planned, JSON.stringify(change));

    const ending = noticesOfEnding(planOf(next), knownOf(after));
    await company.client.setAppointmentOutcome({ ...key, body: { cancelled: true } });
    assert.deepEqual(announced(ending), waiting(await messagesOf(company, data.id)), JSON.stringify(change));
  }
});

test('somebody who was told another time and is not told the new one is named, and so is who gets a change notice', () => {
  const told = {
    ...({ id: '1', appointment_id: '1', channel: 'email', kind: 'confirmation', state: 'sent', due_at: NOW } as const),
    ...{ sent_at: NOW, sent_to: 'Ann@client.example', attempts: 1, last_error: null },
  };
  const [start, end] = TIMES['next week'];
  const before: Fields = { start, end, email: 'ann@client.example', sms: '', location: '', ...nothing };
  const moved = { ...before, start: TIMES['in three hours'][0] };
  const saving = (next: Fields, confirm: boolean) =>
    noticesOfSaving(planOf(next), planOf(before), { email: confirm, sms: false }, knownOf([told]));
  assert.deepEqual(saving(moved, false), [{ kind: 'not_told', channel: 'email', to: 'Ann@client.example' }]);
  assert.deepEqual(saving(moved, true), [{ kind: 'change', channel: 'email', to: 'ann@client.example' }]);
  assert.deepEqual(saving(before, true), [{ kind: 'again', channel: 'email', to: 'ann@client.example' }]);
  assert.deepEqual(saving(before, false), [{ kind: 'nothing' }]);
  const cancellation = { ...told, id: '2', kind: 'cancellation' as const, sent_at: '2026-06-03T09:30:00Z' };
  const ended = noticesOfEnding(planOf(before), knownOf([told, cancellation]));
  assert.deepEqual(ended, [{ kind: 'nothing' }]);
});
