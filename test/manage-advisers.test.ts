import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();
const ADVISERS = '/manage/advisers';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

async function missing(answer: Promise<Answer>): Promise<void> {
  const { status, body, text } = await answer;
  assert.equal(status, 404, text);
  assert.equal(body.code, 'not_found');
}

const eve = { email: 'eve@firm.example', name: 'Eve Example' };
const emailsOf = async (company: TestCompany) =>
  (await ok(company.get(ADVISERS))).map(({ email }: { email: string }) => email) as string[];

const book = (company: TestCompany, adviser_email: string) =>
  company.post(`${company.path}/appointments`, {
    adviser_email,
    start_time: '2026-08-01 09:00:00',
    end_time: '2026-08-01 10:00:00',
  });

test('an adviser is created, active and without a video account unless it is said', async () => {
  const company = await app.company();
  const created = await ok(company.post(ADVISERS, eve));
  assert.deepEqual(Object.keys(created).sort(), [
    'active',
    'created_at',
    'email',
    'id',
    'name',
    'updated_at',
    'video_provider',
  ]);
  assert.deepEqual(
    { ...created, id: '' },
    {
      id: '',
      ...eve,
      active: true,
      video_provider: null,
      created_at: '2026-06-01T09:00:00.000000Z',
      updated_at: '2026-06-01T09:00:00.000000Z',
    },
  );
  assert.deepEqual(await ok(company.get(`${ADVISERS}/${created.id}`)), created);
  assert.equal((await book(company, eve.email)).status, 200);
});

test('active and video_provider can be set on create, null is no video account', async () => {
  const company = await app.company();
  const off = await ok(company.post(ADVISERS, { ...eve, active: false, video_provider: 'jitsi' }));
  assert.deepEqual([off.active, off.video_provider], [false, 'jitsi']);
  const on = await ok(company.post(ADVISERS, { email: 'b@firm.example', name: 'B', video_provider: null }));
  assert.equal(on.video_provider, null);
});

for (const [what, body, faults] of [
  ['nothing', {}, { email: 'required', name: 'required' }],
  ['null for what is required', { email: null, name: null }, { email: 'required', name: 'required' }],
  ['an empty name', { ...eve, name: '' }, { name: 'too_short' }],
  ['a name of 201 characters', { ...eve, name: '🙂'.repeat(201) }, { name: 'too_long' }],
  ['no email address', { ...eve, email: 'eve' }, { email: 'format' }],
  ['an email of 255 characters', { ...eve, email: `${'a'.repeat(242)}@firm.example` }, { email: 'too_long' }],
  ['another video provider', { ...eve, video_provider: 'phone' }, { video_provider: 'not_allowed' }],
  ['active that is no boolean', { ...eve, active: 1 }, { active: 'type' }],
  ['a blank name', { ...eve, name: ' \u00a0' }, { name: 'too_short' }],
  ['a name with a line break', { ...eve, name: 'Eve\nExample' }, { name: 'invalid_character' }],
  ['a name with a control character', { ...eve, name: 'Eve\u0007' }, { name: 'invalid_character' }],
  ['a NUL character', { ...eve, name: 'a\0b' }, { name: 'invalid_character' }],
  ['several faults', { email: 'x', name: 5, active: 'yes' }, { email: 'format', name: 'type', active: 'type' }],
] as const) {
  test(`${what} makes no adviser`, async () => {
    const company = await app.company();
    const before = await emailsOf(company);
    await refused(company.post(ADVISERS, body), faults);
    assert.deepEqual(await emailsOf(company), before);
  });
}

test('a name of 200 characters is accepted, counted in code points', async () => {
  const company = await app.company();
  const name = '🙂'.repeat(200);
  assert.equal((await ok(company.post(ADVISERS, { ...eve, name }))).name, name);
});

test('an email is taken within the company, whatever its case, and free in another', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const { id } = await ok(company.post(ADVISERS, eve));
  await refused(company.post(ADVISERS, { ...eve, email: 'EVE@Firm.Example' }), { email: 'taken' });
  await refused(company.post(ADVISERS, { email: 'EVE@Firm.Example' }), { email: 'taken', name: 'required' });
  await ok(other.post(ADVISERS, eve));
  const second = await ok(company.post(ADVISERS, { ...eve, email: 'second@firm.example' }));
  await refused(company.patch(`${ADVISERS}/${second.id}`, { email: 'Eve@firm.example' }), { email: 'taken' });
  await refused(company.patch(`${ADVISERS}/${second.id}`, { email: eve.email, name: '' }), {
    email: 'taken',
    name: 'too_short',
  });
  assert.equal((await ok(company.patch(`${ADVISERS}/${id}`, { email: 'EVE@firm.example' }))).email, 'EVE@firm.example');
});

