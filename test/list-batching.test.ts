import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { concurrentRequests, headersOf } from './harness/batching.ts';

/** Concurrent lists are read by one statement, and each caller gets only its own. */

const app = await startApp();
const { exchange, sendInOneTick } = concurrentRequests(app);

const MOST_AT_ONCE = 1_000;
const LISTS = ['address-book', 'interactions', 'invoices'] as const;
type List = (typeof LISTS)[number];
const NAMES: Record<List, string> = {
  'address-book': 'address_book.list',
  interactions: 'interactions.list',
  invoices: 'invoices.list',
};

type Asked = { company: TestCompany; path: string };
const ask = ({ company, path }: Asked) => exchange('GET', path, headersOf(company.token, randomUUID()));

/** How many requests were part of a batch with this outcome. */
async function shared(list: List, outcome: 'done' | 'failed'): Promise<number> {
  const { text } = await app.anonymous.get('/metrics', { 'content-type': undefined });
  const of = `db_batched_requests_total{statement="${NAMES[list]}",outcome="${outcome}"} `;
  const line = text.split('\n').find((one) => one.startsWith(of));
  return Number(line?.slice(of.length) ?? 0);
}

async function addTo(company: TestCompany, caseId: string, list: List, n: number): Promise<void> {
  const path = `/cases/${caseId}/${list}`;
  const name = `"${company.companyId}" – ${n} \\ é`;
  const when = `2026-0${1 + (n % 9)}-10 09:30:00`;
  const line = { description: name, quantity: n, rate: '1.5', amount: '2.75' };
  const bodies = {
    'address-book': { entity_id: 'person', title: 'Ms', first_names: name, last_name: 'Doe', relationship: {} },
    interactions: { type: 'phone', notes: name, recipient: name, when },
    invoices: {
      ...{ invoice_number: `N-${n}-${caseId}`, sender_id: company.customers[0].id, vat: 0, sub_total: n, total: n },
      ...{ date_created: when, date_due: when, items: Array.from({ length: n % 4 }, () => line) },
    },
  };
  const made = await company.post(list === 'address-book' ? `${path}/entry` : path, bodies[list]);
  assert.equal(made.status, 200, made.text);
}

/** Cases with no record, one, two, … in each of three companies in different time zones. */
async function manyCases(list: List): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const timeZone of ['Europe/London', 'America/New_York', 'Asia/Kolkata']) {
    const company = await app.company({ timeZone });
    for (let records = 0; records < 6; records++) {
      const caseId = await company.openCase();
      for (let n = 0; n < records; n++) await addTo(company, caseId, list, n);
      asked.push({ company, path: `/cases/${caseId}/${list}` });
    }
  }
  return asked;
}

const byTurns = <T>(all: T[]): T[] => all.map((_one, i) => all[(i * 7) % all.length] as T);

for (const list of LISTS) {
  test(`${list}: concurrent lists of many cases of several companies are each what they are alone`, async () => {
    const asked = byTurns(await manyCases(list));
    const alone: string[] = [];
    for (const one of asked) alone.push((await ask(one)).text);
    const before = await shared(list, 'done');
    for (let round = 0; round < 4; round++) {
      const answers = await sendInOneTick(asked, ask);
      assert.deepEqual(
        answers.map(({ status, text }) => ({ status, text })),
        alone.map((text) => ({ status: 200, text })),
      );
    }
    assert.ok((await shared(list, 'done')) - before >= 3, 'some of them had one statement');
    assert.equal(await shared(list, 'failed'), 0);
  });

  test(`${list}: of concurrent lists one of an unknown case, or of another company, is not found, and the others are answered`, async () => {
    const company = await app.company();
    const asked: (Asked & { expected: string | undefined })[] = [];
    const pathOf = (caseId: string) => `/cases/${caseId}/${list}`;
    for (let n = 1; n < 7; n++) {
      const [caseId, other] = [await company.openCase(), await app.company()];
      await addTo(company, caseId, list, n);
      await addTo(other, other.caseId, list, n);
      asked.push({ company, path: pathOf(caseId), expected: (await ask({ company, path: pathOf(caseId) })).text });
      for (const unknown of [other.caseId, `00000000-0000-4000-8000-00000000000${n}`, randomUUID(), 'x'])
        asked.push({ company, path: pathOf(unknown), expected: undefined });
    }
    const before = await shared(list, 'done');
    for (let round = 0; round < 4; round++) {
      const answers = await sendInOneTick(asked, ask);
      for (const [i, { status, text, body }] of answers.entries()) {
        const { expected } = asked[i] ?? assert.fail();
        assert.equal(status, expected === undefined ? 404 : 200);
        if (expected === undefined) assert.equal(body.code, 'not_found');
        else assert.equal(text, expected);
      }
    }
    assert.ok((await shared(list, 'done')) > before);
  });
}

test('a list that is too long for one text is streamed, and concurrent short ones come whole', async () => {
  const company = await app.company();
  const cases = await Promise.all(Array.from({ length: 12 }, () => company.openCase()));
  for (const [i, caseId] of cases.entries()) {
    await app.sql(
      `INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
       SELECT $1, $2, gen_random_uuid(), 'phone', 'Call ' || n, 'John', now(), now(), now() FROM generate_series(1, $3) n`,
      [company.companyId, caseId, i % 4 === 1 ? MOST_AT_ONCE + i : i],
    );
  }
  const asked = cases.map((caseId) => ({ company, path: `/cases/${caseId}/interactions` }));
  const before = await shared('interactions', 'done');
  for (let round = 0; round < 3; round++) {
    const answers = await sendInOneTick(asked, ask);
    assert.deepEqual(
      answers.map(({ body }) => body.length),
      cases.map((_id, i) => (i % 4 === 1 ? MOST_AT_ONCE + i : i)),
    );
  }
  assert.ok((await shared('interactions', 'done')) > before);
});

test('concurrent lists of invoices with and without cancelled items each have what they ask for', async () => {
  const company = await app.company();
  const asked: Asked[] = [];
  for (let i = 0; i < 8; i++) {
    const caseId = await company.openCase();
    await addTo(company, caseId, 'invoices', 3);
    const { id, items } = (await company.get(`/cases/${caseId}/invoices`)).body[0];
    const cancelled = await company.post(`/cases/${caseId}/invoices/${id}/items/${items[0].id}/cancel`);
    assert.equal(cancelled.status, 200, cancelled.text);
    for (const more of ['', '?show_cancelled_items=true'])
      asked.push({ company, path: `/cases/${caseId}/invoices${more}` });
  }
  for (let round = 0; round < 3; round++) {
    const answers = await sendInOneTick(asked, ask);
    assert.deepEqual(
      answers.map(({ body }) => body[0].items.length),
      asked.map((_one, i) => (i % 2 === 0 ? 2 : 3)),
    );
  }
});
