import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const WALL = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

type Fields = Record<string, unknown>;
type Resource = 'interactions' | 'invoices' | 'appointments';

let numbers = 0;

/** Bodies that lack nothing; the appointment is long enough for any start or end of these tests. */
const BODIES: Record<Resource, (company: TestCompany) => Fields> = {
  interactions: () => ({ type: 'phone' }),
  invoices: () => {
    numbers += 1;
    return {
      invoice_number: `INV-${numbers}`,
      sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
      date_created: '2026-05-01 10:00:00',
      date_due: '2026-05-31 10:00:00',
      vat: 20,
      total: 120,
      sub_total: 100,
    };
  },
  appointments: (company) => ({
    adviser_email: company.adviser,
    start_time: '1500-01-01 00:00:00',
    end_time: '2900-01-01 00:00:00',
  }),
};

/** Every time of day that a body can hold, and how the answers to writes show it. */
const TIMES = [
  { field: 'when', resource: 'interactions', shown: ISO },
  { field: 'date_created', resource: 'invoices', shown: ISO },
  { field: 'date_due', resource: 'invoices', shown: ISO },
  { field: 'start_time', resource: 'appointments', shown: ISO },
  { field: 'end_time', resource: 'appointments', shown: WALL },
] as const;

type Time = (typeof TIMES)[number];

const create = (company: TestCompany, { resource }: { resource: Resource }, fields: Fields) =>
  company.post(`${company.path}/${resource}`, { ...BODIES[resource](company), ...fields });

const update = (company: TestCompany, { resource }: { resource: Resource }, id: string, fields: Fields) =>
  company.patch(`${company.path}/${resource}/${id}`, { ...BODIES[resource](company), ...fields });

