import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();
const NOW = '2026-06-01T09:00:00.000000Z';
const NOBODY = '019716a0-0000-7000-8000-000000000000';
const MIB = 1024 * 1024;
const UPDATE_METHODS = ['PATCH', 'POST'];
const FLAGS = ['email_confirmation', 'email_notification', 'sms_confirmation', 'sms_notification'];
const SMILE = '😀';

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

type Fields = Record<string, unknown>;

const appointmentsOf = (company: TestCompany) => `${company.path}/appointments`;

const everything = (company: TestCompany): Fields =>
  booking(company, {
    email_confirmation: true,
    email_notification: true,
    email_recipient: company.customers[0].email,
    sms_confirmation: true,
    sms_notification: true,
    sms_recipient: '07400 123456',
    notes: 'Bring the deeds',
    location: '1 High Street, Anytown',
    video_meeting: false,
  });

/** Books and gives the path of the appointment. */
async function book(company: TestCompany, more: Fields = {}): Promise<string> {
  const { id } = await ok(company.post(appointmentsOf(company), booking(company, more)));
  return `${appointmentsOf(company)}/${id}`;
}

/** There is no operation that only reads; an update that sends nothing shows the record. */
const read = (company: TestCompany, path: string) => ok(company.patch(path, {}));

async function booked(company: TestCompany): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM appointments WHERE company_id = $1';
  const [row] = await app.sql<{ count: number }>(sql, [company.companyId]);
  return row?.count ?? 0;
}

async function setCompany(company: TestCompany, column: string, value: string): Promise<void> {
  await app.sql(`UPDATE companies SET ${column} = $2 WHERE id = $1`, [company.companyId, value]);
  app.clock.advance({ seconds: 3 });
}

const faultyFields = (answer: Answer): string[] =>
  [...new Set<string>(answer.body.errors.map((fault: { field: string }) => fault.field))].sort();

async function assertNotBooked(company: TestCompany, body: Fields, faults: Record<string, string>): Promise<void> {
  const before = await booked(company);
  assertRefused(await company.post(appointmentsOf(company), body), faults, body);
  assert.equal(await booked(company), before);
}

async function assertNotUpdated(company: TestCompany, path: string, body: Fields, faults: Record<string, string>) {
  const before = await read(company, path);
  for (const method of UPDATE_METHODS) assertRefused(await company.send(method, path, body), faults, body);
  assert.deepEqual(await read(company, path), before);
}

async function assertUntouched(company: TestCompany, path: string, act: () => Promise<void>): Promise<void> {
  const before = await read(company, path);
  const count = await booked(company);
  await act();
  assert.equal(await booked(company), count);
  assert.deepEqual(await read(company, path), before);
}

/** Holds a value against both operations that take it. */
async function assertRefusedEverywhere(
  company: TestCompany,
  path: string,
  field: string,
  value: unknown,
  code: string,
) {
  await assertNotBooked(company, booking(company, { [field]: value }), { [field]: code });
  await assertNotUpdated(company, path, { [field]: value }, { [field]: code });
}

// Operation 10: the answer

test('a booking answers with exactly the documented fields', async () => {
  const company = await app.company();
  const documented = [
    'adviser_email',
    'created_at',
    'customer_case_id',
    'email_confirmation',
    'email_day_before',
    'email_notification',
    'email_recipient',
    'end_time',
    'id',
    'location',
    'notes',
    'sms_confirmation',
    'sms_day_before',
    'sms_notification',
    'sms_recipient',
    'start_time',
    'updated_at',
  ];
  for (const body of [booking(company), everything(company)]) {
    assert.deepEqual(Object.keys(await ok(company.post(appointmentsOf(company), body))).sort(), documented);
  }
});

test('a booking of the required fields alone leaves every other one empty', async () => {
  const company = await app.company();
  const { id, ...answer } = await ok(company.post(appointmentsOf(company), booking(company)));
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(answer, {
    customer_case_id: company.caseId,
    adviser_email: company.adviser,
    start_time: '2026-06-10T09:00:00.000000Z',
    end_time: '2026-06-10 11:00:00',
    email_recipient: null,
    email_confirmation: null,
    email_notification: null,
    email_day_before: 0,
    sms_recipient: null,
    sms_confirmation: null,
    sms_notification: null,
    sms_day_before: 0,
    notes: null,
    location: null,
    created_at: NOW,
    updated_at: NOW,
  });
});

test('a booking answers with everything that was sent', async () => {
  const company = await app.company();
  const { id: _, ...answer } = await ok(company.post(appointmentsOf(company), everything(company)));
  assert.deepEqual(answer, {
    customer_case_id: company.caseId,
    adviser_email: company.adviser,
    start_time: '2026-06-10T09:00:00.000000Z',
    end_time: '2026-06-10 11:00:00',
    email_recipient: company.customers[0].email,
    email_confirmation: 'scheduled',
    email_notification: 'scheduled',
    email_day_before: 1,
    sms_recipient: '07400 123456',
    sms_confirmation: 'scheduled',
    sms_notification: 'scheduled',
    sms_day_before: 1,
    notes: 'Bring the deeds',
    location: '1 High Street, Anytown',
    created_at: NOW,
    updated_at: NOW,
  });
});

test('null for an optional field of a booking is as if it was not sent', async () => {
  const company = await app.company();
  const optional = ['email_recipient', 'sms_recipient', 'notes', 'location', 'video_meeting', ...FLAGS];
  const nulls = Object.fromEntries(optional.map((field) => [field, null]));
  const { id: _, ...withNulls } = await ok(company.post(appointmentsOf(company), booking(company, nulls)));
  const { id: __, ...without } = await ok(company.post(appointmentsOf(company), booking(company)));
  assert.deepEqual(withNulls, without);
});

test('fields that are not documented for a booking are ignored', async () => {
  const company = await app.company();
  const foreign = { id: NOBODY, customer_case_id: NOBODY, created_at: 5, email_day_before: 7, nonsense: { deep: [] } };
  const hidden = {
    type: 'x',
    attended: 1,
    cancelled: 1,
    deleted_at: NOW,
    video_id: 'v',
    join_url: 'https://x.example',
  };
  const answer = await ok(company.post(appointmentsOf(company), booking(company, { ...foreign, ...hidden })));
  assert.notEqual(answer.id, NOBODY);
  assert.equal(answer.customer_case_id, company.caseId);
  assert.equal(answer.created_at, NOW);
  assert.equal(answer.email_day_before, 0);
  const record = await read(company, `${appointmentsOf(company)}/${answer.id}`);
  for (const field of ['type', 'deleted_at', 'video_id', 'join_url']) assert.equal(record[field], null, field);
  assert.deepEqual([record.attended, record.cancelled], [0, 0]);
});

