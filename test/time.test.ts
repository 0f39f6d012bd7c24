import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { app, create, created, type Fields, ISO, instantOf, rows, TIMES, type Time, update } from './harness/time.ts';

/** Each text must mean its instant, in a create and in an update. */
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

  test(`${field} is refused when it is not text`, () =>
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