async function created(
  company: TestCompany,
  of: { resource: Resource },
  fields: Fields = {},
): Promise<Fields & { id: string }> {
  const answer = await create(company, of, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function listed(company: TestCompany, resource: Resource): Promise<Fields[]> {
  const answer = await company.get(`${company.path}/${resource}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** The instant that a write has stored; no operation shows that of end_time. */
async function instantOf({ field, shown }: Time, answer: Answer): Promise<string> {
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.body[field], shown);
  if (shown === ISO) return answer.body[field];
  const [row] = await app.sql<{ at: string }>(
    `SELECT to_char(end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM appointments WHERE id = $1`,
    [answer.body.id],
  );
  return row?.at ?? 'absent';
}

/** Holds that each text means its instant, in a create and in an update. */
async function assertMeans(
  company: TestCompany,
  time: Time,
  meanings: readonly (readonly [text: string, instant: string])[],
) {
  const { id } = await created(company, time);
  for (const [text, instant] of meanings) {
    const expected = instant.replace(/(:\d\d)Z$/, '$1.000000Z');
    assert.equal(await instantOf(time, await create(company, time, { [time.field]: text })), expected, text);
    assert.equal(await instantOf(time, await update(company, time, id, { [time.field]: text })), expected, text);
  }
}

async function rows(company: TestCompany, resource: Resource): Promise<unknown[]> {
  return app.sql(`SELECT * FROM ${resource} WHERE company_id = $1 ORDER BY id`, [company.companyId]);
}

async function assertTimesRefused(time: Time, wrong: unknown[], code: string, timeZone = 'Europe/London') {
  const company = await app.company({ timeZone });
  const { id } = await created(company, time);
  const before = await rows(company, time.resource);
  for (const text of wrong) {
    for (const answer of [
      await create(company, time, { [time.field]: text }),
      await update(company, time, id, { [time.field]: text }),
    ]) {
      assert.equal(answer.status, 400, `${JSON.stringify(text)}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_request');
      assert.deepEqual(
        answer.body.errors.map(({ field, code }: Fields) => [field, code]),
        [[time.field, code]],
        JSON.stringify(text),
      );
    }
  }
  assert.deepEqual(await rows(company, time.resource), before);
}

for (const time of TIMES) {
  const { field } = time;

  test(`${field} without a zone is wall time of the company, with or without seconds`, async () => {
    const company = await app.company();
    await assertMeans(company, time, [
      ['2026-07-01 10:00:00', '2026-07-01T09:00:00Z'],
      ['2026-07-01 10:00', '2026-07-01T09:00:00Z'],
      ['2026-01-15 10:00:59', '2026-01-15T10:00:59Z'],
      ['2026-01-15 22:05', '2026-01-15T22:05:00Z'],
      ['2026-07-01 00:00:00', '2026-06-30T23:00:00Z'],
      ['2026-12-31 23:59:59', '2026-12-31T23:59:59Z'],
      ['2024-02-29 12:00:00', '2024-02-29T12:00:00Z'],
      ['2000-02-29 12:00', '2000-02-29T12:00:00Z'],
      ['1969-12-31 23:59:59', '1969-12-31T22:59:59Z'],
    ]);
  });

  test(`${field} with T and Z is UTC, with T and an offset it is that offset's time`, async () => {
    const company = await app.company();
    await assertMeans(company, time, [
      ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00Z'],
      ['2026-07-01T10:00:00.000000Z', '2026-07-01T10:00:00Z'],
      ['2026-01-15T10:00Z', '2026-01-15T10:00:00Z'],
      ['2026-07-01T10:00:00+00:00', '2026-07-01T10:00:00Z'],
      ['2026-07-01T10:00:00+01:00', '2026-07-01T09:00:00Z'],
      ['2026-07-01T10:00:00-05:30', '2026-07-01T15:30:00Z'],
      ['2026-07-01T00:30:00+14:00', '2026-06-30T10:30:00Z'],
      ['2026-07-01T23:30:00.250000-12:00', '2026-07-02T11:30:00.250000Z'],
    ]);
  });

  test(`${field} keeps microseconds`, async () => {
    const company = await app.company();
    await assertMeans(company, time, [
      ['2026-07-01T10:00:00.123456Z', '2026-07-01T10:00:00.123456Z'],
      ['2026-07-01T10:00:00.000001Z', '2026-07-01T10:00:00.000001Z'],
      ['2026-07-01T10:00:00.999999Z', '2026-07-01T10:00:00.999999Z'],
      ['2026-07-01T10:00:00.5Z', '2026-07-01T10:00:00.500000Z'],
      ['2026-07-01T11:00:00.012+01:00', '2026-07-01T10:00:00.012000Z'],
      ['1969-07-20T20:17:40.000001Z', '1969-07-20T20:17:40.000001Z'],
    ]);
  });

  test(`${field} in the hour that the spring change skips moves forward`, async () => {
    const company = await app.company();
    await assertMeans(company, time, [
      ['2026-03-29 00:59:59', '2026-03-29T00:59:59Z'],
      ['2026-03-29 01:00:00', '2026-03-29T01:00:00Z'],
      ['2026-03-29 01:30', '2026-03-29T01:30:00Z'],
      ['2026-03-29 01:59:59', '2026-03-29T01:59:59Z'],
      ['2026-03-29 02:00:00', '2026-03-29T01:00:00Z'],
    ]);
  });

  test(`${field} in the hour that the autumn change repeats is the first of the two`, async () => {
    const company = await app.company();
    await assertMeans(company, time, [
      ['2026-10-25 00:59:59', '2026-10-24T23:59:59Z'],
      ['2026-10-25 01:00:00', '2026-10-25T00:00:00Z'],
      ['2026-10-25 01:30', '2026-10-25T00:30:00Z'],
      ['2026-10-25 01:59:59', '2026-10-25T00:59:59Z'],
      ['2026-10-25 02:00:00', '2026-10-25T02:00:00Z'],
      ['2026-10-25T01:30:00+00:00', '2026-10-25T01:30:00Z'],
      ['2026-10-25T01:30:00+01:00', '2026-10-25T00:30:00Z'],
    ]);
  });

  for (const [timeZone, meanings] of Object.entries({
    UTC: [['2026-07-01 10:00:00', '2026-07-01T10:00:00Z']],
    'America/New_York': [
      ['2026-07-01 22:00:00', '2026-07-02T02:00:00Z'],
      ['2026-03-08 02:30:00', '2026-03-08T07:30:00Z'],
      ['2026-11-01 01:30:00', '2026-11-01T05:30:00Z'],
      ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00Z'],
    ],
    'Asia/Kolkata': [['2026-07-01 03:00', '2026-06-30T21:30:00Z']],
    'Asia/Kathmandu': [['2026-07-01 10:00', '2026-07-01T04:15:00Z']],
    'America/St_Johns': [['2026-07-01 10:00', '2026-07-01T12:30:00Z']],
    'Pacific/Kiritimati': [['2026-07-01 10:00', '2026-06-30T20:00:00Z']],
    'Australia/Lord_Howe': [
      ['2026-10-04 02:15:00', '2026-10-03T15:45:00Z'],
      ['2026-04-05 01:45:00', '2026-04-04T14:45:00Z'],
    ],
    'America/Sao_Paulo': [['2018-11-04 00:00:00', '2018-11-04T03:00:00Z']],
    'Pacific/Apia': [['2011-12-30 12:00:00', '2011-12-30T22:00:00Z']],
  } as const)) {
    test(`${field} follows the clock of ${timeZone}`, async () => {
      await assertMeans(await app.company({ timeZone }), time, meanings);
    });
  }

  test(`${field} is refused when the day or the time of day does not exist`, () =>
    assertTimesRefused(
      time,
      [
        '2026-02-29 10:00:00',
        '2026-02-30 10:00',
        '1900-02-29 10:00:00',
        '2026-04-31 10:00:00',
        '2026-00-10 10:00:00',
        '2026-13-10 10:00:00',
        '2026-01-00 10:00:00',
        '2026-01-32 10:00:00',
        '2026-01-10 24:00:00',
        '2026-01-10 25:00',
        '2026-01-10 10:60',
        '2026-01-10 10:00:60',
        '2026-02-29T10:00:00Z',
        '2026-04-31T10:00:00+01:00',
        '2026-01-10T24:00:00Z',
        '2026-01-10T10:60:00Z',
        '2026-01-10T10:00:60Z',
        '2026-01-10T10:00:00+24:00',
        '2026-01-10T10:00:00+01:60',
      ],
      'format',
    ));

  test(`${field} is refused in any other form`, () =>
    assertTimesRefused(
      time,
      [
        '',
        ' ',
        'now',
        'tomorrow',
        '2026-01-10',
        '10:00:00',
        '2026-01-10 10',
        '2026-01-10 10:00:00 ',
        ' 2026-01-10 10:00:00',
        '2026-01-10 10:00:00\n',
        '2026-01-10  10:00:00',
        '2026-1-10 10:00:00',
        '2026-01-10 9:00:00',
        '26-01-10 10:00:00',
        '10/01/2026 10:00:00',
        '01-10-2026 10:00:00',
        '2026/01/10 10:00:00',
        '20260110 100000',
        '2026-01-10 10.00.00',
        '2026-01-10 10:00:00 AM',
        '2026-01-10 10:00:00 Europe/London',
        '2026-01-10T10:00:00',
        '2026-01-10T10:00:00[Europe/London]',
        '2026-01-10T10:00:00Z[Europe/Paris]',
        '2026-01-10T10:00:00+01:00[Europe/Paris]',
        '2026-01-10T10:00:00Z[u-ca=hebrew]',
        '2026-01-10T10:00:00ZZ',
        '2026-01-10T10:00:00Z+01:00',
        '+002026-01-10 10:00:00',
        '+002026-01-10T10:00:00Z',
        '-000001-01-10T10:00:00Z',
        '-2026-01-10 10:00:00',
        '12026-01-10 10:00:00',
        '2026-W02-6 10:00:00',
        '2026-010 10:00:00',
        'Sat, 10 Jan 2026 10:00:00 GMT',
        '1768039200',
        '２０２６-01-10 10:00:00',
        '2026-01-10 10:00:00; DROP TABLE cases',
        'infinity',
        'null',
      ],
      'format',
    ));

  test(`${field} is refused when it is no text`, () =>
    assertTimesRefused(time, [0, 1768039200, 1768039200000, true, [], ['2026-01-10 10:00:00'], {}], 'type'));

  test(`${field} is refused when its year has not four digits in UTC and on the wall`, async () => {
    await assertTimesRefused(
      time,
      ['9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00+01:00', '0000-06-01T00:00:00Z'],
      'out_of_range',
    );
    await assertTimesRefused(time, ['9999-12-31T23:59:59Z'], 'out_of_range', 'Asia/Tokyo');
    await assertTimesRefused(time, ['9999-12-31 23:59:59'], 'out_of_range', 'America/New_York');
    await assertTimesRefused(time, ['0000-06-01 10:00:00'], 'out_of_range', 'UTC');
  });

  test(`${field} as a write answers with it can be sent back and stays what it is`, async () => {
    const company = await app.company();
    const [text, instant] =
      time.shown === ISO
        ? ['2026-07-01T10:00:00.123456Z', '2026-07-01T10:00:00.123456Z']
        : ['2026-07-01 11:00:00', '2026-07-01T10:00:00.000000Z'];
    const first = await create(company, time, { [field]: text });
    assert.equal(await instantOf(time, first), instant);
    assert.equal(first.body[field], text);
    const second = await update(company, time, first.body.id, { [field]: first.body[field] });
    assert.equal(await instantOf(time, second), instant);
    assert.equal(second.body[field], text);
  });
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

/** Zones whose rules have changed of late, and some that have not; none of these times is skipped or repeated. */
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

const second = (from: string, to: string) =>
  fc
    .integer({
      min: Temporal.Instant.from(from).epochMilliseconds / 1000,
      max: Temporal.Instant.from(to).epochMilliseconds / 1000,
    })
    .map((seconds) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000));

/** Instants of a zone: half of them anywhere, half of them within three hours of a change of its clock. */
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

test('any wall time of the calendar is taken, and means what Temporal calls compatible', async () => {
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
