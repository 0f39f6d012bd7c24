import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { CaseRecordsError, type Client, type ClientOptions, createClient } from '../packages/client/src/index.ts';
import { type Schema, toType } from '../scripts/schema-types.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { document } from './harness/openapi.ts';

/** The client alone and with the service. What it does when requests fail on the way is in client-retries.test.ts. */

const app = await startApp();

const personOf = (company: TestCompany) => ({
  entity_id: 'person' as const,
  title: 'Ms',
  first_names: 'Jane',
  last_name: 'Doe',
  relationship: { [company.customers[0].id]: 'sister' },
});
const invoiceOf = (company: TestCompany) => ({
  invoice_number: 'A1',
  sender_id: company.customers[0].id,
  date_created: '2026-06-01 09:00:00',
  date_due: '2026-07-01 09:00:00',
  vat: 20,
  sub_total: '100.00',
  total: 120,
  items: [{ description: 'Will', quantity: 1, rate: '100.00', amount: 120 }],
});

/** A client that sends nothing and always gets the same answer. */
function offline(body = '{}', init: ResponseInit = { status: 200 }) {
  const sent: { method: string; url: URL; headers: Headers; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (url, { method = '', headers, body: text } = {}) => {
    sent.push({ method, url: new URL(String(url)), headers: new Headers(headers), body: text });
    return new Response(init.status === 304 ? null : body, init);
  };
  return { sent, client: createClient({ baseUrl: 'https://records.example/api/', token: 'cr_token', fetch }) };
}

async function rejection(call: Promise<unknown>): Promise<CaseRecordsError> {
  const error = await call.then(
    () => assert.fail('the call must be refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof CaseRecordsError, String(error));
  return error;
}

const chosen = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { isAlternative }]) => !isAlternative)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

test('the client has a method for every operation of the document, each by one name, and two of its own', () => {
  const { client } = offline();
  const ids = chosen.map(({ operationId }) => operationId);
  assert.ok(ids.length > 80);
  assert.deepEqual(Object.keys(client).sort(), [...ids, 'entries', 'pages'].sort());
  assert.equal(new Set(chosen.map(({ method, path }) => `${method} ${path.replace('_', '-')}`)).size, ids.length);
});

for (const { operationId, method, path, parameters = [], requestBody, security = [] } of chosen) {
  test(`${operationId} is ${method} ${path}, with each parameter where the document has it`, async () => {
    const { client, sent } = offline();
    const camelCase = (name: string) => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const input = Object.fromEntries(parameters.map(({ name }) => [camelCase(name), `/${name}/`]));
    const call = client[operationId as 'getCase'] as (input: object) => Promise<unknown>;
    await call({ ...input, ...(requestBody && { body: { field: 'ü' } }) });
    const at = (where: string) => parameters.filter((one) => one.in === where).map(({ name }) => name);
    const expected = at('path').reduce((url, name) => url.replace(`{${name}}`, `%2F${name}%2F`), path);
    const [request, ...more] = sent;
    assert.ok(request && more.length === 0);
    assert.equal(`${request.method} ${request.url.pathname}`, `${method} /api${expected}`);
    assert.deepEqual(
      [...request.url.searchParams],
      at('query').map((name) => [name, `/${name}/`]),
    );
    for (const name of at('header')) assert.equal(request.headers.get(name), `/${name}/`);
    assert.equal(request.body, requestBody ? '{"field":"ü"}' : null);
    const bearer = security.some((scheme) => 'bearer' in scheme);
    assert.equal(request.headers.get('authorization'), bearer ? 'Bearer cr_token' : null);
    assert.equal(request.headers.get('content-type'), 'application/json');
  });
}

test('every write gets a key of its own, and no read does', async () => {
  for (const { operationId, method, path, parameters = [] } of chosen) {
    const { client, sent } = offline();
    const input = Object.fromEntries(parameters.filter((one) => one.in === 'path').map(({ name }) => [name, 'x']));
    const call = client[operationId as 'getCase'] as (input: object) => Promise<unknown>;
    await call({ ...input, body: {} });
    await call({ ...input, body: {} });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    // What concerns one person is never stored for a retry.
    const isPersonal = /^\/(sign-in|session|account)(\/|$)/.test(path);
    if (method === 'GET' || isPersonal || operationId.endsWith('AccessToken'))
      assert.deepEqual(keys, [null, null], operationId);
    else for (const key of keys) assert.match(key ?? '', /^[0-9a-f-]{36}$/, operationId);
    if (keys[0]) assert.notEqual(keys[0], keys[1], operationId);
  }
});