test('overlapping appointments of one adviser are allowed', async () => {
  const company = await app.company();
  const same = await Promise.all([book(company), book(company), book(company)]);
  assert.equal(new Set(same).size, 3);
  await book(company, { start_time: '2026-06-10 10:30:00', end_time: '2026-06-10 11:30:00' });
  assert.equal(await booked(company), 4);
});

test('an appointment that is already over can be written down', async () => {
  const company = await app.company();
  const past = { start_time: '2020-02-29 10:00:00', end_time: '2020-02-29 11:00:00' };
  const answer = await ok(company.post(appointmentsOf(company), booking(company, past)));
  assert.equal(answer.start_time, '2020-02-29T10:00:00.000000Z');
});

test('video_meeting is no error, whether or not the adviser has connected an account', async () => {
  const company = await app.company();
  for (const adviser_email of [company.adviser, company.adviserWithVideo]) {
    const path = await book(company, { adviser_email, video_meeting: true });
    await read(company, path);
  }
});

test('an adviser without a connected account gets no link', async () => {
  const company = await app.company();
  const record = await read(company, await book(company, { video_meeting: true }));
  assert.equal(record.video_id, null);
  assert.equal(record.join_url, null);
});

test('no link is made where none was asked for', async () => {
  const company = await app.company();
  for (const more of [{}, { video_meeting: false }]) {
    const record = await read(company, await book(company, { adviser_email: company.adviserWithVideo, ...more }));
    assert.equal(record.video_id, null);
    assert.equal(record.join_url, null);
  }
});

// Operation 11: the answer

test('an update answers with exactly the documented fields, by PATCH and by POST', async () => {
  const company = await app.company();
  const documented = [
    'attended',
    'cancelled',
    'created_at',
    'customer_case_id',
    'deleted_at',
    'email_confirmation',
    'email_day_before',
    'email_notification',
    'email_recipient',
    'end_time',
    'id',
    'join_url',
    'location',
    'notes',
    'sms_confirmation',
    'sms_day_before',
    'sms_notification',
    'sms_recipient',
    'start_time',
    'type',
    'updated_at',
    'video_id',
  ];
  for (const body of [booking(company), everything(company)]) {
    const path = await book(company, body);
    for (const method of UPDATE_METHODS) {
      assert.deepEqual(Object.keys(await ok(company.send(method, path, { notes: 'x' }))).sort(), documented);
    }
  }
});

test('an update shows what the booking stored, with "" where there is no email_recipient', async () => {
  const company = await app.company();
  const created = await ok(company.post(appointmentsOf(company), booking(company)));
  const { adviser_email: _, ...shared } = created;
  assert.deepEqual(await read(company, `${appointmentsOf(company)}/${created.id}`), {
    ...shared,
    email_recipient: '',
    type: null,
    attended: 0,
    cancelled: 0,
    deleted_at: null,
    video_id: null,
    join_url: null,
  });
});

test('type, attended and cancelled are shown as they stand in the record', async () => {
  const company = await app.company();
  const path = await book(company);
  const sql = `UPDATE appointments SET type = 'review', attended = 1, cancelled = 1 WHERE company_id = $1`;
  await app.sql(sql, [company.companyId]);
  const { type, attended, cancelled } = await read(company, path);
  assert.deepEqual({ type, attended, cancelled }, { type: 'review', attended: 1, cancelled: 1 });
});

const CHANGES: [field: string, sent: (company: TestCompany) => unknown, shown: (company: TestCompany) => unknown][] = [
  ['start_time', () => '2026-06-10 10:30:00', () => '2026-06-10T09:30:00.000000Z'],
  ['end_time', () => '2026-06-10 12:15:00', () => '2026-06-10 12:15:00'],
  ['email_recipient', (company) => company.customers[1].email, (company) => company.customers[1].email],
  ['sms_recipient', () => '020 7946 0018', () => '020 7946 0018'],
  ['notes', () => 'New notes', () => 'New notes'],
  ['location', () => 'New place', () => 'New place'],
];

for (const method of UPDATE_METHODS) {
  for (const [field, sent, shown] of CHANGES) {
    test(`a ${method} that sends ${field} alone changes it and nothing else`, async () => {
      const company = await app.company();
      const path = await book(company, everything(company));
      const before = await read(company, path);
      const answer = await ok(company.send(method, path, { [field]: sent(company) }));
      assert.deepEqual(answer, { ...before, [field]: shown(company) });
      assert.deepEqual(await read(company, path), answer);
    });
  }

  test(`a ${method} of {} changes nothing`, async () => {
    const company = await app.company();
    const path = await book(company, everything(company));
    const stored = () => app.sql('SELECT * FROM appointments WHERE company_id = $1', [company.companyId]);
    const before = await stored();
    app.clock.advance({ minutes: 1 });
    await ok(company.send(method, path, {}));
    const [row] = await stored();
    assert.ok(row);
    assert.deepEqual([{ ...row, updated_at: before[0]?.updated_at, version: before[0]?.version }], before);
  });
}

test('an update of every field at once stores them all', async () => {
  const company = await app.company();
  const path = await book(company);
  const sent = Object.fromEntries(CHANGES.map(([field, value]) => [field, value(company)]));
  const answer = await ok(company.patch(path, sent));
  for (const [field, , shown] of CHANGES) assert.equal(answer[field], shown(company), field);
  assert.deepEqual(await read(company, path), answer);
});

test('null clears notes, location and the recipients', async () => {
  const company = await app.company();
  const empty = { notes: null, location: null, sms_recipient: null, email_recipient: '' };
  for (const [field, shown] of Object.entries(empty)) {
    const path = await book(company, {
      ...everything(company),
      ...Object.fromEntries(FLAGS.map((flag) => [flag, false])),
    });
    const before = await read(company, path);
    assert.deepEqual(await ok(company.patch(path, { [field]: null })), { ...before, [field]: shown });
    assert.deepEqual(await read(company, path), { ...before, [field]: shown });
  }
});

test('a cleared recipient can be given again', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  await ok(company.patch(path, { email_recipient: null, sms_recipient: null }));
  const again = { email_recipient: company.customers[0].email, sms_recipient: '07400 123456' };
  const answer = await ok(company.patch(path, again));
  assert.deepEqual({ email_recipient: answer.email_recipient, sms_recipient: answer.sms_recipient }, again);
});

test('an update moves updated_at to now and leaves created_at', async () => {
  const company = await app.company();
  const path = await book(company);
  app.clock.set('2026-06-02T10:11:12.345678Z');
  const answer = await ok(company.patch(path, { notes: 'later' }));
  assert.equal(answer.created_at, NOW);
  assert.equal(answer.updated_at, '2026-06-02T10:11:12.345678Z');
});

