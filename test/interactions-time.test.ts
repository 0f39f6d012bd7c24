import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertRefused } from './harness/assert.ts';
import { all, app, assertNeverTaken, type Body, create, list, listed, update } from './harness/interactions.ts';

const written = (wall: Temporal.PlainDateTime) => wall.toString({ smallestUnit: 'second' }).replace('T', ' ');

const WHENS: [zone: string, sent: string, utc: string, wall: string][] = [
  ['Europe/London', '2026-01-15 14:30:00', '2026-01-15T14:30:00', '2026-01-15 14:30:00'],
  ['Europe/London', '2026-07-15 14:30:00', '2026-07-15T13:30:00', '2026-07-15 14:30:00'],
  ['Europe/London', '2026-07-15 14:30', '2026-07-15T13:30:00', '2026-07-15 14:30:00'],
  ['Europe/London', '2026-07-15 00:15:00', '2026-07-14T23:15:00', '2026-07-15 00:15:00'],
  ['Europe/London', '2028-02-29 12:00:00', '2028-02-29T12:00:00', '2028-02-29 12:00:00'],
  ['Europe/London', '2026-07-15T14:30:00Z', '2026-07-15T14:30:00', '2026-07-15 15:30:00'],
  ['Europe/London', '2026-07-15T14:30Z', '2026-07-15T14:30:00', '2026-07-15 15:30:00'],
  ['Europe/London', '2026-07-15T23:30:00Z', '2026-07-15T23:30:00', '2026-07-16 00:30:00'],
  ['Europe/London', '2026-07-15T14:30:00+02:00', '2026-07-15T12:30:00', '2026-07-15 13:30:00'],
  ['Europe/London', '2026-07-15T14:30:00-05:30', '2026-07-15T20:00:00', '2026-07-15 21:00:00'],
  ['Europe/London', '2026-03-28 23:59:59', '2026-03-28T23:59:59', '2026-03-28 23:59:59'],
  ['Europe/London', '2026-03-29 00:59:59', '2026-03-29T00:59:59', '2026-03-29 00:59:59'],
  ['Europe/London', '2026-03-29 01:00:00', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-03-29 01:30:00', '2026-03-29T01:30:00', '2026-03-29 02:30:00'],
  ['Europe/London', '2026-03-29 01:30', '2026-03-29T01:30:00', '2026-03-29 02:30:00'],
  ['Europe/London', '2026-03-29 01:59:59', '2026-03-29T01:59:59', '2026-03-29 02:59:59'],
  ['Europe/London', '2026-03-29 02:00:00', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-03-29 14:00:00', '2026-03-29T13:00:00', '2026-03-29 14:00:00'],
  ['Europe/London', '2026-03-29T00:59:59Z', '2026-03-29T00:59:59', '2026-03-29 00:59:59'],
  ['Europe/London', '2026-03-29T01:00:00Z', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-10-24 23:59:59', '2026-10-24T22:59:59', '2026-10-24 23:59:59'],
  ['Europe/London', '2026-10-25 00:59:59', '2026-10-24T23:59:59', '2026-10-25 00:59:59'],
  ['Europe/London', '2026-10-25 01:00:00', '2026-10-25T00:00:00', '2026-10-25 01:00:00'],
  ['Europe/London', '2026-10-25 01:30:00', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25 01:59:59', '2026-10-25T00:59:59', '2026-10-25 01:59:59'],
  ['Europe/London', '2026-10-25 02:00:00', '2026-10-25T02:00:00', '2026-10-25 02:00:00'],
  ['Europe/London', '2026-10-25 14:00:00', '2026-10-25T14:00:00', '2026-10-25 14:00:00'],
  ['Europe/London', '2026-10-25T00:30:00Z', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00Z', '2026-10-25T01:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00+01:00', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00+00:00', '2026-10-25T01:30:00', '2026-10-25 01:30:00'],
  ['America/New_York', '2026-01-15 14:30:00', '2026-01-15T19:30:00', '2026-01-15 14:30:00'],
  ['America/New_York', '2026-07-15 21:30', '2026-07-16T01:30:00', '2026-07-15 21:30:00'],
  ['America/New_York', '2026-07-16T04:00:00Z', '2026-07-16T04:00:00', '2026-07-16 00:00:00'],
  ['America/New_York', '2026-03-08 01:59:59', '2026-03-08T06:59:59', '2026-03-08 01:59:59'],
  ['America/New_York', '2026-03-08 02:30:00', '2026-03-08T07:30:00', '2026-03-08 03:30:00'],
  ['America/New_York', '2026-03-08 03:00:00', '2026-03-08T07:00:00', '2026-03-08 03:00:00'],
  ['America/New_York', '2026-03-29 01:30:00', '2026-03-29T05:30:00', '2026-03-29 01:30:00'],
  ['America/New_York', '2026-11-01 01:30:00', '2026-11-01T05:30:00', '2026-11-01 01:30:00'],
  ['America/New_York', '2026-11-01 02:00:00', '2026-11-01T07:00:00', '2026-11-01 02:00:00'],
  ['America/New_York', '2026-11-01T06:30:00Z', '2026-11-01T06:30:00', '2026-11-01 01:30:00'],
  ['Asia/Kolkata', '2026-07-15 14:30:00', '2026-07-15T09:00:00', '2026-07-15 14:30:00'],
  ['Australia/Lord_Howe', '2026-10-04 02:15:00', '2026-10-03T15:45:00', '2026-10-04 02:45:00'],
];
for (const [zone, sent, utc, wall] of WHENS) {
  test(`${sent} in ${zone} is ${utc}Z and is listed as ${wall}`, async () => {
    const company = await app.company({ timeZone: zone });
    const created = await create(company, { type: 'phone', when: sent });
    assert.equal(created.when, `${utc}.000000Z`);
    assert.equal((await listed(company, created.id)).when, wall);
    const { id } = await create(company, { type: 'phone' });
    assert.equal((await update(company, id, { type: 'phone', when: sent })).when, `${utc}.000000Z`);
    assert.equal((await listed(company, id)).when, wall);
  });
}

for (const zone of ['Europe/London', 'America/New_York', 'Pacific/Auckland']) {
  test(`any wall time in ${zone} is the instant that Temporal calls compatible`, async () => {
    const company = await app.company({ timeZone: zone });
    const minute = fc.integer({ min: 0, max: 2 * 365 * 24 * 60 });
    await fc.assert(
      fc.asyncProperty(minute, async (minutes) => {
        const wall = Temporal.PlainDateTime.from('2025-06-01T00:00').add({ minutes });
        const at = wall.toZonedDateTime(zone, { disambiguation: 'compatible' });
        const { id, when } = await create(company, { type: 'phone', when: written(wall) });
        assert.equal(when, at.toInstant().toString({ fractionalSecondDigits: 6 }));
        assert.equal((await listed(company, id)).when, written(at.toPlainDateTime()));
      }),
      { numRuns: 25 },
    );
  });

  test(`the when of the list, sent back in ${zone}, changes nothing`, async () => {
    const company = await app.company({ timeZone: zone });
    for (const when of ['2026-01-15 23:30:00', '2026-07-15 00:30:00', '2026-03-29 02:30:00', '2026-10-25 02:00:00']) {
      const created = await create(company, { type: 'phone', when });
      const shown = await listed(company, created.id);
      assert.equal(shown.when, when);
      assert.equal((await update(company, created.id, { type: 'phone', when: shown.when })).when, created.when);
    }
  });
}

test('the when of a create, sent back, changes nothing, not even in the hour that a clock change repeats', async () => {
  const company = await app.company();
  for (const when of ['2026-10-25T01:30:00.250000Z', '2026-10-25T00:30:00.250000Z']) {
    const created = await create(company, { type: 'phone', when });
    assert.equal(created.when, when);
    assert.deepEqual(await update(company, created.id, { type: 'phone', when: created.when }), created);
  }
});

test('instants keep microseconds, and the list cuts them off rather than round', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['2026-05-20T08:59:59.999999Z', '2026-05-20T08:59:59.999999Z'],
    ['2026-05-20T08:59:59.1Z', '2026-05-20T08:59:59.100000Z'],
    ['2026-05-20T08:59:59.000001Z', '2026-05-20T08:59:59.000001Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ] as const) {
    const { id, when } = await create(company, { type: 'phone', when: sent });
    assert.equal(when, kept);
    assert.match((await listed(company, id)).when, /:59:59$/);
  }
});

test('when may be in the past and in the future', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['1950-01-01 12:00:00', '1950-01-01T12:00:00.000000Z'],
    ['2090-01-01 12:00:00', '2090-01-01T12:00:00.000000Z'],
  ])
    assert.equal((await create(company, { type: 'phone', when: sent })).when, kept);
});

