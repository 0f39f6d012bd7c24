import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertProblem, ok, refused } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import type { Answer, Headers } from './harness/http.ts';

/** Create or update by the id that a record has in another system of the company. */

const app = await startApp();
beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const LATER = '2026-06-01T10:00:00Z';
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

type Fields = Record<string, unknown>;
type Kind = {
  table: string;
  /** The path at which records are created. */
  list: (company: TestCompany, caseId?: string) => string;
  body: (company: TestCompany) => Fields;
  /** What a second request sends, and what the record then shows. */
  change: Fields;
  shows: (record: Fields) => unknown;
  changed: unknown;
  inCase: boolean;
  /** Deletes and restores a record; undefined if a record of this kind is never deleted. */
  removable: boolean;
};

const below =
  (name: string) =>
  (company: TestCompany, caseId: string = company.caseId) =>
    `/cases/${caseId}/${name}`;
const KINDS: Record<string, Kind> = {
  interaction: {
    table: 'interactions',
    list: below('interactions'),
    body: () => ({ type: 'phone', notes: 'first', recipient: 'John' }),
    change: { type: 'letter', notes: 'second' },
    shows: ({ type, notes, recipient }) => [type, notes, recipient],
    changed: ['letter', 'second', 'John'],
    inCase: true,
    removable: true,
  },
  invoice: {
    table: 'invoices',
    list: below('invoices'),
    body: () => ({
      ...invoiceBody({ invoice_number: 'INV-1', sender_id: UNKNOWN }),
      items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
    }),
    change: { payment_terms: '7 days' },
    shows: ({ payment_terms, items }) => [payment_terms, (items as Fields[]).length],
    changed: ['7 days', 1],
    inCase: true,
    removable: false,
  },
  'address book entry': {
    table: 'people',
    list: below('address-book/entry'),
    body: () => ({ ...PERSON, occupation: 'Teacher' }),
    change: { last_name: 'Roe' },
    shows: ({ data }) => [(data as Fields).last_name, (data as Fields).occupation],
    changed: ['Roe', 'Teacher'],
    inCase: true,
    removable: true,
  },
  appointment: {
    table: 'appointments',
    list: below('appointments'),
    body: (company) => booking(company, { notes: 'first', location: 'here' }),
    change: { notes: 'second' },
    shows: ({ notes, location }) => [notes, location],
    changed: ['second', 'here'],
    inCase: true,
    removable: true,
  },
  case: {
    table: 'cases',
    list: () => '/manage/cases',
    body: () => ({ reference: 'Doe' }),
    change: { reference: 'Roe', state: 'closed' },
    shows: ({ reference, state }) => [reference, state],
    changed: ['Roe', 'closed'],
    inCase: false,
    removable: false,
  },
  customer: {
    table: 'customers',
    list: (company, caseId = company.caseId) => `/manage/cases/${caseId}/customers`,
    body: () => ({ last_name: 'Doe', title: 'Ms' }),
    change: { last_name: 'Roe' },
    shows: ({ last_name, title }) => [last_name, title],
    changed: ['Roe', 'Ms'],
    inCase: true,
    removable: true,
  },
};

const pathOf = ({ list }: Kind, company: TestCompany, externalId: string, caseId?: string) =>
  `${list(company, caseId)}/by-external-id/${encodeURIComponent(externalId)}`;
const put = (kind: Kind, company: TestCompany, externalId: string, body: Fields = {}, headers?: Headers) =>
  company.send('PUT', pathOf(kind, company, externalId), { ...kind.body(company), ...body }, headers);
const rowsOf = async ({ table }: Kind, company: TestCompany, externalId: string) =>
  app.sql(`SELECT id FROM ${table} WHERE company_id = $1 AND external_id = $2`, [company.companyId, externalId]);
const eventsOf = async (company: TestCompany) =>
  app.sql<{ type: string }>('SELECT type FROM events WHERE company_id = $1 ORDER BY position', [company.companyId]);