test('adviser_email and video_meeting are not fields of an update: whatever they hold is ignored', async () => {
  const company = await app.company();
  const path = await book(company);
  const stored = () =>
    app.sql('SELECT adviser_id, adviser_email, video_meeting FROM appointments WHERE company_id = $1', [
      company.companyId,
    ]);
  const before = await stored();
  for (const adviser_email of [company.adviserWithVideo, 'nobody@firm.example', 5, null]) {
    await ok(company.patch(path, { adviser_email, video_meeting: true }));
    await ok(company.post(path, { adviser_email, video_meeting: 'yes' }));
  }
  assert.deepEqual(await stored(), before);
});

test('fields that are not documented for an update are ignored', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  const foreign = { id: NOBODY, customer_case_id: NOBODY, type: 'x', attended: 1, cancelled: 1, deleted_at: NOW };
  const more = { video_id: 'v', join_url: 'https://x.example', created_at: NOW, sms_day_before: 1, nonsense: [1] };
  assert.deepEqual(await ok(company.patch(path, { ...foreign, ...more })), before);
});

// Time

test('start_time answers in UTC and end_time in wall time of the company', async () => {
  for (const [timeZone, start, end, startShown] of [
    ['Europe/London', '2026-06-10 10:00:00', '2026-06-10 11:00:00', '2026-06-10T09:00:00.000000Z'],
    ['Europe/London', '2026-12-10 10:00:00', '2026-12-10 11:00:00', '2026-12-10T10:00:00.000000Z'],
    ['America/New_York', '2026-06-10 22:00:00', '2026-06-11 00:30:00', '2026-06-11T02:00:00.000000Z'],
    ['Asia/Kathmandu', '2026-06-10 03:00:00', '2026-06-10 04:00:00', '2026-06-09T21:15:00.000000Z'],
  ] as const) {
    const company = await app.company({ timeZone });
    const times = { start_time: start, end_time: end };
    const created = await ok(company.post(appointmentsOf(company), booking(company, times)));
    const updated = await ok(company.patch(`${appointmentsOf(company)}/${created.id}`, times));
    for (const answer of [created, updated]) {
      assert.equal(answer.start_time, startShown, timeZone);
      assert.equal(answer.end_time, end, timeZone);
    }
  }
});

test('a time may come with seconds, without them, or as ISO 8601 with Z or an offset', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const [start, shown] of [
    ['2026-06-10 08:30:15', '2026-06-10T07:30:15.000000Z'],
    ['2026-06-10 08:30', '2026-06-10T07:30:00.000000Z'],
    ['2026-06-10T08:30:15Z', '2026-06-10T08:30:15.000000Z'],
    ['2026-06-10T08:30:15.000000Z', '2026-06-10T08:30:15.000000Z'],
    ['2026-06-10T08:30:15.123456Z', '2026-06-10T08:30:15.123456Z'],
    ['2026-06-10T08:30:15+02:00', '2026-06-10T06:30:15.000000Z'],
    ['2026-06-10T03:30:15-05:30', '2026-06-10T09:00:15.000000Z'],
  ]) {
    assert.equal(
      (await ok(company.post(appointmentsOf(company), booking(company, { start_time: start })))).start_time,
      shown,
    );
    assert.equal((await ok(company.patch(path, { start_time: start }))).start_time, shown);
  }
  for (const [end, shown] of [
    ['2026-06-10 12:30:15', '2026-06-10 12:30:15'],
    ['2026-06-10 12:30', '2026-06-10 12:30:00'],
    ['2026-06-10T12:30:15Z', '2026-06-10 13:30:15'],
    ['2026-06-10T12:30:15+02:00', '2026-06-10 11:30:15'],
  ]) {
    assert.equal(
      (await ok(company.post(appointmentsOf(company), booking(company, { end_time: end })))).end_time,
      shown,
    );
    assert.equal((await ok(company.patch(path, { end_time: end }))).end_time, shown);
  }
});

test('a wall time that a clock change skips moves forward, one that it repeats means the first', async () => {
  const company = await app.company();
  for (const [start, shown] of [
    ['2026-03-29 00:59:59', '2026-03-29T00:59:59.000000Z'],
    ['2026-03-29 01:00:00', '2026-03-29T01:00:00.000000Z'],
    ['2026-03-29 01:30:00', '2026-03-29T01:30:00.000000Z'],
    ['2026-03-29 02:00:00', '2026-03-29T01:00:00.000000Z'],
    ['2026-10-25 00:59:59', '2026-10-24T23:59:59.000000Z'],
    ['2026-10-25 01:30:00', '2026-10-25T00:30:00.000000Z'],
    ['2026-10-25 02:00:00', '2026-10-25T02:00:00.000000Z'],
  ] as const) {
    const times = { start_time: start, end_time: '2026-12-01 12:00:00' };
    assert.equal((await ok(company.post(appointmentsOf(company), booking(company, times)))).start_time, shown, start);
  }
});

test('both times that are answered mean the same when they are sent back', async () => {
  const company = await app.company();
  const path = await book(company);
  const minutes = (from: string) => Temporal.Instant.from(from).epochMilliseconds / 60_000;
  const near = (from: string) => fc.integer({ min: minutes(from), max: minutes(from) + 48 * 60 });
  const start = fc.oneof(near('2026-03-28T00:00Z'), near('2026-10-24T00:00Z'), near('2026-07-15T00:00Z'));
  await fc.assert(
    fc.asyncProperty(start, fc.integer({ min: 90, max: 300 }), async (at, length) => {
      const wall = (minute: number) => {
        const instant = Temporal.Instant.fromEpochMilliseconds(minute * 60_000);
        return instant.toZonedDateTimeISO('Europe/London').toPlainDateTime();
      };
      const text = (minute: number) => wall(minute).toString({ smallestUnit: 'second' }).replace('T', ' ');
      const first = await ok(company.patch(path, { start_time: text(at), end_time: text(at + length) }));
      const meant = wall(at).toZonedDateTime('Europe/London').toInstant();
      assert.equal(first.start_time, meant.toString({ fractionalSecondDigits: 6 }));
      assert.equal(first.end_time, text(at + length));
      const { start_time, end_time } = first;
      assert.deepEqual(await ok(company.patch(path, { start_time, end_time })), first);
    }),
    { numRuns: 40 },
  );
});