test('parameters that are not given are not sent, and a false one is', async () => {
  const { client, sent } = offline('[]');
  await client.getCaseInteractions({ caseId: 'c', type: undefined, deleted: false, page: 2 });
  assert.equal(sent[0]?.url.search, '?deleted=false&page=2');
});

for (const value of ['', '.', '..', undefined]) {
  test(`a part of the path that is ${JSON.stringify(value)} never leaves the client`, async () => {
    const { client, sent } = offline();
    const call = client.deleteCustomTag({ tag: value as string });
    await assert.rejects(call, { name: 'TypeError', message: /^tag must/ });
    assert.equal(sent.length, 0);
  });
}

test('a header that cannot be sent is a TypeError and not a line that is down', async () => {
  const { client, sent } = offline();
  await assert.rejects(client.createCase({ body: { reference: 'A' }, idempotencyKey: 'a\nb' }), { name: 'TypeError' });
  assert.equal(sent.length, 0);
});

test('address book: create, list, update, read, remove a tag, delete, restore', async () => {
  const { client, caseId, ...company } = await app.company();
  const body = { ...personOf({ client, caseId, ...company }), tags: ['executor'] };
  const { data: made } = await client.createCaseAddressBookEntry({ caseId, body });
  const { data: list } = await client.getCaseAddressBook({ caseId, name: 'jane' });
  assert.deepEqual(
    list.map(({ entity_id }) => entity_id),
    ['person', 'address'],
  );
  const one = { caseId, entryID: made.id };
  await client.updateCaseAddressBookEntry({ ...one, body: { ...body, occupation: 'Baker' } });
  const { data: read } = await client.readAddressBookEntry(one);
  assert.deepEqual([read.data.occupation, read.data.tags], ['Baker', ['executor']]);
  const { data: untagged } = await client.removeTag({ ...one, tag: 'executor' });
  assert.deepEqual(untagged.data.tags, []);
  assert.equal((await client.deleteAddressBookEntry(one)).data.id, made.id);
  assert.equal((await client.restoreAddressBookEntry(one)).data.id, made.id);
});

test('interactions: create, list, update, read, delete, restore', async () => {
  const { client, caseId } = await app.company();
  const { data: made } = await client.createCaseInteraction({ caseId, body: { type: 'phone', notes: 'First' } });
  const one = { caseId, interactionId: made.id };
  await client.updateCaseInteraction({ ...one, body: { type: 'letter' } });
  const { data: list } = await client.getCaseInteractions({ caseId, type: 'letter', from: '2026-01-01 00:00' });
  const { external_id, ...listed } = (await client.readInteraction(one)).data;
  assert.deepEqual([external_id, list], [null, [listed]]);
  await client.deleteInteraction(one);
  assert.equal((await client.getCaseInteractions({ caseId, deleted: true })).data.length, 1);
  assert.equal((await client.restoreInteraction(one)).data.type, 'letter');
});

test('invoices: create, list, update, pay, cancel an item, mark as sent', async () => {
  const { client, caseId, ...company } = await app.company();
  const body = invoiceOf({ client, caseId, ...company });
  const { data: made } = await client.createCaseInvoice({ caseId, body });
  const one = { caseId, invoiceId: made.id };
  await client.updateCaseInvoice({ ...one, body: { ...body, invoice_number: 'A2', keep_existing_items: true } });
  await client.recordPayment({ ...one, body: { amount: '50.00' } });
  const { data: list } = await client.getCaseInvoices({ caseId, status: 'Part Paid' });
  assert.deepEqual(
    list.map(({ invoice_number }) => invoice_number),
    ['A2'],
  );
  assert.equal((await client.listPayments(one)).data[0]?.amount, 50);
  const itemId = list[0]?.items[0]?.id ?? '';
  assert.equal((await client.cancelInvoiceItem({ ...one, itemId })).data.status, 'cancelled');
  assert.ok((await client.markInvoiceSent(one)).data.date_sent);
  assert.ok((await client.markInvoiceSent({ ...one, body: { date_sent: '2026-06-01 08:00:00' } })).data.date_sent);
});

