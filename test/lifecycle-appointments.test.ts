import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok } from './harness/assert.ts';
import type { Caller } from './harness/http.ts';
import {
  app,
  assertRefusedUnchanged,
  book,
  EVERY_MESSAGE,
  type Fields,
  listOf,
  messages,
  onDay,
  outcome,
  REMINDERS,
  START,
  scheduled,
  sendOut,
  stored,
  UPDATE_METHODS,
  withRecipients,
  words,
} from './harness/lifecycle-appointments.ts';

const COMMON_KEYS = [
  ...['created_at', 'customer_case_id', 'email_confirmation', 'email_day_before', 'email_notification'],
  ...['email_recipient', 'end_time', 'id', 'location', 'notes', 'sms_confirmation', 'sms_day_before'],
  ...['sms_notification', 'sms_recipient', 'start_time', 'updated_at'],
];
const CREATE_KEYS = [...COMMON_KEYS, 'adviser_email'].sort();
const UPDATE_KEYS = [...COMMON_KEYS, 'attended', 'cancelled', 'deleted_at', 'join_url', 'type', 'video_id'].sort();
const READ_KEYS = [...UPDATE_KEYS, 'adviser_email', 'external_id'].sort();
const NOW = '2026-06-01T09:00:00.000000Z';

// Reading one

test('one appointment reads as an update answers, with the adviser', async () => {
  const company = await app.company();
  const path = await book(company, { ...EVERY_MESSAGE, notes: 'Bring the deeds', location: 'Office' });
  const one = await ok(company.get(path));
  assert.deepEqual(Object.keys(one).sort(), READ_KEYS);
  const { adviser_email, external_id, ...rest } = one;
  assert.deepEqual([adviser_email, external_id], [company.adviser, null]);
  assert.deepEqual(words(one), ['scheduled', 'scheduled', 1]);
  assert.deepEqual(rest, await ok(company.patch(path, {})));
});

test('reading changes nothing', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  const before = await stored(company);
  await ok(company.get(path));
  await ok(company.get(listOf(company)));
  await ok(company.get(`/appointments?adviser_email=${company.adviser}`));
  assert.deepEqual(await stored(company), before);
});

test('a deleted appointment is not read', async () => {
  const company = await app.company();
  const path = await book(company);
  await ok(company.delete(path));
  assertNotFound(await company.get(path));
});

// Lists

/** Three days, the second of them deleted, booked out of order. */
async function threeDays(company: TestCompany, fields: Fields = {}, list = listOf(company)): Promise<void> {
  for (const day of ['2026-06-12', '2026-06-10', '2026-06-11']) {
    const path = await book(company, { ...fields, ...onDay(day) }, list);
    if (day === '2026-06-11') await ok(company.delete(path));
  }
}
/** The list of the company shows these in addition to the list of a case. */
const ADDITIONS = ['case', 'end_time_utc', 'outcome'];
const withoutAdditions = (one: Fields) =>
  Object.fromEntries(Object.entries(one).filter(([field]) => !ADDITIONS.includes(field)));
const days = (list: Fields[]) => list.map(({ start_time }) => Number(String(start_time).slice(8, 10)));