const NOT_A_TIME = [
  '',
  'tomorrow',
  '2026-06-10',
  '10:00:00',
  '10/06/2026 10:00:00',
  '2026-06-10T10:00:00',
  '2026-02-29 10:00:00',
  '2026-06-31 10:00:00',
  '2026-13-01 10:00:00',
  '2026-00-10 10:00:00',
  '2026-06-00 10:00:00',
  '2026-06-10 24:00:00',
  '2026-06-10 10:60:00',
  '2026-06-10 10:00:60',
  '2026-6-10 10:00:00',
  '2026-06-10 10:00:00 ',
  ' 2026-06-10 10:00:00',
  '2026-06-10 10:00:00Z Z',
  '２０２６-06-10 10:00:00',
  '2026-06-10T10:00:00+25:00',
];

for (const field of ['start_time', 'end_time']) {
  test(`${field} must be a real date and time in an accepted form`, async () => {
    const company = await app.company();
    const path = await book(company);
    for (const value of NOT_A_TIME) await assertRefusedEverywhere(company, path, field, value, 'format');
  });
}

test('no date, however far away, is more than a 400', async () => {
  const company = await app.company();
  const far = ['0000-01-01 00:00', '0001-01-01 00:00:00', '0001-01-01T00:00:00+14:00', '9999-12-31 23:59:59'];
  for (const time of [...far, '9999-12-31T23:59:59-14:00', '9999-12-31T23:59:59.999999999Z']) {
    for (const more of [{ start_time: time }, { end_time: time }]) {
      const answer = await company.post(appointmentsOf(company), booking(company, more));
      assert.ok([200, 400].includes(answer.status), `${JSON.stringify(more)}: ${answer.text}`);
    }
  }
});

test('any text made of the parts of a time is taken or refused, never a failure', async () => {
  const company = await app.company();
  const path = await book(company);
  const parts = [
    '2026',
    '0000',
    '9999',
    '-',
    '06',
    '31',
    '29',
    '02',
    ' ',
    'T',
    '10',
    ':',
    '59',
    '60',
    '.5',
    'Z',
    '+01:00',
  ];
  const shaped = fc
    .tuple(fc.integer({ min: 0, max: 9999 }), ...[13, 32, 25, 61, 61].map((max) => fc.integer({ min: 0, max })))
    .map(([year, ...rest]) => {
      const [month, day, hour, minute, second] = rest.map((part) => String(part).padStart(2, '0'));
      return `${String(year).padStart(4, '0')}-${month}-${day} ${hour}:${minute}:${second}`;
    });
  const pieces = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((chosen) => chosen.join(''));
  await fc.assert(
    fc.asyncProperty(fc.oneof(shaped, pieces, fc.string({ unit: 'binary' })), async (start_time) => {
      const answer = await company.patch(path, { start_time });
      assert.ok([200, 400].includes(answer.status), `${JSON.stringify(start_time)}: ${answer.text}`);
    }),
    { numRuns: 100 },
  );
});

// The end is later than the start

test('a booking ends later than it starts', async () => {
  const company = await app.company();
  for (const [start_time, end_time] of [
    ['2026-06-10 10:00:00', '2026-06-10 10:00:00'],
    ['2026-06-10 10:00:00', '2026-06-10 09:59:59'],
    ['2026-06-10 10:00:00', '2025-06-10 11:00:00'],
    ['2026-06-10 10:00:00', '2026-06-10T09:00:00Z'],
    ['2026-06-10T10:00:00Z', '2026-06-10 11:00:00'],
    ['2026-06-10T10:00:00+02:00', '2026-06-10T10:00:00+03:00'],
    ['2026-03-29 01:30:00', '2026-03-29 02:15:00'],
    ['2026-06-10T10:00:00.000001Z', '2026-06-10T10:00:00.000001Z'],
    ['2026-06-10T10:00:00.000001Z', '2026-06-10T10:00:00.000000Z'],
  ]) {
    await assertNotBooked(company, booking(company, { start_time, end_time }), { end_time: 'not_after_start' });
  }
});

test('the least later than the start is late enough', async () => {
  const company = await app.company();
  for (const [start_time, end_time] of [
    ['2026-06-10 10:00:00', '2026-06-10 10:00:01'],
    ['2026-06-10 10:00:00', '2026-06-10T09:00:00.000001Z'],
    ['2026-06-10T10:00:00+03:00', '2026-06-10T10:00:01+03:00'],
    ['2026-10-25 01:45:00', '2026-10-25T01:15:00Z'],
  ]) {
    const answer = await company.post(appointmentsOf(company), booking(company, { start_time, end_time }));
    assert.equal(answer.status, 200, `${start_time} ${end_time}: ${answer.text}`);
  }
});

test('an end that is later by less than a microsecond is not later', async () => {
  const company = await app.company();
  const times = { start_time: '2026-06-10T10:00:00.000001Z', end_time: '2026-06-10T10:00:00.000001999Z' };
  await assertNotBooked(company, booking(company, times), { end_time: 'not_after_start' });
  await assertNotUpdated(company, await book(company), times, { end_time: 'not_after_start' });
});

for (const [what, times] of [
  ['an end that was sent alone and the stored start', ['end_time', '2026-06-10 10:00:00', '2026-06-10 10:00:01']],
  ['a start that was sent alone and the stored end', ['start_time', '2026-06-10 11:00:00', '2026-06-10 10:59:59']],
] as const) {
  test(`an update compares ${what}`, async () => {
    const company = await app.company();
    const path = await book(company);
    const [field, equal, apart] = times;
    const wrong = field === 'end_time' ? '2026-06-10 09:59:59' : '2026-06-10 11:00:01';
    for (const value of [equal, wrong]) {
      await assertNotUpdated(company, path, { [field]: value }, { [field]: 'not_after_start' });
    }
    await ok(company.patch(path, { [field]: apart }));
  });
}

test('an update that sends both times compares those and not the stored ones', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const day of ['2026-06-12', '2026-06-08']) {
    const moved = await ok(company.patch(path, { start_time: `${day} 10:00:00`, end_time: `${day} 10:00:01` }));
    assert.equal(moved.end_time, `${day} 10:00:01`);
    for (const end_time of [`${day} 10:00:00`, `${day} 09:00:00`]) {
      const times = { start_time: `${day} 10:00:00`, end_time };
      await assertNotUpdated(company, path, times, { end_time: 'not_after_start' });
    }
  }
});

test('a time that cannot be read is not compared', async () => {
  const company = await app.company();
  const path = await book(company);
  const early = { start_time: 'soon', end_time: '2026-06-05 11:00:00' };
  const late = { start_time: '2026-06-20 10:00:00', end_time: 'later' };
  await assertNotUpdated(company, path, early, { start_time: 'format' });
  await assertNotUpdated(company, path, late, { end_time: 'format' });
  await assertNotBooked(company, booking(company, early), { start_time: 'format' });
  await assertNotBooked(company, booking(company, late), { end_time: 'format' });
});

