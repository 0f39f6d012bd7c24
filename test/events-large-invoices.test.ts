import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import type { Answer } from './harness/http.ts';

/** The log of an invoice with many items copies only what a change touched, but shows everything. */

const app = await startApp();

type Item = { id: string; status: string | null };
type Payment = { id: string; reversed_at: string | null };
type State = { items: Item[]; payments: Payment[] } & Record<string, unknown>;

const lines = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({
    description: `${name} ${i}`,
    quantity: 1,
    rate: '1.2345',
    amount: '1.50',
  }));

const heading = {
  sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
  date_created: '2026-05-01 10:00:00',
  date_due: '2026-05-31 10:00:00',
  vat: 20,
  sub_total: 1000,
  total: '1000000.00',
};

async function accepted(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  assert.equal(status, 200, text);
  return answer;
}

async function create(company: TestCompany, items: object[], number = 'INV-1'): Promise<string> {
  const made = await accepted(company.post(`${company.path}/invoices`, { ...heading, invoice_number: number, items }));
  return `${company.path}/invoices/${made.body.id}`;
}

const change = (company: TestCompany, one: string, more: object) =>
  accepted(company.patch(one, { ...heading, invoice_number: 'INV-1', ...more }));

/** The invoice after its last event, as the log shows it. */
async function stateOf(company: TestCompany, one: string): Promise<State> {
  let path = `${one}/history?limit=500`;
  for (;;) {
    const { body, headers } = await accepted(company.get(path));
    const last = body.at(-1);
    path = /<([^>]+)>/.exec(String(headers.link))?.[1] ?? '';
    if ((await accepted(company.get(path))).body.length === 0) return last.after;
  }
}

async function historyOf(company: TestCompany, one: string): Promise<{ type: string; before: State; after: State }[]> {
  const events = [];
  let path = `${one}/history?limit=500`;
  for (;;) {
    const { body, headers } = await accepted(company.get(path));
    if (body.length === 0) return events;
    events.push(...body);
    path = /<([^>]+)>/.exec(String(headers.link))?.[1] ?? '';
  }
}

/** The events show these states of the invoice, one after the other. */
async function assertHistory(company: TestCompany, one: string, states: State[]): Promise<void> {
  const events = await historyOf(company, one);
  assert.deepEqual(
    events.map(({ after }) => after),
    states,
  );
  assert.deepEqual(
    events.slice(1).map(({ before }) => before),
    states.slice(0, -1),
  );
}

const CHANGES = ['heading', 'cancel', 'reinstate', 'append', 'replace', 'clear', 'pay', 'reverse', 'send'] as const;

/** Does one of the changes; returns false if the invoice has nothing to which it applies. */
async function apply(company: TestCompany, one: string, kind: (typeof CHANGES)[number], pick: number, state: State) {
  const some = <T>(all: T[]) => (all.length === 0 ? undefined : all[pick % all.length]);
  const cancelled = some(state.items.filter(({ status }) => status === 'cancelled'));
  const item = some(state.items.filter(({ status }) => status !== 'cancelled'));
  const payment = some(state.payments.filter(({ reversed_at }) => reversed_at === null));
  const more = { items: lines(1 + (pick % 80), `more ${pick}`), keep_existing_items: true };
  const done = {
    heading: () => change(company, one, { total: 1_000_000 + pick }),
    append: () => change(company, one, more),
    replace: () => change(company, one, { items: lines(pick % 120, `other ${pick}`) }),
    clear: () => change(company, one, { keep_existing_items: false }),
    pay: () => accepted(company.post(`${one}/payments`, { amount: '0.01', reference: `payment ${pick}` })),
    send: () => accepted(company.post(`${one}/sent`, {})),
    reverse: () => payment && accepted(company.post(`${one}/payments/${payment.id}/reverse`)),
    cancel: () => item && accepted(company.post(`${one}/items/${item.id}/cancel`)),
    reinstate: () => cancelled && accepted(company.post(`${one}/items/${cancelled.id}/reinstate`)),
  };
  return (await done[kind]()) !== undefined;
}

const anyChange = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(1000));

test('every event of an invoice with many items shows exactly what it was and what it became', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 45, max: 70 }),
      fc.array(anyChange, { minLength: 4, maxLength: 14 }),
      async (count, changes) => {
        const company = await app.company();
        const one = await create(company, lines(count, 'first'));
        const states = [await stateOf(company, one)];
        for (const [kind, pick] of changes) {
          app.clock.advance({ seconds: 1 });
          const done = await apply(company, one, kind, pick, states.at(-1) as State);
          if (done) states.push(await stateOf(company, one));
        }
        await assertHistory(company, one, states);
      },
    ),
    { numRuns: 12, seed: Number(process.env.SEED ?? 20261118) },
  );
});

