import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertNotFound, assertProblem, ok, refused } from './harness/assert.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import type { Caller } from './harness/http.ts';
import { addAppointment, addInteraction, addInvoice, app, openCase } from './harness/search.ts';

/** GET /cases/{caseId}/timeline. */

// biome-ignore lint/suspicious/noExplicitAny: entries of every kind
type Entry = { kind: string; at: string } & Record<string, any>;

async function page(caller: Caller, path: string): Promise<{ entries: Entry[]; next: string | undefined }> {
  const answer = await caller.get(path);
  assert.equal(answer.status, 200, answer.text);
  const next = /^<(.+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1];
  return { entries: answer.body, next };
}

/** All entries, and the number of pages. */
async function all(caller: Caller, path: string): Promise<{ entries: Entry[]; pages: number }> {
  const entries: Entry[] = [];
  let pages = 0;
  for (let next: string | undefined = path; next; pages++) {
    const found = await page(caller, next);
    entries.push(...found.entries);
    next = found.next;
  }
  return { entries, pages };
}

const keyOf = ({ kind, ...entry }: Entry) => `${kind} ${entry[kind].id}`;

test('interactions, appointments, invoices, payments and changes are in one order, latest first', async () => {
  const now = app.clock.read().toString({ smallestUnit: 'microsecond' });
  const company = await app.company();
  const caseId = await openCase(company, 'Timeline', [{ last_name: 'Doe', email: 'doe@client.example' }]);
  const path = `/cases/${caseId}`;
  const call = await addInteraction(company, caseId, { notes: 'First call', when: '2026-05-02 10:00' });
  const invoice = await addInvoice(company, caseId, { date_created: '2026-05-03 10:00:00' });
  const payment = (
    await ok(company.post(`${path}/invoices/${invoice}/payments`, { amount: 20, paid_at: '2026-05-04 10:00' }))
  ).id;
  const appointment = await addAppointment(company, caseId, {
    ...{ email_recipient: 'doe@client.example', email_confirmation: true, email_notification: true },
  });
  const { entries } = await page(company, `${path}/timeline`);
  assert.deepEqual(
    entries.map((entry) => [entry.kind, entry.at, entry.kind === 'change' ? entry.change.type : entry[entry.kind].id]),
    [
      ['appointment', '2026-06-10T09:00:00.000000Z', appointment],
      ['change', now, 'appointment.created'],
      ['change', now, 'invoice.payment_recorded'],
      ['change', now, 'invoice.created'],
      ['change', now, 'interaction.created'],
      ['change', now, 'customer.created'],
      ['change', now, 'case.created'],
      ['payment', '2026-05-04T09:00:00.000000Z', payment],
      ['invoice', '2026-05-03T09:00:00.000000Z', invoice],
      ['interaction', '2026-05-02T09:00:00.000000Z', call],
    ],
  );
  const shown = Object.fromEntries(entries.map((entry) => [entry.kind, entry[entry.kind]]));
  assert.deepEqual(shown.interaction, await ok(company.get(`${path}/interactions/${call}`)));
  assert.deepEqual(shown.appointment, await ok(company.get(`${path}/appointments/${appointment}`)));
  assert.deepEqual(
    [shown.appointment.email_confirmation, shown.appointment.email_notification],
    ['scheduled', 'scheduled'],
  );
  assert.deepEqual([shown.payment], await ok(company.get(`${path}/invoices/${invoice}/payments`)));
  const { total, paid, outstanding, status } = shown.invoice;
  assert.deepEqual([total, paid, outstanding, status], [120, 20, 100, 'Part Paid']);
  for (const entry of entries) {
    const kinds = ['interaction', 'appointment', 'invoice', 'payment', 'change'];
    assert.deepEqual(
      kinds.filter((kind) => entry[kind] !== null),
      [entry.kind],
    );
  }
  const events = await ok(company.get(`${path}/events`));
  const changes = entries.filter(({ kind }) => kind === 'change').map(({ change }) => change.id);
  assert.deepEqual(changes, events.map(({ id }: { id: string }) => id).reverse());
});

test('only the kinds that are asked for and that the scopes allow are shown', async () => {
  const company = await app.company();
  await addInteraction(company, company.caseId, {});
  await addInvoice(company, company.caseId, {});
  const path = `${company.path}/timeline`;
  const kinds = async (caller: Caller, query = '') =>
    [...new Set((await page(caller, `${path}${query}`)).entries.map(({ kind }) => kind))].sort();
  assert.deepEqual(await kinds(company, '?kinds=invoice,interaction'), ['interaction', 'invoice']);
  assert.deepEqual(await kinds(await company.withScopes('interactions:read')), ['interaction']);
  assert.deepEqual(await kinds(await company.withScopes('invoices:read', 'events:read')), ['change', 'invoice']);
  assert.deepEqual(await kinds(await company.withScopes('invoices:read'), '?kinds=interaction,change'), []);
  for (const scope of ['cases:read', 'manage', 'address_book:read', 'invoices:write']) {
    assertProblem(await (await company.withScopes(scope)).get(path), 403, 'insufficient_scope');
  }
});