test('of ten concurrent creates with the same email one becomes an adviser', async () => {
  const company = await app.company();
  const answers = await Promise.all(Array.from({ length: 10 }, () => company.post(ADVISERS, eve)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)]);
  assert.equal((await emailsOf(company)).filter((email) => email === eve.email).length, 1);
});

test('of ten concurrent changes to the same email one succeeds', async () => {
  const company = await app.company();
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) ids.push((await ok(company.post(ADVISERS, { ...eve, email: `e${i}@firm.example` }))).id);
  const answers = await Promise.all(ids.map((id) => company.patch(`${ADVISERS}/${id}`, { email: 'one@firm.example' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)]);
});

test('an update changes what was sent and leaves the rest', async () => {
  const company = await app.company();
  const { id, ...created } = await ok(company.post(ADVISERS, { ...eve, video_provider: 'jitsi' }));
  app.clock.advance({ seconds: 5 });
  const renamed = await ok(company.patch(`${ADVISERS}/${id}`, { name: 'Eve Married' }));
  assert.deepEqual(renamed, { ...created, id, name: 'Eve Married', updated_at: renamed.updated_at });
  assert.ok(renamed.updated_at > created.updated_at);
  assert.equal((await ok(company.patch(`${ADVISERS}/${id}`, { video_provider: null }))).video_provider, null);
  assert.equal((await ok(company.patch(`${ADVISERS}/${id}`, {}))).name, 'Eve Married');
});

test('null for active is as if it was not sent on create, and makes active on update', async () => {
  const company = await app.company();
  const { id, active } = await ok(company.post(ADVISERS, { ...eve, active: null, video_provider: null }));
  assert.equal(active, true);
  await ok(company.patch(`${ADVISERS}/${id}`, { active: false }));
  assert.equal((await ok(company.patch(`${ADVISERS}/${id}`, { active: null }))).active, true);
});

test('an adviser who is not active stays in the list and cannot be booked until active again', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  await ok(company.patch(`${ADVISERS}/${id}`, { active: false }));
  assert.ok((await emailsOf(company)).includes(eve.email));
  await refused(book(company, eve.email), { adviser_email: 'unknown' });
  await ok(company.patch(`${ADVISERS}/${id}`, { active: true }));
  await ok(book(company, eve.email));
});

test('a changed email books from then on, and appointments keep the one they were booked with', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  const appointment = await ok(book(company, eve.email));
  await ok(company.patch(`${ADVISERS}/${id}`, { email: 'new@firm.example' }));
  await refused(book(company, eve.email), { adviser_email: 'unknown' });
  await ok(book(company, 'new@firm.example'));
  await ok(company.patch(`${company.path}/appointments/${appointment.id}`, { notes: 'later' }));
  const [kept] = await app.sql('SELECT adviser_id, adviser_email FROM appointments WHERE id = $1', [appointment.id]);
  assert.deepEqual(kept, { adviser_id: id, adviser_email: eve.email });
});

test('a removed adviser leaves the lists and is as unknown as one that never existed', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  const removed = await ok(company.delete(`${ADVISERS}/${id}`));
  assert.deepEqual(Object.keys(removed), ['id', 'removed_at']);
  assert.equal(removed.id, id);
  assert.ok(!(await emailsOf(company)).includes(eve.email));
  await missing(company.get(`${ADVISERS}/${id}`));
  await missing(company.patch(`${ADVISERS}/${id}`, { name: 'Again' }));
  await missing(company.delete(`${ADVISERS}/${id}`));
});

test('a removed adviser can no longer be booked, and appointments stay as they are', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  const appointment = await ok(book(company, eve.email));
  await ok(company.delete(`${ADVISERS}/${id}`));
  await refused(book(company, eve.email), { adviser_email: 'unknown' });
  const moved = await ok(
    company.patch(`${company.path}/appointments/${appointment.id}`, { end_time: '2026-08-01 11:00:00' }),
  );
  assert.equal(moved.id, appointment.id);
  const [kept] = await app.sql('SELECT adviser_id, adviser_email FROM appointments WHERE id = $1', [appointment.id]);
  assert.deepEqual(kept, { adviser_id: id, adviser_email: eve.email });
});

test('the email of a removed adviser is free, and books the one who has it now', async () => {
  const company = await app.company();
  const first = await ok(company.post(ADVISERS, eve));
  await ok(company.delete(`${ADVISERS}/${first.id}`));
  const second = await ok(company.post(ADVISERS, eve));
  assert.notEqual(second.id, first.id);
  const appointment = await ok(book(company, eve.email));
  const [booked] = await app.sql('SELECT adviser_id FROM appointments WHERE id = $1', [appointment.id]);
  assert.deepEqual(booked, { adviser_id: second.id });
});