test('a small change of an invoice of 1,000 items adds less than 2 kB to the log, whatever it changes', async () => {
  const company = await app.company();
  const one = await create(company, lines(1000, 'first'));
  const { items } = await stateOf(company, one);
  await change(company, one, { total: 7 });
  await accepted(company.post(`${one}/items/${items[500]?.id}/cancel`));
  await change(company, one, { items: lines(1, 'one more'), keep_existing_items: true });
  await accepted(company.post(`${one}/payments`, { amount: '1.00' }));
  await accepted(company.post(`${one}/sent`, {}));
  const rows = await app.sql<{ type: string; size: number }>(
    'SELECT type, length(was::text) + coalesce(length(touched::text), 0) AS size FROM events WHERE record_id = $1 AND was IS NOT NULL ORDER BY position',
    [one.split('/').at(-1)],
  );
  assert.equal(rows.length, 5);
  for (const { type, size } of rows) assert.ok(size < 2_000, `${type}: ${size}`);
});

test('what an entry left out is found behind the version that is kept whole, and behind entries that kept everything', async () => {
  const company = await app.company();
  const one = await create(company, lines(60, 'first'));
  const id = one.split('/').at(-1);
  await app.sql('UPDATE invoices SET version = 61 WHERE id = $1', [id]);
  const states = [await stateOf(company, one)];
  for (let i = 0; i < 7; i++) {
    const item = states.at(-1)?.items[i];
    await accepted(company.post(`${one}/items/${item?.id}/cancel`));
    states.push(await stateOf(company, one));
  }
  const kept = await app.sql<{ whole: boolean }>(
    'SELECT touched IS NULL AS whole FROM events WHERE record_id = $1 AND was IS NOT NULL ORDER BY position',
    [id],
  );
  assert.deepEqual(
    kept.map(({ whole }) => whole),
    [false, false, false, true, false, false, false],
  );
  await assertHistory(company, one, states);
});

test('an entry of an invoice whose items were replaced again and again is completed by few rows', async () => {
  const company = await app.company();
  const one = await create(company, lines(60, 'first'));
  for (let i = 0; i < 3; i++) await change(company, one, { total: i });
  for (let i = 0; i < 12; i++) await change(company, one, { items: lines(200, `round ${i}`) });
  const id = one.split('/').at(-1);
  const [row] = await app.sql<{ whole: number; rows: number }>(
    `SELECT count(*) FILTER (WHERE touched -> 'invoice_items' IS NULL)::int AS whole,
            coalesce(sum(json_array_length(touched -> 'invoice_items' -> 'changed')), 0)::int AS rows
       FROM events WHERE record_id = $1 AND was IS NOT NULL`,
    [id],
  );
  assert.deepEqual(row, { whole: 12, rows: 0 }, 'each replacement keeps what it removed, whole');
  const events = await historyOf(company, one);
  assert.equal(events.length, 16);
  assert.deepEqual(events[4]?.before, events[3]?.after);
  assert.equal(events[1]?.before.items.length, 60);
});

test('an invoice that was written before its items were counted is changed and shown like any other', async () => {
  const company = await app.company();
  const one = await create(company, lines(60, 'first'));
  await app.sql('UPDATE invoices SET item_count = NULL, payment_count = NULL WHERE id = $1', [one.split('/').at(-1)]);
  const before = await stateOf(company, one);
  await accepted(company.post(`${one}/payments`, { amount: '1.00' }));
  await change(company, one, { items: lines(3, 'more'), keep_existing_items: true });
  const [row] = await app.sql('SELECT item_count, payment_count FROM invoices WHERE id = $1', [one.split('/').at(-1)]);
  assert.deepEqual(row, { item_count: 63, payment_count: 1 });
  const events = await historyOf(company, one);
  assert.deepEqual(events[1]?.before, before);
  assert.equal(events[2]?.after.items.length, 63);
});

test('a page of the log is cut by what it shows, not by what it keeps', async () => {
  const company = await app.company();
  for (let i = 0; i < 8; i++) await create(company, lines(1000, 'first'), `INV-${i}`);
  const { body, headers } = await accepted(company.get('/events?types=invoice.*&limit=500'));
  assert.ok(body.length < 8, `${body.length} events of 1,000 items each`);
  const rest = await accepted(company.get(/<([^>]+)>/.exec(String(headers.link))?.[1] ?? ''));
  assert.equal(body.length + rest.body.length, 8);
});