for (const [why, ...values] of [
  ['that is not a real day', '2026-02-29 10:00:00', '2026-04-31 10:00', '2026-13-01 10:00:00', '2026-00-10 10:00:00'],
  ['that is not a real day in UTC either', '2026-02-29T10:00:00Z', '2026-06-31T10:00:00+01:00'],
  ['that is not a real time', '2026-06-01 24:00:00', '2026-06-01 10:60:00', '2026-06-01 10:00:60', '2026-06-01 25:00'],
  ['with an offset that does not exist', '2026-06-01T10:00:00+25:00', '2026-06-01T10:00:00+01:60'],
  ['without a time', '2026-06-01', '2026-06-01 10', '2026-06-01T10Z'],
  ['with a T but without a zone', '2026-06-01T10:00:00', '2026-06-01T10:00'],
  ['with another order of its parts', '01/06/2026 10:00:00', '01-06-2026 10:00', '06/01/2026'],
  ['with single digits', '2026-6-1 10:00:00', '2026-06-01 9:00:00'],
  ['with something before or after it', ' 2026-06-01 10:00:00', '2026-06-01 10:00:00 ', '2026-06-01 10:00:00\n'],
  ['with a zone name', '2026-06-01T10:00:00+01:00[Europe/London]', '2026-06-01 10:00:00 BST'],
  ['with more than four digits of year', '+002026-06-01T10:00:00Z', '12026-06-01 10:00:00', '-002026-06-01T10:00:00Z'],
  ['with digits of another script', '２０２６-06-01 10:00:00', '٢٠٢٦-٠٦-٠١ ١٠:٠٠:٠٠'],
  ['that is no time at all', '', 'now', '1780304400'],
] as const) {
  test(`a when ${why} is refused`, async () => {
    const company = await app.company();
    for (const when of values) await assertNeverTaken({ type: 'phone', when }, { when: 'format' }, company);
  });
}