test('appointments are listed under the email of an adviser who has it now', async () => {
  const company = await app.company();
  const first = await ok(company.post(ADVISERS, eve));
  const booked = await ok(book(company, eve.email));
  const diary = `/appointments?adviser_email=${eve.email}`;
  const ids = async (path: string) => (await ok(company.get(path))).map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(diary), [booked.id]);
  await ok(company.delete(`${ADVISERS}/${first.id}`));
  await refused(company.get(diary), { adviser_email: 'unknown' });
  assert.deepEqual(await ids(`${company.path}/appointments`), [booked.id]);
  await ok(company.post(ADVISERS, eve));
  assert.deepEqual(await ids(diary), []);
});

test('a removed adviser comes back as before: in the list, bookable, with the diary', async () => {
  const company = await app.company();
  const { id, ...created } = await ok(company.post(ADVISERS, { ...eve, video_provider: 'jitsi' }));
  const booked = await ok(book(company, eve.email));
  await ok(company.delete(`${ADVISERS}/${id}`));
  app.clock.advance({ seconds: 5 });
  const restored = await ok(company.post(`${ADVISERS}/${id}/restore`));
  assert.deepEqual(restored, { id, ...created, updated_at: restored.updated_at });
  assert.ok(restored.updated_at > created.updated_at);
  assert.deepEqual(await ok(company.get(`${ADVISERS}/${id}`)), restored);
  assert.ok((await emailsOf(company)).includes(eve.email));
  await ok(book(company, eve.email));
  const diary: { id: string }[] = await ok(company.get(`/appointments?adviser_email=${eve.email}`));
  assert.ok(diary.some((appointment) => appointment.id === booked.id));
});

test('an adviser is not restored while another has the email, in whatever case, nor one who is not removed', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  await refused(company.post(`${ADVISERS}/${id}/restore`), { removed_at: 'invalid_state' });
  await ok(company.delete(`${ADVISERS}/${id}`));
  const other = await ok(company.post(ADVISERS, { ...eve, email: eve.email.toUpperCase() }));
  await refused(company.post(`${ADVISERS}/${id}/restore`), { email: 'taken' });
  await missing(company.get(`${ADVISERS}/${id}`));
  await ok(company.patch(`${ADVISERS}/${other.id}`, { email: 'other@firm.example' }));
  await ok(company.post(`${ADVISERS}/${id}/restore`));
});

test('of five concurrent restorations of an adviser one succeeds', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  await ok(company.delete(`${ADVISERS}/${id}`));
  const answers = await Promise.all(Array.from({ length: 5 }, () => company.post(`${ADVISERS}/${id}/restore`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
});

test('removed advisers are listed on request, in pages and searchable, and no others', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(ADVISERS, eve));
  const gone = async (query = '') => ok(company.get(`${ADVISERS}?removed=true${query}`));
  assert.deepEqual(await gone(), []);
  await ok(company.delete(`${ADVISERS}/${id}`));
  const [listed, ...others] = await gone();
  assert.deepEqual([listed.id, listed.email, others], [id, eve.email, []]);
  assert.deepEqual(await ok(company.get(`${ADVISERS}?removed=1&per_page=1`)), [listed]);
  assert.deepEqual(await gone('&search=EVE'), [listed]);
  assert.deepEqual(await gone('&search=alex'), []);
  for (const query of ['', '?removed=false', '?removed=0']) {
    const emails = (await ok(company.get(`${ADVISERS}${query}`))).map(({ email }: { email: string }) => email);
    assert.deepEqual(emails, [company.adviser, company.adviserWithVideo]);
  }
  await refused(company.get(`${ADVISERS}?removed=yes&page=0`), { removed: 'not_allowed', page: 'format' });
  assert.deepEqual(await ok((await app.company()).get(`${ADVISERS}?removed=true`)), []);
});

test('another company and an invented id are both 404, whatever the body holds', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const { id } = await ok(other.post(ADVISERS, eve));
  for (const path of [`${ADVISERS}/${id}`, `${ADVISERS}/${UNKNOWN}`, `${ADVISERS}/nothing`]) {
    await missing(company.get(path));
    await missing(company.patch(path, { name: 'Mine' }));
    await missing(company.patch(path, { name: 7 }));
    await missing(company.patch(path, 'no JSON'));
    await missing(company.post(`${path}/restore`));
    await missing(company.delete(path));
  }
  assert.equal((await ok(other.get(`${ADVISERS}/${id}`))).name, eve.name);
});