test('appointments: create, list, update, read, set the outcome, delete, restore', async () => {
  const { client, caseId, adviser } = await app.company();
  const times = { start_time: '2026-07-01 10:00:00', end_time: '2026-07-01 11:00:00' };
  const { data: made } = await client.createCaseAppointment({ caseId, body: { adviser_email: adviser, ...times } });
  const one = { caseId, appointmentID: made.id };
  await client.updateCaseAppointment({ ...one, body: { location: 'Here' } });
  assert.equal((await client.readAppointment(one)).data.location, 'Here');
  assert.equal((await client.listAppointments({ adviser_email: adviser })).data[0]?.id, made.id);
  await client.deleteCaseAppointment(one);
  assert.deepEqual((await client.listCaseAppointments({ caseId })).data, []);
  assert.equal((await client.restoreAppointment(one)).data.id, made.id);
});

test('an answer tells its status, its request, and whether it was given before', async () => {
  const { client, caseId } = await app.company();
  const input = { caseId, body: { type: 'phone' as const }, idempotencyKey: randomUUID() };
  const first = await client.createCaseInteraction(input);
  const again = await client.createCaseInteraction(input);
  assert.deepEqual([first.status, first.replayed, again.replayed], [200, false, true]);
  assert.deepEqual(again.data, first.data);
  assert.match(first.requestId ?? '', /^[0-9a-f-]{36}$/);
  assert.notEqual(again.requestId, first.requestId);
  const { etag } = await client.readInteraction({ caseId, interactionId: first.data.id });
  assert.deepEqual([first.etag, again.etag], [etag, etag]);
  assert.deepEqual([first.total, first.next], [undefined, undefined]);
});

test('a write onto an outdated state is refused, and onto the current one it is done', async () => {
  const { client, caseId } = await app.company();
  const { data } = await client.createCaseInteraction({ caseId, body: { type: 'phone' } });
  const one = { caseId, interactionId: data.id };
  const { etag } = await client.readInteraction(one);
  const changed = await client.updateCaseInteraction({ ...one, ifMatch: etag, body: { type: 'letter' } });
  const stale = await rejection(client.updateCaseInteraction({ ...one, ifMatch: etag, body: { type: 'email' } }));
  assert.deepEqual([stale.status, stale.code, stale.attempts], [412, 'precondition_failed', 1]);
  const read = await client.readInteraction(one);
  assert.deepEqual([read.data.type, read.etag], ['letter', changed.etag]);
});

test('a reader who already has the record gets 304 without the record', async () => {
  const { client, caseId } = await app.company();
  const { data } = await client.createCaseInteraction({ caseId, body: { type: 'phone' } });
  const one = { caseId, interactionId: data.id };
  const { etag } = await client.readInteraction(one);
  const known = await client.readInteraction({ ...one, ifNoneMatch: etag });
  assert.deepEqual([known.status, known.data, known.etag], [304, undefined, etag]);
});

test('a refusal is an error that names every fault', async () => {
  const { client, caseId } = await app.company();
  const body = { type: 'Phone' as 'phone', when: '2026-02-30 10:30' };
  const error = await rejection(client.createCaseInteraction({ caseId, body }));
  assert.deepEqual([error.status, error.code, error.attempts], [400, 'invalid_request', 1]);
  assert.deepEqual(
    error.faults.map(({ field, code }) => [field, code]),
    [
      ['type', 'not_allowed'],
      ['when', 'format'],
    ],
  );
  assert.ok(error.faults.every(({ message }) => message.length > 0));
  assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(error.message, `invalid_request (400): ${error.detail}`);
});

test('an unknown record, a missing scope and a wrong token are told apart by their codes', async () => {
  const company = await app.company();
  const missing = await rejection(
    company.client.readInteraction({ caseId: company.caseId, interactionId: randomUUID() }),
  );
  assert.deepEqual([missing.status, missing.code, missing.faults], [404, 'not_found', []]);
  const stranger = createClient({ baseUrl: app.baseUrl, token: 'cr_wrong' });
  const unknown = await rejection(stranger.getCompany());
  assert.deepEqual([unknown.status, unknown.code, unknown.attempts], [401, 'invalid_token', 1]);
  const { data } = await company.client.createKey({ body: { name: 'reader', scopes: ['invoices:read'] } });
  const reader = createClient({ baseUrl: app.baseUrl, token: data.key });
  assert.equal((await rejection(reader.getCompany())).code, 'insufficient_scope');
});

