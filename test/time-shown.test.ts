import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TestCompany } from './harness/app.ts';
import {
  app,
  BODIES,
  create,
  created,
  type Fields,
  instantOf,
  type Resource,
  rows,
  second,
  TIMES,
  update,
} from './harness/time.ts';

async function listed(company: TestCompany, resource: Resource): Promise<Fields[]> {
  const answer = await company.get(`${company.path}/${resource}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

test('a list shows when and date_created as wall time of the company, whatever form they came in', async () => {
  const company = await app.company();
  for (const [sent, shown] of [
    ['2026-07-01 10:00:00', '2026-07-01 10:00:00'],
    ['2026-07-01 10:00', '2026-07-01 10:00:00'],
    ['2026-07-01T09:00:00Z', '2026-07-01 10:00:00'],
    ['2026-07-01T09:00:00.999999Z', '2026-07-01 10:00:00'],
    ['2026-01-15T09:00:00Z', '2026-01-15 09:00:00'],
    ['2026-06-30T23:30:00Z', '2026-07-01 00:30:00'],
    ['2026-07-01T10:00:00+05:30', '2026-07-01 05:30:00'],
    ['2026-03-29 01:30:00', '2026-03-29 02:30:00'],
    ['2026-10-25T00:30:00Z', '2026-10-25 01:30:00'],
    ['2026-10-25T01:30:00Z', '2026-10-25 01:30:00'],
    ['1969-07-20T20:17:40.000001Z', '1969-07-20 21:17:40'],
  ] as const) {
    for (const { field, resource } of [TIMES[0], TIMES[1]]) {
      const { id } = await created(company, { resource }, { [field]: sent });
      const record = (await listed(company, resource)).find((record) => record.id === id);
      assert.equal(record?.[field], shown, sent);
    }
  }
});

test('end_time is shown as wall time of the company, whatever form it came in', async () => {
  const company = await app.company();
  for (const [sent, shown] of [
    ['2026-07-01 10:00', '2026-07-01 10:00:00'],
    ['2026-07-01T09:00:00Z', '2026-07-01 10:00:00'],
    ['2026-06-30T23:30:00.123456Z', '2026-07-01 00:30:00'],
    ['2026-03-29 01:30:00', '2026-03-29 02:30:00'],
    ['2026-10-25T01:30:00Z', '2026-10-25 01:30:00'],
    ['1969-07-20T20:17:40.000001Z', '1969-07-20 21:17:40'],
  ] as const) {
    const { id, end_time } = await created(company, TIMES[4], { end_time: sent });
    assert.equal(end_time, shown);
    const updated = await company.patch(`${company.path}/appointments/${id}`, { notes: 'the same time' });
    assert.equal(updated.body.end_time, shown);
  }
});

test('the list shapes and end_time of a company in another zone are times of that zone', async () => {
  const instant = '2026-07-01T23:30:00Z';
  for (const [timeZone, wall] of [
    ['UTC', '2026-07-01 23:30:00'],
    ['America/New_York', '2026-07-01 19:30:00'],
    ['Asia/Kathmandu', '2026-07-02 05:15:00'],
    ['Pacific/Kiritimati', '2026-07-02 13:30:00'],
  ] as const) {
    const company = await app.company({ timeZone });
    await created(company, TIMES[0], { when: instant });
    await created(company, TIMES[1], { date_created: instant, date_due: instant });
    const appointment = await created(company, TIMES[4], { end_time: instant });
    const [interaction] = await listed(company, 'interactions');
    const [invoice] = await listed(company, 'invoices');
    assert.deepEqual([interaction?.when, invoice?.date_created, appointment.end_time], [wall, wall, wall]);
    assert.equal(invoice?.date_due, '2026-07-01T23:30:00.000000Z');
  }
});

test('a time at the very second of a change is shown right, and so are the times before and after it', async () => {
  const company = await app.company({ timeZone: 'America/Halifax' });
  const shown = [
    ['2026-11-01T05:00:00Z', '2026-11-01 01:00:00'],
    ['2026-03-08T06:00:00Z', '2026-03-08 03:00:00'],
    ['2026-11-01T04:59:59Z', '2026-11-01 01:59:59'],
    ['2026-03-08T05:59:59Z', '2026-03-08 01:59:59'],
    ['2026-07-01T12:00:00Z', '2026-07-01 09:00:00'],
    ['2026-01-15T12:00:00Z', '2026-01-15 08:00:00'],
    ['2026-12-15T12:00:00Z', '2026-12-15 08:00:00'],
  ] as const;
  for (const [sent, wall] of shown) {
    const { id } = await created(company, TIMES[0], { when: sent });
    const record = (await listed(company, 'interactions')).find((record) => record.id === id);
    assert.equal(record?.when, wall);
  }
  const walls = (await listed(company, 'interactions')).map(({ when }) => when);
  assert.deepEqual(walls.sort(), shown.map(([, wall]) => wall).sort());
});

/** Zones whose rules have changed recently, and some that have not. None of these times is skipped or repeated. */
for (const timeZone of ['America/Edmonton', 'Africa/Casablanca', 'Asia/Gaza', 'Asia/Hebron', 'Europe/London']) {
  test(`wall times of ${timeZone} in years to come are shown as they were sent`, async () => {
    const company = await app.company({ timeZone });
    for (const sent of ['2026-12-15 12:00:00', '2027-01-15 06:00:00', '2043-09-13 12:00:00', '2073-09-02 12:00:00']) {
      const { end_time } = await created(company, TIMES[4], { end_time: sent });
      assert.equal(end_time, sent);
      for (const { field, resource } of [TIMES[0], TIMES[1]]) {
        const { id } = await created(company, { resource }, { [field]: sent });
        const record = (await listed(company, resource)).find((record) => record.id === id);
        assert.equal(record?.[field], sent);
      }
    }
  });
}

test('a record keeps its instant when its company moves to another zone', async () => {
  const company = await app.company();
  await created(company, TIMES[0], { when: '2026-07-01 10:00:00' });
  const { id } = await created(company, TIMES[4], { start_time: '2026-07-01 09:00', end_time: '2026-07-01 10:00' });
  await app.sql("UPDATE companies SET time_zone = 'America/New_York' WHERE id = $1", [company.companyId]);
  app.clock.advance({ seconds: 3 });
  assert.equal((await listed(company, 'interactions'))[0]?.when, '2026-07-01 05:00:00');
  const { body } = await company.patch(`${company.path}/appointments/${id}`, {});
  assert.deepEqual([body.start_time, body.end_time], ['2026-07-01T08:00:00.000000Z', '2026-07-01 05:00:00']);
  const { when } = await created(company, TIMES[0], { when: '2026-07-01 10:00:00' });
  assert.equal(when, '2026-07-01T14:00:00.000000Z');
});

test('what a list shows can be sent back in an update', async () => {
  const company = await app.company();
  await created(company, TIMES[0], { when: '2026-07-01T23:30:00Z' });
  await created(company, TIMES[1], { date_created: '2026-07-01T23:30:00Z', date_due: '2026-07-31T23:30:00.000001Z' });
  for (const resource of ['interactions', 'invoices'] as const) {
    const [before] = await listed(company, resource);
    assert.ok(before);
    const answer = await update(company, { resource }, String(before.id), { ...before, sub_total: before.subtotal });
    assert.equal(answer.status, 200, answer.text);
    const [after] = await listed(company, resource);
    assert.deepEqual(after, before);
  }
});

test('an absent when is now, to the microsecond, and so is null', async () => {
  const company = await app.company();
  app.clock.set('2026-06-01T09:00:00.123456Z');
  for (const fields of [{}, { when: null }]) {
    assert.equal((await created(company, TIMES[0], fields)).when, '2026-06-01T09:00:00.123456Z');
  }
  const walls = (await listed(company, 'interactions')).map(({ when }) => when);
  assert.deepEqual(walls, ['2026-06-01 10:00:00', '2026-06-01 10:00:00']);
});

test('created_at and updated_at are the instants of the writes, with six fractional digits', async () => {
  const company = await app.company();
  const entry = { entity_id: 'person', title: 'Ms', first_names: 'Eve', last_name: 'Jones' };
  const writes = { 'address-book/entry': entry, appointments: BODIES.appointments(company) };
  for (const [path, body] of Object.entries(writes)) {
    app.clock.set('2026-06-01T09:00:00Z');
    const first = await company.post(`${company.path}/${path}`, body);
    assert.equal(first.body.created_at, '2026-06-01T09:00:00.000000Z', first.text);
    assert.equal(first.body.updated_at, '2026-06-01T09:00:00.000000Z');
    app.clock.set('2026-06-01T09:00:07.000001Z');
    const second = await company.patch(`${company.path}/${path}/${first.body.id}`, body);
    assert.equal(second.body.created_at, '2026-06-01T09:00:00.000000Z', second.text);
    assert.equal(second.body.updated_at, '2026-06-01T09:00:07.000001Z');
  }
});

test('deleted_at is the instant of the deletion, with six fractional digits', async () => {
  const company = await app.company();
  const { id } = await created(company, TIMES[3]);
  app.clock.set('2026-06-02T09:00:00.5Z');
  const answer = await company.delete(`${company.path}/appointments/${id}`);
  assert.equal(answer.body.deleted_at, '2026-06-02T09:00:00.500000Z', answer.text);
});

for (const [why, start_time, end_time, accepted] of [
  ['one microsecond later', '2026-07-01T10:00:00.000000Z', '2026-07-01T10:00:00.000001Z', true],
  ['the same instant in another form', '2026-07-01 11:00:00', '2026-07-01T10:00:00Z', false],
  ['later by its offset though its digits are smaller', '2026-07-01T10:00:00+05:00', '2026-07-01T06:00:00Z', true],
  ['earlier by its offset though its digits are greater', '2026-07-01T10:00:00Z', '2026-07-01T12:00:00+05:00', false],
  ['earlier on the wall, but after the clocks went back', '2026-10-25T00:45:00Z', '2026-10-25T01:15:00Z', true],
  ['earlier on the wall in the repeated hour', '2026-10-25 01:45:00', '2026-10-25 01:15:00', false],
  ['passed by a start that the change moves forward', '2026-03-29 01:30:00', '2026-03-29 02:15:00', false],
  ['moved forward itself', '2026-03-29 02:15:00', '2026-03-29 01:30:00', true],
] as const) {
  test(`an end_time is ${accepted ? 'taken' : 'refused'} when it is ${why}`, async () => {
    const company = await app.company();
    const { id } = await created(company, TIMES[3]);
    const before = await rows(company, 'appointments');
    for (const answer of [
      await create(company, TIMES[3], { start_time, end_time }),
      await update(company, TIMES[3], id, { start_time, end_time }),
    ]) {
      assert.equal(answer.status, accepted ? 200 : 400, answer.text);
      if (!accepted) {
        assert.deepEqual(
          answer.body.errors.map(({ field, code }: Fields) => [field, code]),
          [['end_time', 'not_after_start']],
        );
      }
    }
    if (!accepted) assert.deepEqual(await rows(company, 'appointments'), before);
  });
}

test('a date of birth is in the future from the day after today, as the company has it', async () => {
  const entry = { entity_id: 'person', title: 'Ms', first_names: 'Eve', last_name: 'Jones' };
  for (const [timeZone, today, tomorrow] of [
    ['Europe/London', '02/06/2026', '03/06/2026'],
    ['America/New_York', '01/06/2026', '02/06/2026'],
  ] as const) {
    const company = await app.company({ timeZone });
    app.clock.set('2026-06-01T23:30:00Z');
    const born = await company.post(`${company.path}/address-book/entry`, { ...entry, dob: today });
    assert.equal(born.status, 200, born.text);
    const unborn = await company.post(`${company.path}/address-book/entry`, { ...entry, dob: tomorrow });
    assert.equal(unborn.status, 400, unborn.text);
    assert.deepEqual(
      unborn.body.errors.map(({ field }: Fields) => field),
      ['dob'],
    );
  }
});

const ZONES = [
  'Africa/Accra',
  'Africa/Casablanca',
  'Africa/Monrovia',
  'America/Edmonton',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Antarctica/Troll',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Atlantic/Reykjavik',
  'Australia/Lord_Howe',
  'Europe/Amsterdam',
  'Europe/Dublin',
  'Europe/London',
  'Europe/Oslo',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'UTC',
];

/** Instants in a zone, half of them within three hours of a clock change. */
const anyMoment = fc
  .tuple(fc.constantFrom(...ZONES), second('1840-01-01T00:00Z', '2120-01-01T00:00Z'), fc.boolean(), fc.integer())
  .map(([timeZone, instant, nearChange, shift]) => {
    const change = instant.toZonedDateTimeISO(timeZone).getTimeZoneTransition('next')?.toInstant();
    return {
      timeZone,
      instant: nearChange && change ? change.add({ seconds: shift % 10_800 }) : instant,
    };
  });

const microseconds = (instant: Temporal.Instant) => instant.toString({ fractionalSecondDigits: 6 });

test('what is shown as wall time can be sent back and gives the same instant, but the first of a repeated hour', async () => {
  const companies = new Map<string, TestCompany>();
  for (const timeZone of ZONES) companies.set(timeZone, await app.company({ timeZone }));
  const at = async (timeZone: string) => {
    const company = companies.get(timeZone);
    assert.ok(company);
    return { ...company, path: `/cases/${await company.openCase()}` };
  };
  await fc.assert(
    fc.asyncProperty(anyMoment, async ({ timeZone, instant }) => {
      const company = await at(timeZone);
      const sent = microseconds(instant);
      const local = instant.toZonedDateTimeISO(timeZone);
      const wall = `${local.toPlainDate()} ${local.toPlainTime().toString({ smallestUnit: 'second' })}`;
      const understood = microseconds(
        local.toPlainDateTime().toZonedDateTime(timeZone, { disambiguation: 'compatible' }).toInstant(),
      );
      const repeated = local.toPlainDateTime().toZonedDateTime(timeZone, { disambiguation: 'later' });
      if (understood !== sent) assert.equal(microseconds(repeated.toInstant()), sent, 'the oracle is wrong');

      for (const time of [TIMES[0], TIMES[1], TIMES[4]]) {
        const { field, resource } = time;
        const first = await create(company, time, { [field]: sent });
        assert.equal(await instantOf(time, first), sent);
        const [record] = resource === 'appointments' ? [first.body] : await listed(company, resource);
        assert.equal(record[field], wall);
        const second = await update(company, time, first.body.id, { [field]: wall });
        assert.equal(await instantOf(time, second), understood);
      }
    }),
    { numRuns: 120 },
  );
});

test('any wall time of the calendar is accepted, and means what Temporal calls compatible', async () => {
  const companies = new Map<string, TestCompany>();
  for (const timeZone of ZONES) companies.set(timeZone, await app.company({ timeZone }));
  await fc.assert(
    fc.asyncProperty(anyMoment, fc.constantFrom(...TIMES), async ({ timeZone, instant }, time) => {
      const company = companies.get(timeZone);
      assert.ok(company);
      const wall = Temporal.PlainDateTime.from(instant.toString().slice(0, 19));
      const text = wall.toString({ smallestUnit: 'second' }).replace('T', ' ');
      const expected = wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).toInstant();
      const answer = await create(company, time, { [time.field]: text });
      assert.equal(await instantOf(time, answer), microseconds(expected), `${text} ${timeZone}`);
    }),
    { numRuns: 250 },
  );
});