test('an update compares with what was stored last, not first', async () => {
  const company = await app.company();
  const path = await book(company);
  await ok(company.patch(path, { end_time: '2026-06-10 13:00:00' }));
  await ok(company.patch(path, { start_time: '2026-06-10 12:00:00' }));
  await assertNotUpdated(company, path, { end_time: '2026-06-10 11:00:00' }, { end_time: 'not_after_start' });
});

// Fields

test('a booking without its required fields names them all', async () => {
  const company = await app.company();
  const faults = { adviser_email: 'required', start_time: 'required', end_time: 'required' };
  await assertNotBooked(company, {}, faults);
  await assertNotBooked(company, { adviser_email: null, start_time: null, end_time: null }, faults);
  for (const field of Object.keys(faults)) {
    await assertNotBooked(company, booking(company, { [field]: undefined }), { [field]: 'required' });
    await assertNotBooked(company, booking(company, { [field]: null }), { [field]: 'required' });
  }
});

for (const field of ['start_time', 'end_time']) {
  test(`an update cannot clear ${field}`, async () => {
    const company = await app.company();
    await assertNotUpdated(company, await book(company), { [field]: null }, { [field]: 'required' });
  });
}

for (const field of ['start_time', 'end_time', 'email_recipient', 'sms_recipient', 'notes', 'location']) {
  test(`${field} is a string and nothing else`, async () => {
    const company = await app.company();
    const path = await book(company);
    for (const value of [5, true, {}, ['x']]) await assertRefusedEverywhere(company, path, field, value, 'type');
  });
}

test('adviser_email is a string and nothing else', async () => {
  const company = await app.company();
  for (const value of [5, true, {}, ['x']]) {
    await assertNotBooked(company, booking(company, { adviser_email: value }), { adviser_email: 'type' });
  }
});

for (const field of FLAGS) {
  test(`${field} is a JSON boolean and nothing else`, async () => {
    const company = await app.company();
    const path = await book(company);
    for (const value of ['true', 'false', '', 0, 1, {}, [true]]) {
      await assertRefusedEverywhere(company, path, field, value, 'type');
    }
  });
}

test('video_meeting is a JSON boolean and nothing else', async () => {
  const company = await app.company();
  for (const value of ['true', '', 0, 1, {}]) {
    await assertNotBooked(company, booking(company, { video_meeting: value }), { video_meeting: 'type' });
  }
});

for (const field of ['notes', 'location']) {
  test(`${field} holds 10,000 characters, counted in code points, and not one more`, async () => {
    const company = await app.company();
    const longest = SMILE.repeat(10_000);
    const path = await book(company, { [field]: longest });
    assert.equal((await read(company, path))[field], longest);
    assert.equal((await ok(company.patch(path, { [field]: `${longest.slice(2)}x` })))[field], `${longest.slice(2)}x`);
    await assertRefusedEverywhere(company, path, field, `${longest}x`, 'too_long');
  });

  test(`${field} is kept as it was sent, to the last character`, async () => {
    const company = await app.company();
    for (const text of [
      '',
      '  padded  ',
      'two\r\nlines\t',
      `${SMILE} e\u0301 é \u202e`,
      `'; DROP TABLE cases; --`,
      '\\u0000',
    ]) {
      const path = await book(company, { [field]: text });
      assert.equal((await read(company, path))[field], text);
      assert.equal((await ok(company.patch(path, { [field]: `x${text}` })))[field], `x${text}`);
    }
  });
}

for (const field of ['notes', 'location', 'email_recipient', 'sms_recipient', 'start_time']) {
  test(`a NUL character in ${field} is refused`, async () => {
    const company = await app.company();
    const path = await book(company);
    const good: Fields = { ...everything(company), start_time: '2026-06-10 10:00:00' };
    const bad = { [field]: `${good[field]}\u0000` };
    const before = await read(company, path);
    for (const answer of [
      await company.post(appointmentsOf(company), booking(company, bad)),
      await company.patch(path, bad),
      await company.post(path, bad),
    ]) {
      assertProblem(answer, 400, 'invalid_request', bad);
      assert.deepEqual(faultyFields(answer), [field]);
    }
    assert.equal(await booked(company), 1);
    assert.deepEqual(await read(company, path), before);
  });
}

test('every fault of a request is named at once', async () => {
  const company = await app.company();
  const wrong = {
    start_time: 'soon',
    end_time: 5,
    email_notification: 'yes',
    email_recipient: 'nobody@client.example',
    sms_recipient: '12',
    notes: {},
    location: SMILE.repeat(10_001),
  };
  const shape = ['start_time', 'end_time', 'email_notification', 'sms_recipient', 'notes', 'location'];
  const created = await company.post(appointmentsOf(company), { ...wrong, adviser_email: 'nobody@firm.example' });
  assertProblem(created, 400, 'invalid_request');
  assert.deepEqual(faultyFields(created), [...shape, 'email_recipient', 'adviser_email'].sort());
  const updated = await company.patch(await book(company), wrong);
  assertProblem(updated, 400, 'invalid_request');
  assert.deepEqual(faultyFields(updated), [...shape, 'email_recipient'].sort());
});

test('one wrong field refuses the whole update', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  const good = {
    notes: 'New notes',
    location: 'New place',
    start_time: '2026-06-10 08:00:00',
    sms_notification: false,
  };
  for (const [field, value, code] of [
    ['email_recipient', 'nobody@client.example', 'unknown'],
    ['end_time', '2026-06-10 07:00:00', 'not_after_start'],
    ['email_notification', 'no', 'type'],
  ] as const) {
    await assertNotUpdated(company, path, { ...good, [field]: value }, { [field]: code });
  }
});

// Adviser

test('adviser_email is compared without regard to case', async () => {
  const company = await app.company();
  for (const adviser_email of [company.adviser.toUpperCase(), `A${company.adviser.slice(1)}`]) {
    const answer = await ok(company.post(appointmentsOf(company), booking(company, { adviser_email })));
    assert.equal(answer.adviser_email.toLowerCase(), company.adviser);
  }
  const sql =
    'SELECT DISTINCT d.email FROM appointments a JOIN advisers d ON d.id = a.adviser_id WHERE a.company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [{ email: company.adviser }]);
});

test('adviser_email designates the adviser', async () => {
  const company = await app.company();
  const answer = await ok(
    company.post(appointmentsOf(company), booking(company, { adviser_email: company.adviserWithVideo })),
  );
  assert.equal(answer.adviser_email, company.adviserWithVideo);
  const sql = 'SELECT d.email FROM appointments a JOIN advisers d ON d.id = a.adviser_id WHERE a.company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [{ email: company.adviserWithVideo }]);
});