for (const [name, path] of [
  ['of a case', (company: TestCompany) => `${listOf(company)}?`],
  ['of an adviser', (company: TestCompany) => `/appointments?adviser_email=${company.adviser}`],
] as const) {
  test(`appointments ${name} are listed in the order of their starts, without deleted ones, as one reads`, async () => {
    const company = await app.company();
    await threeDays(company, EVERY_MESSAGE);
    const list = await ok(company.get(path(company)));
    assert.deepEqual(days(list), [10, 12]);
    for (const one of list) {
      const read = await ok(company.get(`${listOf(company)}/${one.id}`));
      assert.deepEqual(withoutAdditions(one), withoutAdditions(read));
    }
  });

  for (const [deleted, expected] of Object.entries({
    false: [10, 12],
    0: [10, 12],
    true: [11],
    1: [11],
    all: [10, 11, 12],
  })) {
    test(`appointments ${name} with deleted=${deleted}`, async () => {
      const company = await app.company();
      await threeDays(company);
      const list = await ok(company.get(`${path(company)}&deleted=${deleted}`));
      assert.deepEqual(days(list), expected);
      for (const one of list) {
        assert.deepEqual(Object.keys(withoutAdditions(one)).sort(), READ_KEYS);
        assert.equal(one.deleted_at, one.start_time.startsWith('2026-06-11') ? NOW : null);
      }
    });
  }

  for (const [from, to, expected] of [
    ['2026-06-11 10:00:00', undefined, [11, 12]],
    ['2026-06-11 10:00:01', undefined, [12]],
    ['2026-06-11T09:00:00Z', undefined, [11, 12]],
    ['2026-06-11T09:00:00.000001Z', undefined, [12]],
    [undefined, '2026-06-11 10:00', [10]],
    [undefined, '2026-06-11 10:00:01', [10, 11]],
    ['2026-06-10 10:00:00', '2026-06-12T10:00:00+01:00', [10, 11]],
    ['2026-06-12 10:00:00', '2026-06-10 10:00:00', []],
  ] as const) {
    test(`appointments ${name} from ${from} to ${to}: the one is included, the other is not`, async () => {
      const company = await app.company();
      await threeDays(company);
      const range = new URLSearchParams({ deleted: 'all', ...(from && { from }), ...(to && { to }) });
      assert.deepEqual(days(await ok(company.get(`${path(company)}&${range}`))), expected);
    });
  }

  test(`appointments ${name}: every faulty parameter is named`, async () => {
    const company = await app.company();
    assertRefused(await company.get(`${path(company)}&from=soon&to=2026-02-30%2010:00:00&deleted=yes`), {
      from: 'format',
      to: 'format',
      deleted: 'not_allowed',
    });
    assertRefused(await company.get(`${path(company)}&from=2026-06-11%2010:00&from=2026-06-12%2010:00`), {
      from: 'type',
    });
  });

  test(`appointments ${name} and an unknown adviser: refused, of another company too`, async () => {
    const company = await app.company();
    const stranger = await app.company();
    await book(stranger);
    const base = path(company).split('?')[0];
    for (const email of ['unknown@firm.example', stranger.adviser]) {
      assertRefused(await company.get(`${base}?adviser_email=${email}`), { adviser_email: 'unknown' });
    }
    assertRefused(await company.get(`${base}?adviser_email=a%00b`), { adviser_email: 'invalid_character' });
    assertRefused(await company.get(`${base}?adviser_email=`), { adviser_email: 'too_short' });
    assertRefused(await company.get(`${base}?adviser_email=${'x'.repeat(255)}`), { adviser_email: 'too_long' });
  });

  test(`appointments ${name} go with the adviser, whose address is compared case-insensitively`, async () => {
    const company = await app.company();
    const base = path(company).split('?')[0];
    await book(company);
    await book(company, { adviser_email: company.adviserWithVideo });
    const advisers = async (email: string) =>
      (await ok(company.get(`${base}?adviser_email=${email}`))).map((one: Fields) => one.adviser_email);
    assert.deepEqual(await advisers(company.adviser), [company.adviser]);
    assert.deepEqual(await advisers(company.adviserWithVideo.toUpperCase()), [company.adviserWithVideo]);
    await app.sql(`UPDATE advisers SET email = 'new@firm.example', active = false WHERE email = $1`, [company.adviser]);
    assert.deepEqual(await advisers('new@firm.example'), [company.adviser]);
  });
}

test('a case lists its own appointments and no other, and a case without any lists none', async () => {
  const company = await app.company();
  const other = `/cases/${await company.openCase()}/appointments`;
  await book(company);
  await book(await app.company());
  assert.equal((await ok(company.get(listOf(company)))).length, 1);
  assert.deepEqual(await ok(company.get(other)), []);
});

test('an unknown case is 404 whatever the query holds', async () => {
  const company = await app.company();
  const stranger = await app.company();
  for (const id of [randomUUID(), 'none', stranger.caseId]) {
    assertNotFound(await company.get(`/cases/${id}/appointments`));
    assertNotFound(await company.get(`/cases/${id}/appointments?from=soon&adviser_email=unknown@firm.example`));
  }
});

test('appointments of an adviser come from every case of the company', async () => {
  const company = await app.company();
  const other = await company.openCase();
  await book(company, onDay('2026-06-11'));
  await book(company, { ...onDay('2026-06-10'), email_recipient: null }, `/cases/${other}/appointments`);
  const list = await ok(company.get(`/appointments?adviser_email=${company.adviser}`));
  assert.deepEqual(
    list.map((one: Fields) => one.customer_case_id),
    [other, company.caseId],
  );
});

test('a list by page number is that of one adviser', async () => {
  const company = await app.company();
  assertRefused(await company.get('/appointments?deleted=yes'), { adviser_email: 'required', deleted: 'not_allowed' });
});