function created(answer: Answer): Fields {
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

for (const [name, kind] of Object.entries(KINDS)) {
  test(`${name}: the first request creates, the second one updates, and what is not sent stays`, async () => {
    const company = await app.company();
    const first = await put(kind, company, 'crm/1 ü');
    const { id } = created(first);
    app.clock.set(LATER);
    const second = await put(kind, company, 'crm/1 ü', kind.change);
    assert.equal(second.status, 200, second.text);
    assert.equal(second.body.id, id);
    const path = `${kind.list(company)}/${id}`;
    const shown = await company.get(pathOf(kind, company, 'crm/1 ü'));
    assert.deepEqual(shown.body, await ok(company.get(path)));
    assert.deepEqual(kind.shows(shown.body), kind.changed);
    assert.equal(shown.body.external_id, 'crm/1 ü');
    assert.equal(second.headers.etag, shown.headers.etag);
    assert.notEqual(first.headers.etag, shown.headers.etag);
    const history = await ok(company.get(`${path}/history`));
    assert.deepEqual(
      history.map(({ after }: { after: Fields }) => after.external_id),
      ['crm/1 ü', 'crm/1 ü'],
    );
  });

  test(`${name}: of twenty simultaneous first requests exactly one creates, and none fails`, async () => {
    const company = await app.company();
    const before = (await eventsOf(company)).length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(kind, company, 'crm-1')));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(19).fill(200), 201], String(answers.find(({ status }) => status > 201)?.text));
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
    assert.equal((await rowsOf(kind, company, 'crm-1')).length, 1);
    const events = (await eventsOf(company)).slice(before).map(({ type }) => type.split('.')[1]);
    assert.deepEqual(events, ['created', ...Array(19).fill('updated')]);
  });

  test(`${name}: two companies use the same id for records of their own`, async () => {
    const [one, other] = [await app.company(), await app.company()];
    const [mine, theirs] = [created(await put(kind, one, 'crm-1')), created(await put(kind, other, 'crm-1'))];
    assert.notEqual(mine.id, theirs.id);
    assertNotFound(await one.get(pathOf(kind, one, 'crm-2')));
    assertNotFound(await one.get(pathOf(kind, one, 'CRM-1')));
  });

  test(`${name}: an id that cannot be one is refused in a write, together with the other faults, and unknown in a read`, async () => {
    const company = await app.company();
    for (const [id, code] of [
      ['a\0b', 'invalid_character'],
      ['a\nb', 'invalid_character'],
      [' ', 'too_short'],
      ['🙂'.repeat(256), 'too_long'],
    ] as const) {
      await refused(put(kind, company, id), { external_id: code });
      assertNotFound(await company.get(pathOf(kind, company, id)));
    }
    const answer = await company.send('PUT', pathOf(kind, company, '\t'), {});
    assertProblem(answer, 400, 'invalid_request');
    assert.ok(answer.body.errors.length > 1, answer.text);
    created(await put(kind, company, '🙂'.repeat(255)));
  });

  test(`${name}: If-None-Match: * only creates, If-Match only updates the state that was read`, async () => {
    const company = await app.company();
    const first = await put(kind, company, 'crm-1', {}, { 'if-none-match': '*' });
    created(first);
    const again = await put(kind, company, 'crm-1', kind.change, { 'if-none-match': '*' });
    assertProblem(again, 412, 'precondition_failed');
    await refused(put(kind, company, 'crm-1', {}, { 'if-none-match': '"x"' }), { 'If-None-Match': 'format' });
    app.clock.set(LATER);
    const { etag } = (await company.get(pathOf(kind, company, 'crm-1'))).headers;
    const updated = await put(kind, company, 'crm-1', kind.change, { 'if-match': String(etag) });
    assert.equal(updated.status, 200, updated.text);
    const late = await put(kind, company, 'crm-1', {}, { 'if-match': String(etag) });
    assertProblem(late, 412, 'precondition_failed');
    assertNotFound(await put(kind, company, 'crm-2', {}, { 'if-match': '*' }));
    assert.equal((await rowsOf(kind, company, 'crm-2')).length, 0);
    const unchanged = await company.get(pathOf(kind, company, 'crm-1'), {
      'if-none-match': String(updated.headers.etag),
    });
    assert.equal(unchanged.status, 304);
  });

  test(`${name}: a request with an Idempotency-Key is performed once, and its status is repeated`, async () => {
    const company = await app.company();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await put(kind, company, 'crm-1', {}, headers);
    created(first);
    const before = (await eventsOf(company)).length;
    const second = await put(kind, company, 'crm-1', {}, headers);
    assert.deepEqual([second.status, second.body], [201, first.body]);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    const keys = Array.from({ length: 6 }, () => ({ 'idempotency-key': randomUUID() }));
    const answers = await Promise.all(keys.map((key) => put(kind, company, 'crm-2', CHANGE_OF_NUMBER, key)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201]);
    assert.equal((await eventsOf(company)).length, before + 6);
  });

  test(`${name}: a record gets an external id later, another one, and none`, async () => {
    const company = await app.company();
    const { id } = await ok(company.post(kind.list(company), kind.body(company)));
    const path = `${kind.list(company)}/${id}`;
    const set = (external_id: unknown, headers?: Headers) =>
      company.send('PUT', `${path}/external-id`, { external_id }, headers);
    assert.equal((await ok(company.get(path))).external_id, null);
    assert.deepEqual(await ok(set('crm-1')), { id, external_id: 'crm-1' });
    assert.deepEqual(await ok(set('crm-1')), { id, external_id: 'crm-1' });
    assert.equal((await ok(company.get(pathOf(kind, company, 'crm-1')))).id, id);
    const { headers } = await company.get(path);
    assert.equal((await set('crm-2', { 'if-match': '"x"' })).status, 412);
    const { status, text } = await set('crm-2', { 'if-match': String(headers.etag) });
    assert.equal(status, 200, text);
    created(await put(kind, company, 'crm-1', CHANGE_OF_NUMBER));
    await refused(set('crm-1'), { external_id: 'taken' });
    await refused(set(''), { external_id: 'too_short' });
    await refused(set('a\nb'), { external_id: 'invalid_character' });
    await refused(set(undefined), { external_id: 'required' });
    await refused(set(5), { external_id: 'type' });
    assert.deepEqual(await ok(set(null)), { id, external_id: null });
    assertNotFound(await company.get(pathOf(kind, company, 'crm-2')));
    assertNotFound(await company.send('PUT', `${kind.list(company)}/${UNKNOWN}/external-id`, { external_id: null }));
  });

  if (kind.inCase)
    test(`${name}: an id of another case of the company is taken, and an unknown case comes first`, async () => {
      const company = await app.company();
      const other = await company.openCase();
      created(await put(kind, company, 'crm-1'));
      const elsewhere = pathOf(kind, company, 'crm-1', other);
      await refused(company.send('PUT', elsewhere, kind.body(company)), { external_id: 'taken' });
      assertNotFound(await company.get(elsewhere));
      assertNotFound(await company.send('PUT', pathOf(kind, company, 'crm-1', UNKNOWN), kind.body(company)));
      assertNotFound(await company.send('PUT', pathOf(kind, company, '\t', UNKNOWN), {}));
      const capitals = pathOf(kind, company, 'crm-1', company.caseId.toUpperCase());
      assert.equal((await company.send('PUT', capitals, kind.body(company))).status, 200);
    });

  if (kind.removable)
    test(`${name}: a deleted record does not hold its id, and is not restored while another one has it`, async () => {
      const company = await app.company();
      const { id } = created(await put(kind, company, 'crm-1'));
      const path = `${kind.list(company)}/${id}`;
      await ok(company.delete(path));
      assertNotFound(await company.get(pathOf(kind, company, 'crm-1')));
      assertNotFound(await company.send('PUT', `${path}/external-id`, { external_id: 'x' }));
      const { id: next } = created(await put(kind, company, 'crm-1'));
      assert.notEqual(next, id);
      await refused(company.post(`${path}/restore`), { external_id: 'taken' });
      // A violated constraint is found twice: by the statement, and by the transaction that stores the rejection.
      for (let round = 0; round < 20; round++) {
        const headers = { 'idempotency-key': randomUUID() };
        await refused(company.send('POST', `${path}/restore`, undefined, headers), { external_id: 'taken' });
      }
      await ok(company.delete(`${kind.list(company)}/${next}`));
      assert.equal((await company.post(`${path}/restore`)).status, 200);
      assert.equal((await ok(company.get(pathOf(kind, company, 'crm-1')))).id, id);
    });
}