test('adviser_email must be that of an adviser of the company', async () => {
  const company = await app.company();
  const other = await app.company();
  for (const adviser_email of [
    'nobody@firm.example',
    other.adviser,
    company.customers[0].email,
    `${company.adviser}x`,
  ]) {
    await assertNotBooked(company, booking(company, { adviser_email }), { adviser_email: 'unknown' });
  }
});

test('adviser_email must be an email', async () => {
  const company = await app.company();
  for (const adviser_email of ['', 'adviser', '@firm.example', '%', `${'a'.repeat(255)}@firm.example`]) {
    const answer = await company.post(appointmentsOf(company), booking(company, { adviser_email }));
    assertProblem(answer, 400, 'invalid_request', adviser_email);
    assert.deepEqual(faultyFields(answer), ['adviser_email']);
  }
  assert.equal(await booked(company), 0);
});

test('an adviser who is no longer active cannot be booked', async () => {
  const company = await app.company();
  const path = await book(company);
  await app.sql('UPDATE advisers SET active = false WHERE company_id = $1 AND email = $2', [
    company.companyId,
    company.adviser,
  ]);
  await assertNotBooked(company, booking(company), { adviser_email: 'unknown' });
  await book(company, { adviser_email: company.adviserWithVideo });
  await ok(company.patch(path, { notes: 'what was booked can still be changed' }));
});

// Recipients

test('email_recipient is any customer of the case, compared without regard to case', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const { email } of company.customers) {
    for (const email_recipient of [email, email.toUpperCase(), email.replace('client', 'Client')]) {
      const created = await ok(company.post(appointmentsOf(company), booking(company, { email_recipient })));
      assert.equal(created.email_recipient.toLowerCase(), email);
      const updated = await ok(company.patch(path, { email_recipient }));
      assert.equal(updated.email_recipient.toLowerCase(), email);
    }
  }
});

test('a customer whose address is stored in capitals is found in small letters', async () => {
  const company = await app.company();
  await company.addCustomer(company.caseId, { email: 'Mary.JONES@Client.Example' });
  await book(company, { email_recipient: 'mary.jones@client.example' });
});

test('email_recipient must be a customer of this very case', async () => {
  const company = await app.company();
  const path = await book(company);
  const other = await app.company();
  const elsewhere = 'elsewhere@client.example';
  await company.addCustomer(await company.openCase(), { email: elsewhere });
  const related = 'related@client.example';
  const person = { entity_id: 'person', title: 'Ms', first_names: 'Rel', last_name: 'Ated', email: related };
  await ok(company.post(`${company.path}/address-book/entry`, person));
  const strangers = ['nobody@client.example', elsewhere, related, other.customers[0].email, company.adviser];
  for (const stranger of strangers)
    await assertRefusedEverywhere(company, path, 'email_recipient', stranger, 'unknown');
});

test('email_recipient is judged whether or not a flag is set', async () => {
  const company = await app.company();
  const path = await book(company);
  const email_recipient = 'nobody@client.example';
  for (const flag of [undefined, null, false, true]) {
    const body = { email_recipient, email_confirmation: flag, email_notification: flag };
    await assertNotBooked(company, booking(company, body), { email_recipient: 'unknown' });
    await assertNotUpdated(company, path, body, { email_recipient: 'unknown' });
  }
});

test('an empty email_recipient is none, so that the answer of an update can be sent back', async () => {
  const company = await app.company();
  const created = await ok(company.post(appointmentsOf(company), booking(company, { email_recipient: '' })));
  assert.equal(created.email_recipient, null);
  const path = await book(company, everything(company));
  const cleared = await ok(company.patch(path, { email_recipient: '' }));
  assert.equal(cleared.email_recipient, '');
  assert.equal(cleared.email_notification, 'skipped');
  assert.equal((await ok(company.patch(path, { email_recipient: cleared.email_recipient }))).email_recipient, '');
});

test('email_recipient holds 254 characters and not one more', async () => {
  const company = await app.company();
  const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(53)}.example`;
  assert.equal(longest.length, 254);
  await company.addCustomer(company.caseId, { email: longest });
  const path = await book(company, { email_recipient: longest });
  assert.equal((await ok(company.patch(path, { email_recipient: longest }))).email_recipient, longest);
  await assertRefusedEverywhere(company, path, 'email_recipient', `${longest}x`, 'too_long');
});

test('a recipient who has since left the case does not stop a change of something else', async () => {
  const company = await app.company();
  const path = await book(company, { email_recipient: company.customers[0].email });
  await app.sql('UPDATE customers SET email = NULL WHERE company_id = $1', [company.companyId]);
  const answer = await ok(company.patch(path, { notes: 'still' }));
  assert.equal(answer.email_recipient, company.customers[0].email);
});

const POSSIBLE = [
  '07400 123456',
  '07400123456',
  '020 7946 0018',
  '(020) 7946-0018',
  '+447400123456',
  '+44 7400 123456',
  '+49 30 901820',
  '+1 555 555 5555',
];
const IMPOSSIBLE = ['', ' ', '+', '123', '07400', '074001234567890', '+44 1', '+999 123456789', 'call me', '6123 4567'];

test('sms_recipient is any possible number, in national or international form', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const sms_recipient of POSSIBLE) {
    const created = await ok(company.post(appointmentsOf(company), booking(company, { sms_recipient })));
    assert.equal(created.sms_recipient, sms_recipient);
    assert.equal((await ok(company.patch(path, { sms_recipient }))).sms_recipient, sms_recipient);
  }
});

test('sms_recipient that is no possible number is refused', async () => {
  const company = await app.company();
  const path = await book(company);
  const texts = ['my number is 07400 123456', '07400 123456; 07400 654321', 'john@client.example'];
  for (const number of [...IMPOSSIBLE, ...texts]) {
    await assertRefusedEverywhere(company, path, 'sms_recipient', number, 'format');
  }
});

test('sms_recipient is judged whether or not a flag is set', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const flag of [undefined, null, false, true]) {
    const body = { sms_recipient: '123', sms_confirmation: flag, sms_notification: flag };
    await assertNotBooked(company, booking(company, body), { sms_recipient: 'format' });
    await assertNotUpdated(company, path, body, { sms_recipient: 'format' });
  }
});

test('sms_recipient need not be a number of a customer', async () => {
  const company = await app.company();
  await book(company, { sms_recipient: '01632 960001' });
});

test("a national number is read in the company's region, an international one in any", async () => {
  const company = await app.company();
  await setCompany(company, 'phone_region', 'SG');
  const path = await book(company, { sms_recipient: '6123 4567' });
  await ok(company.patch(path, { sms_recipient: '6123 4568' }));
  await ok(company.patch(path, { sms_recipient: '+44 7400 123456' }));
  await assertRefusedEverywhere(company, path, 'sms_recipient', '0113 496', 'format');
});

test('sms_recipient has at most 100 characters', async () => {
  const company = await app.company();
  await assertRefusedEverywhere(
    company,
    await book(company),
    'sms_recipient',
    `07400 123456${' '.repeat(89)}`,
    'too_long',
  );
});

// Operation 12

test('DELETE answers with the id and deleted_at and nothing else', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  app.clock.set('2026-06-02T10:11:12.345678Z');
  const answer = await ok(company.delete(path));
  assert.deepEqual(answer, { id: path.split('/').at(-1), deleted_at: '2026-06-02T10:11:12.345678Z' });
});

for (const [how, body, headers] of [
  ['no body', undefined, {}],
  ['a body of length 0', '', {}],
  ['an empty chunked body', undefined, { 'transfer-encoding': 'chunked' }],
] as const) {
  test(`POST with ${how} deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const answer = await ok(company.post(path, body, headers));
    assert.deepEqual(answer, { id: path.split('/').at(-1), deleted_at: NOW });
    assertProblem(await company.patch(path, {}), 404, 'not_found');
  });
}

