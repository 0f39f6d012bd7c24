import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, createClient } from '../packages/client/src/index.ts';
import type { TestCompany } from './harness/app.ts';
import {
  addAppointment,
  addCalls,
  addEntry,
  addInteraction,
  addInvoice,
  app,
  fillers,
  index,
  openCase,
  rebuilt,
} from './harness/search.ts';

/** Lists by cursor and searches, page by page with the client and the service. */

/** A client of the company, and the queries that it has sent. */
function countingClient({ token }: TestCompany): { client: Client; sent: URLSearchParams[] } {
  const sent: URLSearchParams[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    sent.push(new URL(String(url)).searchParams);
    return globalThis.fetch(url, init);
  };
  return { client: createClient({ baseUrl: app.baseUrl, token, retries: 0, fetch }), sent };
}

/** Five cases, and in one of them five calls, invoices, appointments and people. */
async function fiveOfEach(): Promise<TestCompany> {
  const company = await app.company();
  const { caseId } = company;
  for (let nth = 1; nth <= 5; nth++) {
    if (nth > 1) await openCase(company, 'another');
    await addInteraction(company, caseId, { when: `2026-05-0${nth} 10:00` });
    await addInvoice(company, caseId, { date_due: `2026-05-0${nth} 10:00:00` });
    await addAppointment(company, caseId, {
      ...{ start_time: `2026-06-1${nth} 10:00:00`, end_time: `2026-06-1${nth} 11:00:00` },
    });
    await addEntry(company, caseId, { last_name: `Oak ${nth}` });
  }
  // No list with the filters below has this call.
  await addInteraction(company, caseId, { type: 'letter' });
  return company;
}

type Rows = AsyncGenerator<{ id: string }, void, undefined>;

/** Each list by cursor, with a filter or a sort other than by default. */
const LISTS: Record<string, (client: Client, limit: number) => Rows> = {
  cases: (client, limit) => client.entries(client.findCases, { limit, sort: 'opened_at' }),
  interactions: (client, limit) => client.entries(client.listInteractions, { limit, type: 'phone', sort: 'when' }),
  invoices: (client, limit) => client.entries(client.listInvoices, { limit, open: true, sort: '-date_due' }),
  appointments: (client, limit) => client.entries(client.listAppointments, { limit, sort: '-start_time' }),
  'address book': (client, limit) => client.entries(client.listAddressBookEntries, { limit, name: 'oak' }),
};

for (const [list, entriesOf] of Object.entries(LISTS)) {
  test(`${list}: the entries of three pages come one by one in the order of the list`, async () => {
    const { client, sent } = countingClient(await fiveOfEach());
    const ids = (rows: Rows) => Array.fromAsync(rows, ({ id }) => id);
    const whole = await ids(entriesOf(client, 200));
    assert.deepEqual([new Set(whole).size, whole.length, sent.length], [5, 5, 1]);
    assert.deepEqual(await ids(entriesOf(client, 2)), whole);
    assert.deepEqual(
      sent.slice(1).map((query) => [query.get('limit'), query.has('cursor'), query.has('per_page')]),
      [
        ['2', false, false],
        ['2', true, false],
        ['2', true, false],
      ],
    );
  });
}

test('the timeline of a case comes in pages, and one by one in its order', async () => {
  const company = await fiveOfEach();
  const { client } = countingClient(company);
  const input = { caseId: company.caseId, kinds: 'interaction,invoice,appointment' };
  const { data: whole } = await client.readTimeline({ ...input, limit: 200 });
  assert.equal(whole.length, 16);
  const pages = await Array.fromAsync(client.pages(client.readTimeline, { ...input, limit: 5 }), ({ data }) => data);
  assert.deepEqual([pages.length, pages.flat()], [4, whole]);
  assert.deepEqual(await Array.fromAsync(client.entries(client.readTimeline, { ...input, limit: 3 })), whole);
});

test('the hits of a search come in its pages, and one by one', async () => {
  const company = await fiveOfEach();
  await index();
  const { client } = countingClient(company);
  const { data: whole } = await client.search({ q: 'oak', limit: 50 });
  assert.equal(whole.hits.length, 5);
  const pages = await Array.fromAsync(client.pages(client.search, { q: 'oak', limit: 2 }), ({ data }) => data);
  assert.deepEqual(
    pages.map(({ hits, complete }) => [hits.length, complete]),
    [
      [2, true],
      [2, true],
      [1, true],
    ],
  );
  assert.deepEqual(await Array.fromAsync(client.entries(client.search, { q: 'oak', limit: 2 })), whole.hits);
});

test('a page of a search without hits is not its end', async () => {
  const company = await app.company();
  // A page looks back half a month, because of words that are frequent and hardly ever meet.
  const frequent = (until: string) =>
    fillers(Date.parse(until)).map(({ at }, nth) => ({ notes: nth % 2 ? 'willow' : 'poplar', at }));
  await addCalls(company, company.caseId, [
    { notes: 'willow and poplar', at: '2026-11-01T12:00:01Z' },
    ...frequent('2026-11-01T12:00:00Z'),
    ...frequent('2026-10-20T12:00:00Z'),
    { notes: 'willow and poplar', at: '2023-06-15T10:00:00Z' },
  ]);
  await rebuilt(company);
  const { client } = countingClient(company);
  const input = { q: 'willow poplar', limit: 1 };
  const counts = await Array.fromAsync(client.pages(client.search, input), ({ data }) => data.hits.length);
  assert.deepEqual(counts.slice(0, 3), [1, 0, 1]);
  const hits = await Array.fromAsync(client.entries(client.search, input));
  assert.deepEqual(
    hits.map(({ at }) => at.slice(0, 10)),
    ['2026-11-01', '2023-06-15'],
  );
});
