import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok, refused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { overlapping } from './harness/overlap.ts';

/** Kinds and states of cases, and who is responsible for a case. */

const app = await startApp();
beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const KINDS = '/manage/case-kinds';
const CASES = '/manage/cases';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
const NOW = '2026-06-01T09:00:00.000000Z';
const LATER = '2026-06-01T10:00:00.000000Z';

const kind = async (company: TestCompany, name = 'Wills'): Promise<string> =>
  (await ok(company.post(KINDS, { name }))).id;
const adviserOf = async (company: TestCompany): Promise<string> =>
  (await ok(company.get(`/manage/advisers?search=${company.adviser}`)))[0].id;
const caseOf = ({ caseId }: TestCompany) => `${CASES}/${caseId}`;

test('a company has a list of kinds of its own, ordered by name', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const probate = await kind(company, 'Probate');
  await kind(company, 'lasting powers');
  await kind(other, 'Probate');
  const list = await ok(company.get(KINDS));
  assert.deepEqual(
    list.map(({ name }: { name: string }) => name),
    ['lasting powers', 'Probate'],
  );
  assert.deepEqual(list[1], { id: probate, name: 'Probate', created_at: NOW, updated_at: NOW });
  assert.deepEqual(await ok(company.get(`${KINDS}/${probate}`)), list[1]);
  assert.equal((await ok(company.get(`${KINDS}?search=PROB`))).length, 1);
});

test('the name of a kind is unique in its company, letter case aside, and must be visible', async () => {
  const company = await app.company();
  const wills = await kind(company);
  const trusts = await kind(company, 'Trusts');
  await refused(company.post(KINDS, { name: 'WILLS' }), { name: 'taken' });
  await refused(company.patch(`${KINDS}/${trusts}`, { name: 'wills' }), { name: 'taken' });
  assert.equal((await ok(company.patch(`${KINDS}/${wills}`, { name: 'WILLS' }))).name, 'WILLS');
  assert.equal((await ok(company.patch(`${KINDS}/${wills}`, {}))).name, 'WILLS');
  for (const [name, code] of [
    [undefined, 'required'],
    [null, 'required'],
    ['', 'too_short'],
    ['  ', 'too_short'],
    ['a\nb', 'invalid_character'],
    ['x'.repeat(101), 'too_long'],
    [5, 'type'],
  ] as const) {
    await refused(company.post(KINDS, { name }), { name: code });
  }
  assertNotFound(await company.patch(`${KINDS}/${UNKNOWN}`, { name: '' }));
});

test('a removed kind cannot be given to cases, those that have it keep it, and its name is free', async () => {
  const company = await app.company();
  const wills = await kind(company);
  await ok(company.patch(caseOf(company), { kind_id: wills }));
  const removed = await ok(company.delete(`${KINDS}/${wills}`));
  assert.deepEqual(removed, { id: wills, removed_at: NOW });
  for (const answer of [
    await company.get(`${KINDS}/${wills}`),
    await company.patch(`${KINDS}/${wills}`, { name: 'x' }),
    await company.delete(`${KINDS}/${wills}`),
  ]) {
    assertNotFound(answer);
  }
  assert.equal((await ok(company.get(caseOf(company)))).kind, 'Wills');
  // A request that repeats what the case has already is not refused.
  assert.equal((await ok(company.patch(caseOf(company), { kind_id: wills, reference: 'Smith' }))).kind_id, wills);
  await refused(company.post(CASES, { reference: 'a', kind_id: wills }), { kind_id: 'unknown' });
  const again = await kind(company);
  await refused(company.post(`${KINDS}/${wills}/restore`), { name: 'taken' });
  await ok(company.delete(`${KINDS}/${again}`));
  assert.equal((await ok(company.get(`${KINDS}?removed=true`))).length, 2);
  assert.equal((await ok(company.post(`${KINDS}/${wills}/restore`))).name, 'Wills');
  await refused(company.post(`${KINDS}/${wills}/restore`), { removed_at: 'invalid_state' });
  assertNotFound(await company.post(`${KINDS}/${UNKNOWN}/restore`));
});

test('a case shows the name of its kind and the adviser who is responsible; null clears both', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const [wills, adviser] = [await kind(company), await adviserOf(company)];
  const named = { kind_id: wills, responsible_adviser_id: adviser };
  const opened = await ok(company.post(CASES, { reference: 'Doe', ...named }));
  assert.deepEqual({ ...opened, ...named, kind: 'Wills' }, opened);
  await ok(company.patch(`${KINDS}/${wills}`, { name: 'Wills and trusts' }));
  assert.equal((await ok(company.get(`${CASES}/${opened.id}`))).kind, 'Wills and trusts');
  const cleared = await ok(company.patch(`${CASES}/${opened.id}`, { kind_id: null, responsible_adviser_id: null }));
  assert.deepEqual([cleared.kind_id, cleared.kind, cleared.responsible_adviser_id], [null, null, null]);
  const foreign = { kind_id: await kind(stranger), responsible_adviser_id: await adviserOf(stranger) };
  for (const ids of [foreign, { kind_id: UNKNOWN, responsible_adviser_id: UNKNOWN }]) {
    const faults = { kind_id: 'unknown', responsible_adviser_id: 'unknown' };
    await refused(company.post(CASES, { reference: 'Doe', ...ids }), faults);
    await refused(company.patch(caseOf(company), ids), faults);
  }
});

test('a case keeps its responsible adviser after the adviser was removed, as appointments do', async () => {
  const company = await app.company();
  const adviser = await adviserOf(company);
  await ok(company.patch(caseOf(company), { responsible_adviser_id: adviser }));
  await ok(company.delete(`/manage/advisers/${adviser}`));
  const body = { responsible_adviser_id: adviser, reference: 'Smith' };
  assert.equal((await ok(company.patch(caseOf(company), body))).responsible_adviser_id, adviser);
  await refused(company.post(CASES, body), { responsible_adviser_id: 'unknown' });
});