/** A second invoice needs another number; other kinds ignore it. */
const CHANGE_OF_NUMBER = { invoice_number: 'INV-2' };

const kindNamed = (name: string) => KINDS[name] as Kind;

test('a repeated appointment sends no second confirmation, and its adviser cannot be changed', async () => {
  const company = await app.company();
  const kind = kindNamed('appointment');
  const mailed = {
    email_recipient: company.customers[0].email,
    email_confirmation: true,
    email_notification: true,
    sms_recipient: '07400 123456',
    sms_confirmation: true,
  };
  const answers = await Promise.all(Array.from({ length: 20 }, () => put(kind, company, 'crm-1', mailed)));
  const { id } = answers[0]?.body ?? {};
  app.clock.set(LATER);
  const sent = `UPDATE messages SET state = 'sent' WHERE company_id = $1 AND kind = 'confirmation'`;
  await app.sql(sent, [company.companyId]);
  const moved = { start_time: '2026-06-11 10:00:00', end_time: '2026-06-11 11:00:00' };
  assert.equal((await put(kind, company, 'crm-1', { ...mailed, ...moved, video_meeting: true })).status, 200);
  const messages: { kind: string; channel: string; state: string }[] = await ok(
    company.get(`${kind.list(company)}/${id}/messages`),
  );
  assert.deepEqual(messages.map(({ channel, kind, state }) => `${channel} ${kind} ${state}`).sort(), [
    'email confirmation sent',
    'email reminder cancelled',
    'email reminder scheduled',
    'sms confirmation sent',
  ]);
  const before = await company.get(pathOf(kind, company, 'crm-1'));
  const other = { adviser_email: company.adviserWithVideo, end_time: 'x' };
  await refused(put(kind, company, 'crm-1', other), { adviser_email: 'invalid_state', end_time: 'format' });
  await refused(put(kind, company, 'crm-1', { adviser_email: undefined }), { adviser_email: 'required' });
  assert.deepEqual((await company.get(pathOf(kind, company, 'crm-1'))).body, before.body);
  assert.equal((await put(kind, company, 'crm-1', { adviser_email: company.adviser.toUpperCase() })).status, 200);
});