test('POST with {} updates and does not delete', async () => {
  const company = await app.company();
  const path = await book(company);
  const answer = await ok(company.post(path, {}));
  assert.equal(answer.deleted_at, null);
  assert.equal(answer.start_time, '2026-06-10T09:00:00.000000Z');
  assert.deepEqual(await read(company, path), answer);
});

for (const how of ['DELETE', 'POST']) {
  test(`what ${how} has deleted is gone for every operation`, async () => {
    const company = await app.company();
    const path = await book(company);
    await ok(company.send(how, path));
    for (const [method, body] of [
      ['PATCH', { notes: 'x' }],
      ['POST', { notes: 'x' }],
      ['PATCH', {}],
      ['PATCH', { start_time: 'soon' }],
      ['POST', undefined],
      ['DELETE', undefined],
    ] as const) {
      assertProblem(await company.send(method, path, body), 404, 'not_found', method);
    }
  });
}

test('deleting one appointment leaves the others', async () => {
  const company = await app.company();
  const [first, second] = [await book(company), await book(company)];
  await ok(company.delete(first));
  assert.equal((await read(company, second)).deleted_at, null);
});

test('a deleted record is kept with deleted_at', async () => {
  const company = await app.company();
  await ok(company.delete(await book(company, everything(company))));
  const sql = 'SELECT notes, deleted_at FROM appointments WHERE company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [
    { notes: 'Bring the deeds', deleted_at: new Date('2026-06-01T09:00:00Z') },
  ]);
});

test('of ten deletions at once exactly one succeeds', async () => {
  const company = await app.company();
  const path = await book(company);
  const ten = Array.from({ length: 10 }, (_, i) => company.send(i % 2 ? 'DELETE' : 'POST', path));
  const statuses = (await Promise.all(ten)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, ...Array(9).fill(404)]);
});

const NOT_AN_OBJECT = ['null', '[]', '[{}]', '""', '"{}"', 'false', '0'];
const NOT_JSON = [' ', '\n', '{', '{"notes":"x"', "{'notes':'x'}", '{"notes":}', 'undefined', '{}{}', '{} x'];

for (const [what, bodies] of [
  ['not an object', NOT_AN_OBJECT],
  ['malformed', NOT_JSON],
] as const) {
  test(`a body that is ${what} neither books, updates nor deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const before = await read(company, path);
    for (const body of bodies) {
      for (const [method, target] of [
        ['POST', path],
        ['PATCH', path],
        ['POST', appointmentsOf(company)],
      ] as const) {
        assertProblem(await company.send(method, target, body), 400, 'invalid_request', [method, body]);
      }
    }
    assert.equal(await booked(company), 1);
    assert.deepEqual(await read(company, path), before);
  });
}

test('a body that is not UTF-8 neither books, updates nor deletes', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  const bytes = Buffer.concat([Buffer.from('{"notes":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  const full = JSON.stringify(booking(company, { notes: 'MARK' }));
  const bookingBytes = Buffer.from(full.replace('MARK', '\u00ff'), 'latin1');
  assertProblem(await company.post(path, bytes), 400, 'invalid_request');
  assertProblem(await company.patch(path, bytes), 400, 'invalid_request');
  assertProblem(await company.post(appointmentsOf(company), bookingBytes), 400, 'invalid_request');
  assert.equal(await booked(company), 1);
  assert.deepEqual(await read(company, path), before);
});

test('an update by PATCH and a booking need a body', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  assertProblem(await company.patch(path), 400, 'invalid_request');
  assertProblem(await company.post(appointmentsOf(company)), 400, 'invalid_request');
  assert.equal(await booked(company), 1);
  assert.deepEqual(await read(company, path), before);
});

test('a body of 1 MiB is read', async () => {
  const company = await app.company();
  const path = await book(company);
  const padded = (body: unknown) => JSON.stringify(body).padEnd(MIB, ' ');
  for (const method of UPDATE_METHODS)
    assert.equal((await ok(company.send(method, path, padded({})))).deleted_at, null);
  await ok(company.post(appointmentsOf(company), padded(booking(company))));
});

/** Sends the body in pieces, without announcing its length. */
async function inPieces(company: TestCompany, method: string, path: string, text: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${company.token}` };
  const body = ReadableStream.from([text.slice(0, 1000), text.slice(1000)].map((piece) => Buffer.from(piece)));
  const response = await fetch(new URL(path, app.baseUrl), { method, headers, body, duplex: 'half' });
  const answered = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: answered,
    body: JSON.parse(answered),
  };
}