test('a when whose answer would need a year of five digits is refused', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  for (const when of ['9999-12-31 23:59:59', '9999-12-31T23:59:59-01:00']) {
    const answer = await company.post(all(company), { type: 'phone', when });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.errors[0].field, 'when');
  }
  assert.deepEqual(await list(company), []);
});

test('a when of the first years is refused or kept, but never breaks the service', async () => {
  const company = await app.company();
  for (const when of ['0000-01-01 00:00:00', '0000-02-29T00:00:00Z', '0001-01-01 00:00:00', '0099-01-01T00:00:00Z']) {
    const answer = await company.post(all(company), { type: 'phone', when });
    if (answer.status === 200) assert.equal(answer.body.when.slice(0, 10), when.slice(0, 10));
    else assertRefused(answer, { when: answer.body.errors?.[0].code });
    await list(company);
  }
});

test('the list begins with the newest when', async () => {
  const company = await app.company();
  const whens = ['2026-05-02 10:00:00', '2026-05-03 10:00:00', '2025-12-31 23:59:59', '2027-01-01 00:00:00'];
  for (const when of whens) {
    await create(company, { type: 'phone', when });
    app.clock.advance({ seconds: 1 });
  }
  const shown = (await list(company)).map((interaction: Body) => interaction.when);
  assert.deepEqual(shown, ['2027-01-01 00:00:00', '2026-05-03 10:00:00', '2026-05-02 10:00:00', '2025-12-31 23:59:59']);
});

test('the order follows the instant, not the wall time, through the repeated hour', async () => {
  const company = await app.company();
  const first = await create(company, { type: 'phone', when: '2026-10-25T00:45:00Z' });
  app.clock.advance({ seconds: 1 });
  const second = await create(company, { type: 'phone', when: '2026-10-25T01:15:00Z' });
  app.clock.advance({ seconds: 1 });
  const between = await create(company, { type: 'phone', when: '2026-10-25T01:00:00Z' });
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [second.id, between.id, first.id]);
});

test('microseconds decide the order within one second', async () => {
  const company = await app.company();
  const ids: string[] = [];
  for (const fraction of ['000002', '000003', '000001']) {
    ids.push((await create(company, { type: 'phone', when: `2026-05-20T08:00:00.${fraction}Z` })).id);
    app.clock.advance({ seconds: 1 });
  }
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [ids[1], ids[0], ids[2]]);
});

test('of those with the same when, the newest created comes first, updated or not', async () => {
  const company = await app.company();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    ids.unshift((await create(company, { type: 'phone', when: '2026-05-20 10:00:00' })).id);
    app.clock.advance({ seconds: 1 });
  }
  const shown = async () => (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(await shown(), ids);
  await update(company, String(ids[3]), { type: 'letter', notes: 'changed last' });
  assert.deepEqual(await shown(), ids);
});

test('interactions made in one and the same instant are listed newest first', async () => {
  const company = await app.company();
  const made: string[] = [];
  for (let i = 0; i < 12; i++) made.unshift((await create(company, { type: 'phone' })).id);
  assert.deepEqual(
    (await list(company)).map((interaction: Body) => interaction.id),
    made,
  );
});

test('an update of when moves the interaction in the list', async () => {
  const company = await app.company();
  const older = await create(company, { type: 'phone', when: '2026-05-01 10:00:00' });
  const newer = await create(company, { type: 'phone', when: '2026-05-02 10:00:00' });
  await update(company, older.id, { type: 'phone', when: '2026-05-03 10:00:00' });
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [older.id, newer.id]);
});

test('any log is listed by when, then by creation, newest first', async () => {
  const moment = fc.record({ day: fc.integer({ min: 1, max: 3 }), hour: fc.integer({ min: 0, max: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 2, maxLength: 8 }), async (moments) => {
      const company = await app.company();
      const made: { id: string; when: string; at: number }[] = [];
      for (const [at, { day, hour }] of moments.entries()) {
        const { id, when } = await create(company, { type: 'other', when: `2026-05-0${day} 0${hour}:00` });
        made.push({ id, when, at });
        app.clock.advance({ milliseconds: 1 });
      }
      made.sort((a, b) => (a.when === b.when ? b.at - a.at : a.when < b.when ? 1 : -1));
      const shown = (await list(company)).map((interaction: Body) => interaction.id);
      assert.deepEqual(
        shown,
        made.map(({ id }) => id),
      );
    }),
    { numRuns: 10 },
  );
});
