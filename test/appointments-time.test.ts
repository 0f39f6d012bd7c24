import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  app,
  appointmentsOf,
  assertNotBooked,
  assertNotUpdated,
  assertRefusedEverywhere,
  book,
} from './harness/appointments.ts';
import { ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import { character } from './harness/characters.ts';

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
    fc.asyncProperty(
      fc.oneof(shaped, pieces, fc.string({ unit: fc.oneof(character, fc.constant('\0')) })),
      async (start_time) => {
        const answer = await company.patch(path, { start_time });
        assert.ok([200, 400].includes(answer.status), `${JSON.stringify(start_time)}: ${answer.text}`);
      },
    ),
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