test('a case is closed, archived and opened again, and has the time at which it was closed', async () => {
  const company = await app.company();
  app.clock.set('2026-06-01T10:00:00Z');
  const state = async (body: object) => {
    const { state: name, opened_at, closed_at } = await ok(company.patch(caseOf(company), body));
    assert.equal(opened_at, NOW);
    return [name, closed_at];
  };
  assert.deepEqual(await state({ state: 'closed' }), ['closed', LATER]);
  app.clock.set('2026-06-01T11:00:00Z');
  assert.deepEqual(await state({ state: 'archived' }), ['archived', LATER]);
  assert.deepEqual(await state({ reference: 'Smith' }), ['archived', LATER]);
  assert.deepEqual(await state({ closed_at: '2026-06-01 12:00' }), ['archived', '2026-06-01T11:00:00.000000Z']);
  assert.deepEqual(await state({ state: 'open', closed_at: null }), ['open', null]);
  assert.deepEqual(await state({ state: 'archived' }), ['archived', '2026-06-01T11:00:00.000000Z']);
});

test('an old case is entered with its times', async () => {
  const company = await app.company();
  const opened = await ok(
    company.post(CASES, {
      reference: 'Old',
      state: 'closed',
      opened_at: '2019-01-10 09:00',
      closed_at: '2020-07-01T09:00Z',
    }),
  );
  assert.deepEqual(
    [opened.state, opened.opened_at, opened.closed_at, opened.created_at],
    ['closed', '2019-01-10T09:00:00.000000Z', '2020-07-01T09:00:00.000000Z', NOW],
  );
});

test('times of a case that contradict its state or each other are refused', async () => {
  const company = await app.company();
  const before = await ok(company.get(caseOf(company)));
  for (const [body, faults] of [
    [{ state: 'over' }, { state: 'not_allowed' }],
    [{ state: null }, { state: 'required' }],
    [{ opened_at: null }, { opened_at: 'required' }],
    [{ opened_at: '2026-02-30 09:00' }, { opened_at: 'format' }],
    [{ closed_at: '2026-06-01 12:00' }, { closed_at: 'invalid_state' }],
    [{ state: 'open', closed_at: '2026-06-01 12:00' }, { closed_at: 'invalid_state' }],
    [{ state: 'closed', closed_at: '2026-06-01 09:59' }, { closed_at: 'out_of_range' }],
    [{ state: 'closed', opened_at: '2026-06-02 10:00' }, { opened_at: 'out_of_range' }],
    [
      { reference: '', state: 'closed', closed_at: 'x', kind_id: 'x' },
      { reference: 'too_short', closed_at: 'format', kind_id: 'format' },
    ],
  ] as const) {
    await refused(company.patch(caseOf(company), body), faults);
    if (!('reference' in body)) await refused(company.post(CASES, { reference: 'a', ...body }), faults);
  }
  assert.deepEqual(await ok(company.get(caseOf(company))), before);
});

test('times of a case that differ by a microsecond, or that now lies between, are refused as others are', async () => {
  const company = await app.company();
  await ok(company.patch(caseOf(company), { opened_at: '2026-06-01T08:00:00.000500Z' }));
  await refused(company.patch(caseOf(company), { state: 'closed', closed_at: '2026-06-01T08:00:00.000499Z' }), {
    closed_at: 'out_of_range',
  });
  const times = { state: 'closed', opened_at: '2026-06-01T08:00:00.000002Z', closed_at: '2026-06-01T08:00:00.000001Z' };
  await refused(company.post(CASES, { reference: 'a', ...times }), { closed_at: 'out_of_range' });
  // The request was sent before the time at which it says that the case was opened, and is answered after it.
  const body = { state: 'closed', opened_at: '2026-06-01T09:30:00Z' };
  const lock = 'SELECT 1 FROM cases WHERE id = $1 FOR UPDATE';
  const [answer] = await overlapping(
    app,
    [[lock, [company.caseId]]],
    [
      () => company.patch(caseOf(company), body),
      () => {
        app.clock.set('2026-06-01T10:00:00Z');
        return company.get(KINDS);
      },
    ],
  );
  assertRefused(answer as Answer, { opened_at: 'out_of_range' });
  assert.equal((await ok(company.get(caseOf(company)))).state, 'open');
});

test('an archived case accepts everything that an open one accepts', async () => {
  const company = await app.company();
  await ok(company.patch(caseOf(company), { state: 'archived' }));
  await ok(company.post(`${company.path}/interactions`, { type: 'phone' }));
  assert.equal((await ok(company.get(`${company.path}/interactions`))).length, 1);
});

test('a company describes itself; null takes a detail back', async () => {
  const company = await app.company();
  for (const [field, value, code] of [
    ['legal_name', ' ', 'too_short'],
    ['legal_name', 'a\nb', 'invalid_character'],
    ['legal_name', 'x'.repeat(201), 'too_long'],
    ['address', 'a\u0007', 'invalid_character'],
    ['address', 'x'.repeat(501), 'too_long'],
    ['company_number', 'a\tb', 'invalid_character'],
    ['tax_number', 5, 'type'],
    ['currency', 'gbp', 'unknown'],
    ['currency', 'XYZ', 'unknown'],
    ['currency', 'POUND', 'too_long'],
  ] as const) {
    await refused(company.patch('/manage/company', { [field]: value }), { [field]: code });
  }
  assert.equal((await ok(company.patch('/manage/company', { currency: 'EUR' }))).currency, 'EUR');
  assert.equal((await ok(company.patch('/manage/company', { currency: null }))).currency, null);
});