for (const [how, send] of [
  ['announced', (company: TestCompany, method: string, path: string, text: string) => company.send(method, path, text)],
  ['in pieces', inPieces],
] as const) {
  test(`a body of one byte more than 1 MiB, ${how}, neither books, updates nor deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const padded = (body: unknown) => JSON.stringify(body).padEnd(MIB + 1, ' ');
    await assertUntouched(company, path, async () => {
      for (const method of UPDATE_METHODS) {
        assertProblem(await send(company, method, path, padded({})), 413, 'body_too_large');
        assertProblem(await send(company, method, path, padded({ notes: 'x' })), 413, 'body_too_large');
      }
      assertProblem(
        await send(company, 'POST', appointmentsOf(company), padded(booking(company))),
        413,
        'body_too_large',
      );
    });
  });
}

test('a DELETE that is refused because of its size deletes nothing', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    assertProblem(await company.send('DELETE', path, '{}'.padEnd(MIB + 1)), 413, 'body_too_large');
  });
});

test('an unknown appointment is 404 also where the body is too large', async () => {
  const company = await app.company();
  for (const method of [...UPDATE_METHODS, 'DELETE']) {
    const answer = await company.send(method, `${appointmentsOf(company)}/${NOBODY}`, '{}'.padEnd(MIB + 1));
    assertProblem(answer, 404, 'not_found', method);
  }
});

// Who may ask, and for what

/** Every way to call the three operations, with bodies that would succeed. */
const calls = (company: TestCompany, path: string): [method: string, path: string, body: unknown][] => [
  ['POST', appointmentsOf(company), booking(company)],
  ['PATCH', path, { notes: 'x' }],
  ['POST', path, { notes: 'x' }],
  ['POST', path, undefined],
  ['DELETE', path, undefined],
];

test('Content-Type: application/json is required, without a body too', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      for (const [method, target, body] of calls(company, path)) {
        const answer = await company.send(method, target, body, { 'content-type': type });
        assertProblem(answer, 400, 'invalid_request', [method, type]);
        assert.match(answer.text, /content-type/i);
      }
    }
  });
});

test('Content-Type may carry parameters and any case', async () => {
  const company = await app.company();
  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
    const path = await book(company);
    for (const [method, target, body] of calls(company, path).slice(0, 4)) {
      await ok(company.send(method, target, body, { 'content-type': type }));
    }
  }
});

test('without a token there is nothing but 401', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const answer = await app.anonymous.send(method, target, body);
      assertProblem(answer, 401, 'invalid_token', method);
      assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
    }
  });
});

test('a token without the scope is refused with 403', async () => {
  const company = await app.company();
  const path = await book(company);
  const powerless = await company.withScopes();
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const answer = await powerless.send(method, target, body);
      assertProblem(answer, 403, 'insufficient_scope', method);
      assert.match(String(answer.headers['www-authenticate']), /error="insufficient_scope"/);
    }
  });
});

test("another company's case does not exist", async () => {
  const company = await app.company();
  const other = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const sent = method === 'POST' && target === appointmentsOf(company) ? booking(other) : body;
      assertProblem(await other.send(method, target, sent), 404, 'not_found', method);
    }
  });
});

test('an unknown case, or a word that is no UUID, is 404', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const id of [NOBODY, 'first', '1', `${company.caseId}0`, '%00']) {
      for (const [method, target, body] of calls(company, path)) {
        const answer = await company.send(method, target.replace(company.caseId, id), body);
        assertProblem(answer, 404, 'not_found', [method, id]);
      }
    }
  });
});

test('an unknown appointment, or a word that is no UUID, is 404', async () => {
  const company = await app.company();
  for (const id of [NOBODY, 'first', '1', company.caseId, '%00']) {
    for (const [method, target, body] of calls(company, `${appointmentsOf(company)}/${id}`).slice(1)) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', [method, id]);
    }
  }
});

test('an appointment is found only under its own case', async () => {
  const company = await app.company();
  const path = await book(company);
  const elsewhere = path.replace(company.caseId, await company.openCase());
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, elsewhere).slice(1)) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', method);
    }
  });
});

test("another company's appointment is not found under one's own case", async () => {
  const company = await app.company();
  const other = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path.replace(company.caseId, other.caseId)).slice(1)) {
      assertProblem(await other.send(method, target, body), 404, 'not_found', method);
    }
  });
});

test('an unknown case or appointment is 404 whatever the body holds', async () => {
  const company = await app.company();
  const path = `${appointmentsOf(company)}/${NOBODY}`;
  const targets = [
    ['POST', `/cases/${NOBODY}/appointments`],
    ['PATCH', path],
    ['POST', path],
    ['PATCH', `/cases/${NOBODY}/appointments/${NOBODY}`],
  ] as const;
  for (const body of [{}, { start_time: 5 }, { adviser_email: 'x' }, ...NOT_AN_OBJECT, ...NOT_JSON]) {
    for (const [method, target] of targets) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', [method, body]);
    }
  }
});

test('credentials are judged before the header, the header before the path', async () => {
  const company = await app.company();
  const path = `/cases/${NOBODY}/appointments/${NOBODY}`;
  const plain = { 'content-type': 'text/plain' };
  const powerless = await company.withScopes();
  for (const method of ['PATCH', 'POST', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : '{';
    assertProblem(await app.anonymous.send(method, path, body, plain), 401, 'invalid_token', method);
    assertProblem(await powerless.send(method, path, body, plain), 403, 'insufficient_scope', method);
    assertProblem(await company.send(method, path, body, plain), 400, 'invalid_request', method);
    assertProblem(await company.send(method, path, body), 404, 'not_found', method);
  }
});

test('no other method touches an appointment', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    assertProblem(await company.send('PUT', path, { notes: 'x' }), 405, 'method_not_allowed');
    assertProblem(await company.send('PUT', appointmentsOf(company), booking(company)), 405, 'method_not_allowed');
    assertProblem(await company.patch(appointmentsOf(company), booking(company)), 405, 'method_not_allowed');
    assertProblem(await company.delete(appointmentsOf(company)), 405, 'method_not_allowed');
  });
});

// At once

test('updates of different fields at once all arrive', async () => {
  const company = await app.company();
  const path = await book(company);
  const answers = await Promise.all(CHANGES.map(([field, sent]) => company.patch(path, { [field]: sent(company) })));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const record = await read(company, path);
  for (const [field, , shown] of CHANGES) assert.equal(record[field], shown(company), field);
});

test('ten updates at once never mix their parts', async () => {
  const company = await app.company();
  const path = await book(company);
  const ten = Array.from({ length: 10 }, (_, i) => company.patch(path, { notes: `n${i}`, location: `n${i}` }));
  for (const answer of await Promise.all(ten)) {
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.notes, answer.body.location);
  }
  const { notes, location } = await read(company, path);
  assert.equal(notes, location);
});

test('a start moved later and an end moved earlier at once never leave an end before its start', async () => {
  const company = await app.company();
  for (let round = 0; round < 5; round += 1) {
    const path = await book(company);
    const answers = await Promise.all([
      company.patch(path, { start_time: '2026-06-10 10:45:00' }),
      company.patch(path, { end_time: '2026-06-10 10:15:00' }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
  }
});

test('an update at the same time as a deletion is done before it or not at all', async () => {
  const company = await app.company();
  for (let round = 0; round < 5; round += 1) {
    const path = await book(company);
    const updates = [1, 2, 3, 4].map((i) => company.patch(path, { notes: `n${i}` }));
    const [deleted, ...updated] = await Promise.all([company.delete(path), ...updates]);
    assert.equal(deleted?.status, 200, deleted?.text);
    for (const answer of updated) {
      assert.ok([200, 404].includes(answer.status), answer.text);
      if (answer.status === 200) assert.equal(answer.body.deleted_at, null);
    }
    assertProblem(await company.patch(path, {}), 404, 'not_found');
  }
});