test('appointments of an adviser come in pages, with headers that tell of the others', async () => {
  const company = await app.company();
  for (let day = 10; day < 15; day++) await book(company, onDay(`2026-06-${day}`));
  const page = async (number: number) => {
    const answer = await company.get(`/appointments?adviser_email=${company.adviser}&per_page=2&page=${number}`);
    assert.equal(answer.headers['x-total-count'], '5', answer.text);
    return { days: days(answer.body), link: String(answer.headers.link) };
  };
  assert.deepEqual((await page(1)).days, [10, 11]);
  assert.match((await page(1)).link, /[?&]page=2>; rel="next"/);
  assert.deepEqual((await page(3)).days, [14]);
  assert.doesNotMatch((await page(3)).link, /rel="next"/);
  assert.deepEqual((await page(4)).days, []);
  assertRefused(await company.get(`/appointments?adviser_email=${company.adviser}&per_page=201&page=0`), {
    per_page: 'out_of_range',
    page: 'format',
  });
});

// Restoring

test('a restored appointment is what it was, and answers with itself', async () => {
  const company = await app.company();
  const path = await book(company, { notes: 'Bring the deeds' });
  const before = await ok(company.get(path));
  await ok(company.delete(path));
  const restored = await ok(company.post(`${path}/restore`));
  assert.deepEqual(restored, before);
  assert.deepEqual(await ok(company.get(listOf(company))), [restored]);
  await ok(company.patch(path, { notes: 'still' }));
});

test('an appointment that is not deleted cannot be restored', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await assertRefusedUnchanged(company, () => company.post(`${path}/restore`), { deleted_at: 'invalid_state' });
});

test('of five concurrent restorations one succeeds', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(company.delete(path));
  const answers = await Promise.all(Array.from({ length: 5 }, () => company.post(`${path}/restore`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
  assert.equal((await messages(company)).length, 2);
});

test('restoring reschedules the requested reminders, and sends no confirmation', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(company.delete(path));
  assert.deepEqual(await scheduled(company), []);
  assert.deepEqual(words(await ok(company.post(`${path}/restore`))), ['cancelled', 'scheduled', 1]);
  assert.deepEqual(await scheduled(company), [['reminder', new Date('2026-06-09T09:00:00Z')]]);
});

test('restoring places no reminder that was not wanted, or no longer', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(company.patch(path, { email_notification: false, sms_notification: null }));
  await ok(company.delete(path));
  assert.deepEqual(words(await ok(company.post(`${path}/restore`))), ['cancelled', 'cancelled', 0]);
  const plain = await book(company);
  await ok(company.delete(plain));
  assert.deepEqual(words(await ok(company.post(`${plain}/restore`))), [null, null, 0]);
  assert.deepEqual(await scheduled(company), []);
});

for (const [now, word, dayBefore, due] of [
  ['2026-06-09T09:00:00Z', 'scheduled', 1, '2026-06-09T09:00:00Z'],
  ['2026-06-09T09:00:01Z', 'scheduled', 0, '2026-06-10T08:00:00Z'],
  ['2026-06-10T08:00:00Z', 'scheduled', 0, '2026-06-10T08:00:00Z'],
  ['2026-06-10T08:00:01Z', 'skipped', 0, undefined],
  ['2026-07-01T09:00:00Z', 'skipped', 0, undefined],
] as const) {
  test(`restored at ${now}, the reminder is ${word}${due ? ` for ${due}` : ''}`, async () => {
    const company = await app.company();
    const path = await book(company, REMINDERS);
    await ok(company.delete(path));
    app.clock.set(now);
    assert.deepEqual(words(await ok(company.post(`${path}/restore`))), [null, word, dayBefore]);
    assert.deepEqual(await scheduled(company), due ? [['reminder', new Date(due)]] : []);
  });
}

test('restoring without a recipient skips the reminder', async () => {
  const company = await app.company();
  const path = await book(company, { ...REMINDERS, email_recipient: null, sms_recipient: null });
  await ok(company.delete(path));
  assert.deepEqual(words(await ok(company.post(`${path}/restore`))), [null, 'skipped', 0]);
});

test('what was sent is not sent again by restoring', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  for (const kind of ['confirmation', 'reminder']) await sendOut(company, kind);
  await ok(company.delete(path));
  assert.deepEqual(words(await ok(company.post(`${path}/restore`))), ['sent', 'sent', 1]);
  assert.deepEqual(await scheduled(company), []);
});