test('deleted records are only shown by their changes', async () => {
  const company = await app.company();
  const caseId = await company.openCase();
  const id = await addInteraction(company, caseId, {});
  const appointment = await addAppointment(company, caseId, {});
  await ok(company.delete(`/cases/${caseId}/interactions/${id}`));
  await ok(company.delete(`/cases/${caseId}/appointments/${appointment}`));
  const { entries } = await page(company, `/cases/${caseId}/timeline`);
  assert.deepEqual([...new Set(entries.map(({ kind }) => kind))], ['change']);
  assert.ok(entries.some(({ change }) => change.type === 'interaction.deleted' && change.record.id === id));
});

test('pages of any size have every entry once and in order, also while records are added', async () => {
  const company = await app.company();
  const caseId = await company.openCase();
  await app.sql(FILL_INTERACTIONS, [company.companyId, caseId, 40]);
  for (let i = 0; i < 12; i++) {
    // Several at the same time.
    const invoice = await addInvoice(company, caseId, { date_created: `2020-01-01 00:${10 + (i % 4)}:00` });
    if (i % 3 === 0)
      await ok(
        company.post(`/cases/${caseId}/invoices/${invoice}/payments`, { amount: 1, paid_at: '2020-01-01 00:12' }),
      );
  }
  const path = `/cases/${caseId}/timeline`;
  const whole = (await page(company, `${path}?limit=200`)).entries;
  assert.equal(new Set(whole.map(keyOf)).size, whole.length);
  assert.deepEqual(
    whole.map(({ at }) => at),
    whole
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async (limit) => {
      const { entries, pages } = await all(company, `${path}?limit=${limit}`);
      assert.deepEqual(entries, whole);
      assert.equal(pages, Math.ceil(whole.length / limit));
    }),
    { numRuns: 5, examples: [[1]] },
  );
  const first = await page(company, `${path}?limit=5`);
  await addInteraction(company, caseId, { notes: 'added meanwhile', when: '2026-06-02 10:00' });
  const rest = await all(company, first.next ?? '');
  assert.deepEqual([...first.entries, ...rest.entries], whole);
});

test('changes that were committed in another order than that of their times are neither lost nor repeated', async () => {
  const company = await app.company();
  const caseId = await company.openCase();
  const offsets = [5, 1, 9, 2, 2, 8, 0, 7, 3];
  for (const [i, seconds] of offsets.entries()) {
    await app.sql(
      `INSERT INTO events (company_id, case_id, record_id, type, at, origin)
       VALUES ($1, $2, gen_random_uuid(), 'interaction.created', timestamptz '2026-05-01T00:00:00Z' + $3 * interval '1 second',
               '{"actor": {"type": "worker"}}')`,
      [company.companyId, caseId, seconds],
    );
    await addInteraction(company, caseId, { when: `2026-05-01T00:00:0${i}Z` });
  }
  const whole = (await page(company, `/cases/${caseId}/timeline?limit=200`)).entries;
  for (const limit of [1, 2, 3, 5]) {
    const { entries } = await all(company, `/cases/${caseId}/timeline?limit=${limit}`);
    assert.deepEqual(entries.map(keyOf).toSorted(), whole.map(keyOf).toSorted(), `limit ${limit}`);
    assert.deepEqual(
      entries.map(({ at }) => at),
      whole
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
  }
});

test('an unknown case and the case of another company are not found, whatever else is wrong', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const nil = '/cases/00000000-0000-0000-0000-000000000000';
  for (const path of [`/cases/${crypto.randomUUID()}`, stranger.path, '/cases/x', nil]) {
    assertNotFound(await company.get(`${path}/timeline`));
    assertNotFound(await company.get(`${path}/timeline?limit=0`));
  }
  const { next } = await page(stranger, `${stranger.path}/timeline?limit=1`);
  await refused(company.get(`${company.path}/timeline${next?.slice(next.indexOf('?'))}`), { cursor: 'unknown' });
});

test('every fault of a request is named', async () => {
  const company = await app.company();
  const path = `${company.path}/timeline`;
  await refused(company.get(`${path}?limit=201&kinds=entry&cursor=x`), {
    ...{ limit: 'out_of_range', kinds: 'not_allowed', cursor: 'unknown' },
  });
  await refused(company.get(`${path}?cursor=!&limit=0`), { cursor: 'format', limit: 'format' });
  const { next } = await page(company, `${path}?limit=1`);
  const cursor = new URL(next ?? '', app.baseUrl).searchParams.get('cursor') ?? '';
  const text = Buffer.from(cursor, 'base64url').toString();
  for (const [part, odd] of [
    [0, '2026-13-01T00:00:00.000000Z'],
    [0, '2026-02-30T00:00:00.000000Z'],
    [0, '0000-01-01T00:00:00.000000Z'],
    [0, 'infinity'],
    [1, '7'],
    [2, 'x'],
    [3, 'evt_x'],
  ] as const) {
    const parts = text.split(' ');
    parts[part] = odd;
    const changed = Buffer.from(parts.join(' ')).toString('base64url');
    await refused(company.get(`${path}?cursor=${changed}`), { cursor: 'unknown' });
  }
});