test('an invoice that is sent again replaces its items, and cannot add to them', async () => {
  const company = await app.company();
  const kind = kindNamed('invoice');
  const { id } = created(await put(kind, company, 'crm-1'));
  const items = ['A', 'B'].map((description) => ({ description, quantity: 1, rate: 50, amount: 60 }));
  for (let time = 0; time < 2; time++) assert.equal((await put(kind, company, 'crm-1', { items })).status, 200);
  assert.equal((await ok(company.get(`${kind.list(company)}/${id}`))).items.length, 2);
  const keep = { items, keep_existing_items: true };
  await refused(put(kind, company, 'crm-1', keep), { keep_existing_items: 'not_allowed' });
  await refused(put(kind, company, 'crm-2', keep), { keep_existing_items: 'not_allowed', invoice_number: 'taken' });
  await refused(put(kind, company, 'crm-2'), { invoice_number: 'taken' });
  assert.equal((await rowsOf(kind, company, 'crm-2')).length, 0);
});

test('a cancelled or paid invoice is updated by the rules of the specified update', async () => {
  const company = await app.company();
  const kind = kindNamed('invoice');
  for (const [number, verb, body] of [
    ['INV-1', 'cancel', undefined],
    ['INV-2', 'payments', { amount: 120 }],
  ] as const) {
    const sent = { invoice_number: number };
    const { id } = created(await put(kind, company, number, sent));
    await ok(company.post(`${kind.list(company)}/${id}/${verb}`, body));
    const change = { ...kind.body(company), ...sent, total: 90, sub_total: 75, vat_amount: 15 };
    const [byId, byExternalId] = [
      await company.patch(`${kind.list(company)}/${id}`, change),
      await put(kind, company, number, change),
    ];
    assert.deepEqual([byExternalId.status, byExternalId.body.errors], [byId.status, byId.body.errors]);
  }
});

test('a case takes no customers with a request that may be repeated', async () => {
  const company = await app.company();
  const kind = kindNamed('case');
  await refused(put(kind, company, 'crm-1', { customers: [{ last_name: 'Doe' }] }), { customers: 'not_allowed' });
  created(await put(kind, company, 'crm-1', { state: 'closed', closed_at: '2026-06-02 09:00' }));
  await refused(put(kind, company, 'crm-1', { state: 'open', closed_at: '2026-06-02 09:00' }), {
    closed_at: 'invalid_state',
  });
});

test('both spellings of the address book find the same entry', async () => {
  const company = await app.company();
  const path = (spelling: string) => `${company.path}/${spelling}/entry/by-external-id/crm-1`;
  created(await company.send('PUT', path('address-book'), PERSON));
  assert.equal((await company.send('PUT', path('address_book'), PERSON)).status, 200);
  assert.deepEqual((await company.get(path('address_book'))).body, (await company.get(path('address-book'))).body);
});

test('an external id is no part of the specified answers, and requests cannot set it there', async () => {
  const company = await app.company();
  for (const name of ['interaction', 'invoice', 'address book entry', 'appointment']) {
    const kind = kindNamed(name);
    const answer = await put(kind, company, 'crm-1');
    assert.equal('external_id' in created(answer), false);
    const sent = { ...kind.body(company), ...CHANGE_OF_NUMBER, external_id: 'crm-2' };
    const made = await ok(company.post(kind.list(company), sent));
    assert.deepEqual(Object.keys(made), Object.keys(answer.body));
    assert.equal((await rowsOf(kind, company, 'crm-2')).length, 0);
    await ok(company.patch(`${kind.list(company)}/${answer.body.id}`, { ...kind.body(company), ...kind.change }));
    assert.equal((await rowsOf(kind, company, 'crm-1')).length, 1, 'a PATCH leaves the external id');
  }
  const [listed] = await ok(company.get(`${company.path}/interactions`));
  assert.equal('external_id' in listed, false);
});

test('a scope that may only read finds a record, and creates and updates none', async () => {
  const company = await app.company();
  const kind = kindNamed('interaction');
  created(await put(kind, company, 'crm-1'));
  const reader = await company.withScopes('interactions:read');
  await ok(reader.get(pathOf(kind, company, 'crm-1')));
  assert.equal((await reader.send('PUT', pathOf(kind, company, 'crm-1'), { type: 'phone' })).status, 403);
});