test('the errors of OAuth are errors of the client like all others', async () => {
  const { client } = await app.company();
  const body = { grant_type: 'client_credentials' as const, client_id: randomUUID(), client_secret: 'x' };
  const error = await rejection(client.createAccessToken({ body }));
  assert.deepEqual([error.status, error.code], [401, 'invalid_client']);
  assert.ok(error.detail.length > 0);
});

for (const [what, status, body] of [
  ['a page of a proxy', 403, '<h1>Forbidden</h1>'],
  ['JSON of a proxy', 403, '{"code":1020,"error":"denied"}'],
  ['a page where JSON was expected', 200, '<h1>Welcome</h1>'],
] as const) {
  test(`${what} is no answer of the service, and is not sent again`, async () => {
    const { client, sent } = offline(body, { status });
    const error = await rejection(client.getCompany());
    assert.deepEqual([error.status, error.code, error.attempts], [status, 'unexpected_answer', 1]);
    assert.equal(sent.length, 1);
  });
}

const FILL = `
  INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
  SELECT $1, $2, gen_random_uuid(), CASE WHEN n % 2 = 0 THEN 'letter' ELSE 'phone' END, n, 'John Smith',
         timestamptz '2020-01-01T00:00:00Z' + n * interval '1 minute', now(), now() FROM generate_series(1, $3) n`;

test('250 entries come in three pages, each fetched when it is needed, and one by one in the order of the list', async () => {
  const { client, caseId, companyId } = await app.company();
  await app.sql(FILL, [companyId, caseId, 250]);
  const sizes = [];
  for await (const { data, total } of client.pages(client.getCaseInteractions, { caseId })) {
    assert.equal(total, 250);
    sizes.push(data.length);
  }
  assert.deepEqual(sizes, [100, 100, 50]);
  const { data: whole } = await client.getCaseInteractions({ caseId });
  assert.deepEqual(await Array.fromAsync(client.entries(client.getCaseInteractions, { caseId, per_page: 60 })), whole);
  const letters = await Array.fromAsync(client.entries(client.getCaseInteractions, { caseId, type: 'letter' }));
  assert.equal(letters.length, 125);
});

test('a caller who stops iterating fetches no further page', async () => {
  const { client, sent } = offline('[1, 2]', {
    headers: { link: '</x?page=1>; rel="first", </x?page=2&search=a%2Cb>; rel="next"' },
  });
  let seen = 0;
  for await (const _ of client.entries(client.listCases, { search: 'a,b', page: 1 })) if (++seen === 3) break;
  assert.deepEqual(
    sent.map(({ url }) => url.search),
    ['?page=1&per_page=100&search=a%2Cb', '?page=2&per_page=100&search=a%2Cb'],
  );
});

test('an empty list has one empty page', async () => {
  const { client, caseId } = await app.company();
  assert.deepEqual(await Array.fromAsync(client.pages(client.getCaseInvoices, { caseId }), ({ data }) => data), [[]]);
  assert.equal((await Array.fromAsync(client.entries(client.listCases))).length, 1);
});

test('a schema that the types cannot follow stops the making of them', () => {
  const unknown = { type: 'object', not: {} } as Schema;
  assert.throws(
    () => toType({ type: 'array', items: unknown }, 'sent', 'Body'),
    /^Error: Body\[\]: unknown keyword "not"/,
  );
  assert.throws(() => toType({ type: 'date' }, 'sent', 'Body'), /^Error: Body: unknown type "date"/);
  assert.throws(() => toType({ description: 'Anything' }, 'sent', 'Body'), /has no type/);
});