test('a restored appointment that was cancelled stays cancelled, without messages', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  await ok(outcome(company, path, { cancelled: true }));
  await ok(company.delete(path));
  const restored = await ok(company.post(`${path}/restore`));
  assert.equal(restored.cancelled, 1);
  assert.deepEqual(words(restored), ['cancelled', 'cancelled', 0]);
  assert.deepEqual(await scheduled(company), []);
});

// Access

type Operation = { name: string; method: string; under: string; scope: string; body?: object; deleted?: boolean };

const OPERATIONS: Operation[] = [
  { name: 'read', method: 'GET', under: '', scope: 'appointments:read' },
  { name: 'restore', method: 'POST', under: '/restore', scope: 'appointments:write', deleted: true },
  { name: 'outcome', method: 'PATCH', under: '/outcome', scope: 'appointments:write', body: { type: 'review' } },
];

for (const { name, method, under, scope, body, deleted } of OPERATIONS) {
  const prepare = async () => {
    const company = await app.company();
    const path = await book(company, EVERY_MESSAGE);
    if (deleted) await ok(company.delete(path));
    const call = (caller: Caller, at: string, headers = {}) => caller.send(method, `${at}${under}`, body, headers);
    return { company, path, call };
  };

  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const { company, path, call } = await prepare();
    const stranger = await app.company();
    const id = path.split('/').at(-1);
    const before = await stored(company);
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${listOf(stranger)}/${id}`));
    assertNotFound(await call(company, `/cases/${await company.openCase()}/appointments/${id}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(company, `/cases/${unknown}/appointments/${id}`));
      assertNotFound(await call(company, `${listOf(company)}/${unknown}`));
    }
    assert.deepEqual(await stored(company), before);
  });

  test(`${name} takes the scope ${scope} and no other, and Content-Type only with a body`, async () => {
    const { company, path, call } = await prepare();
    const others = ['appointments:read', 'appointments:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await company.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(app.anonymous, path)).status, 401);
    const allowed = await company.withScopes(scope);
    const untyped = await call(allowed, path, { 'content-type': undefined });
    if (!body) assert.equal(untyped.status, 200, untyped.text);
    else assertRefused(untyped, { 'Content-Type': 'not_allowed' });
    if (body) await ok(call(allowed, path));
  });
}

test('the lists take the scope appointments:read and no other, and ask for no Content-Type', async () => {
  const company = await app.company();
  const narrow = await company.withScopes('appointments:write', 'invoices:read', 'manage');
  const allowed = await company.withScopes('appointments:read');
  for (const path of [listOf(company), `/appointments?adviser_email=${company.adviser}`]) {
    assert.equal((await narrow.get(path)).status, 403);
    assert.equal((await app.anonymous.get(path)).status, 401);
    await ok(allowed.get(path, { 'content-type': undefined }));
  }
});

test('a body that is too large changes nothing', async () => {
  const company = await app.company();
  const path = await book(company, EVERY_MESSAGE);
  const large = '{"attended":true}'.padEnd(1024 * 1024 + 1);
  await ok(company.delete(path));
  assert.equal((await company.post(`${path}/restore`, large)).status, 413);
  assertNotFound(await company.get(path));
  await ok(company.post(`${path}/restore`));
  assert.equal((await outcome(company, path, large)).status, 413);
  assert.equal((await ok(company.get(path))).attended, 0);
});

test('every change of state is a change of the record', async () => {
  const company = await app.company();
  const path = await book(company);
  app.clock.set(START);
  let expected = 1;
  for (const change of [
    () => outcome(company, path, { attended: true }),
    () => company.delete(path),
    () => company.post(`${path}/restore`),
  ]) {
    app.clock.advance({ minutes: 1 });
    await ok(change());
    expected += 1;
    const [row] = await app.sql('SELECT version, updated_at FROM appointments WHERE company_id = $1', [
      company.companyId,
    ]);
    assert.deepEqual(row, { version: expected, updated_at: new Date(app.clock.read().epochMilliseconds) });
  }
});

test('the specified operations keep their keys on appointments of every state', async () => {
  const company = await app.company();
  const created = await ok(company.post(listOf(company), withRecipients(company)));
  assert.deepEqual(Object.keys(created).sort(), CREATE_KEYS);
  const path = `${listOf(company)}/${created.id}`;
  await ok(outcome(company, path, { cancelled: true, type: 'review' }));
  for (const method of UPDATE_METHODS) {
    assert.deepEqual(Object.keys(await ok(company.send(method, path, {}))).sort(), UPDATE_KEYS);
  }
  assert.deepEqual(Object.keys(await ok(company.delete(path))).sort(), ['deleted_at', 'id']);
});