test('what is wrong does not compile', () => {
  const neverCalled = async (client: Client) => {
    const caseId = 'c';
    // @ts-expect-error a parameter of the path is missing
    await client.createCaseInteraction({ body: { type: 'phone' } });
    // @ts-expect-error the body is missing
    await client.createCaseInteraction({ caseId });
    // @ts-expect-error a required field is missing
    await client.createCaseInteraction({ caseId, body: { notes: 'x' } });
    // @ts-expect-error none of the values that the field takes
    await client.createCaseInteraction({ caseId, body: { type: 'Phone' } });
    // @ts-expect-error no such field
    await client.createCaseInteraction({ caseId, body: { type: 'phone', note: 'x' } });
    // @ts-expect-error a creation depends on no state
    await client.createCaseInteraction({ caseId, body: { type: 'phone' }, ifMatch: '*' });
    // @ts-expect-error a read has no key
    await client.getCaseInteractions({ caseId, idempotencyKey: 'k' });
    // @ts-expect-error an argument where one is needed
    await client.getCaseInteractions();
    // @ts-expect-error this list has no pages
    client.pages(client.listPayments, { caseId, invoiceId: 'i' });
    // @ts-expect-error a list of events has no last page
    client.entries(client.listEvents, { limit: 500 });
    // @ts-expect-error neither entries nor hits
    client.entries(client.getCompany);
    // @ts-expect-error no such filter
    client.entries(client.getCaseInvoices, { caseId, type: 'phone' });
    // @ts-expect-error no such filter
    client.entries(client.listInteractions, { status: 'Paid' });
    // @ts-expect-error a list by cursor has no page numbers
    client.pages(client.findCases, { per_page: 100 });
    // @ts-expect-error none of the values that the sort takes
    client.entries(client.listAppointments, { sort: 'when' });
    // @ts-expect-error other spellings of an operation are left out
    client.readAddressBookEntry_2;
    // @ts-expect-error neither a token nor a client
    createClient({ baseUrl: 'https://records.example' });
    const read = await client.readInteraction({ caseId, interactionId: 'i', ifNoneMatch: '"x"' });
    // @ts-expect-error there may be no record in the answer
    read.data.notes;
    const { data } = await client.readInteraction({ caseId, interactionId: 'i' });
    // @ts-expect-error no such field in the answer
    data.note;
    const kind: 'phone' | 'email' | 'SMS' | 'appointment' | 'letter' | 'video_conference' | 'other' = data.type;
    for await (const { total } of client.entries(client.getCaseInvoices, { caseId })) total satisfies number;
    for await (const { paid } of client.entries(client.listInvoices, { limit: 200 })) paid satisfies number;
    for await (const { change } of client.entries(client.readTimeline, { caseId }))
      change?.type satisfies string | undefined;
    for await (const { fragment } of client.entries(client.search, { q: 'will' })) fragment.field satisfies string;
    for await (const { data } of client.pages(client.search, { q: 'will' })) data.complete satisfies boolean;
    const hits = client.entries(client.search, { q: 'will' });
    // @ts-expect-error no such field in a hit
    for await (const hit of hits) hit.notes;
    const { next } = await client.listEvents({ after: 'latest' });
    await client.listEvents({ types: 'invoice.*', ...next });
    return kind;
  };
  assert.ok(neverCalled);
});

test('a client without a usable address or without credentials is refused when it is created', () => {
  const create = (options: object) => () => createClient(options as ClientOptions);
  const baseUrl = 'https://records.example';
  for (const address of [undefined, '', 'records.example:8080', '127.0.0.1:8080', 'ftp://records.example']) {
    assert.throws(create({ baseUrl: address, token: 'cr_x' }), /TypeError: createClient: baseUrl must/);
  }
  for (const credentials of [{}, { token: '' }, { clientId: 'x' }, { clientSecret: 'x' }, { session: false }]) {
    assert.throws(create({ baseUrl, ...credentials }), /TypeError: createClient: token is missing/);
  }
  assert.ok(create({ baseUrl, clientId: 'x', clientSecret: 'y' })());
});

test('with a session the cookie of the browser is the only credential', async () => {
  const sent: Headers[] = [];
  const fetch: typeof globalThis.fetch = async (_url, { headers } = {}) => {
    sent.push(new Headers(headers));
    return new Response('{}');
  };
  for (const session of [true, 'background'] as const) {
    await createClient({ baseUrl: 'https://records.example', session, fetch }).getSession();
    await createClient({ baseUrl: 'https://records.example', session, fetch }).listCases();
  }
  assert.deepEqual(
    sent.map((headers) => [headers.get('authorization'), headers.get('session-use')]),
    [
      [null, null],
      [null, null],
      [null, 'background'],
      [null, 'background'],
    ],
  );
});
