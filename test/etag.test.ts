import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { document } from './harness/openapi.ts';
import { untilBlocked } from './harness/overlap.ts';

const app = await startApp({ secrets: new SecretBox([randomBytes(32)]) });

const CALL = { type: 'phone', notes: 'First call' };

type Kind = {
  what: string;
  /** Makes a record and returns its path. */
  make: (company: TestCompany) => Promise<string>;
  /** A change of the record: method, path below the record, body. */
  change: readonly [method: string, after: string, body?: unknown];
};

const made = async (company: TestCompany, list: string, body: unknown, one = list) => {
  const answer = await company.post(list, body);
  assert.equal(answer.status, 200, answer.text);
  return `${one}/${answer.body.id}`;
};
const person = { entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: 'Doe', relationship: {} };
const invoiceOf = (company: TestCompany) => ({
  invoice_number: 'A1',
  sender_id: company.customers[0].id,
  date_created: '2026-06-01 09:00:00',
  date_due: '2026-07-01 09:00:00',
  vat: 0,
  sub_total: 100,
  total: 100,
  items: [{ description: 'Will', quantity: 1, rate: 100, amount: 100 }],
});
const appointmentOf = (company: TestCompany) => ({
  adviser_email: company.adviser,
  start_time: '2026-07-01 10:00:00',
  end_time: '2026-07-01 11:00:00',
});
const entry = (company: TestCompany) => made(company, `${company.path}/address-book/entry`, person);
const invoice = (company: TestCompany) => made(company, `${company.path}/invoices`, invoiceOf(company));
const appointment = (company: TestCompany) => made(company, `${company.path}/appointments`, appointmentOf(company));
const interaction = (company: TestCompany) => made(company, `${company.path}/interactions`, CALL);

const KINDS: Kind[] = [
  { what: 'an interaction', make: interaction, change: ['PATCH', '', { ...CALL, notes: 'Changed' }] },
  { what: 'an address book entry', make: entry, change: ['PATCH', '', { ...person, last_name: 'Roe' }] },
  { what: 'an invoice', make: invoice, change: ['POST', '/payments', { amount: 10 }] },
  { what: 'an appointment', make: appointment, change: ['PATCH', '', { notes: 'Bring the deeds' }] },
  { what: 'the company', make: async () => '/manage/company', change: ['PATCH', '', { terms: 'New terms' }] },
  {
    what: 'an adviser',
    make: (company) => made(company, '/manage/advisers', { email: 'a@firm.example', name: 'A' }),
    change: ['PATCH', '', { name: 'B' }],
  },
  {
    what: 'a case',
    make: async (company) => `/manage/cases/${company.caseId}`,
    change: ['PATCH', '', { reference: 'New' }],
  },
  {
    what: 'a customer',
    make: async (company) => `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`,
    change: ['PATCH', '', { title: 'Dr' }],
  },
  {
    what: 'a client',
    make: (company) => made(company, '/manage/clients', { name: 'c', scopes: ['manage'] }),
    change: ['PATCH', '', { name: 'd' }],
  },
  {
    what: 'a key',
    make: (company) => made(company, '/manage/keys', { name: 'k', scopes: ['manage'] }),
    change: ['DELETE', ''],
  },
  {
    what: 'a webhook endpoint',
    make: (company) => made(company, '/webhooks/endpoints', { url: 'https://firm.example/hooks', types: ['*'] }),
    change: ['PATCH', '', { description: 'Changed' }],
  },
];

for (const { what, make, change } of KINDS) {
  const [method, after, body] = change;

  test(`${what} that has not changed is written onto, and only then`, async () => {
    const company = await app.company();
    const path = await make(company);
    const before = await company.get(path);
    const etag = String(before.headers.etag);
    assert.match(etag, /^"[^"\s]+"$/);
    assert.equal((await company.get(path)).headers.etag, etag, 'the same state has the same tag');

    const write = (tag: string) => company.send(method, path + after, body, { 'if-match': tag });
    const stale = await write('"someotherstateoftherecord"');
    assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed'], stale.text);
    assert.equal((await company.get(path)).text, before.text, 'nothing has changed');

    const done = await write(etag);
    assert.equal(done.status, 200, done.text);
    const now = await company.get(path);
    assert.equal(done.headers.etag, now.headers.etag, 'the answer has the tag of the new state');
    assert.notEqual(now.headers.etag, etag);
    assert.equal((await write(etag)).status, 412, 'the tag was good once');
    assert.equal((await company.get(path)).text, now.text);
  });

  test(`of twenty writers who read the same state of ${what} exactly one writes`, async () => {
    const company = await app.company();
    const path = await make(company);
    const { headers } = await company.get(path);
    const write = () => company.send(method, path + after, body, { 'if-match': String(headers.etag) });
    const answers = await Promise.all(Array.from({ length: 20 }, write));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)]);
  });

  test(`${what} that a reader has already is not sent again`, async () => {
    const company = await app.company();
    const path = await make(company);
    const { headers } = await company.get(path);
    const again = await company.get(path, { 'if-none-match': String(headers.etag) });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag]);
    assert.equal((await company.get(path, { 'if-none-match': '"another"' })).status, 200);
  });
}

test('without the header the last write wins', async () => {
  const company = await app.company();
  const path = await interaction(company);
  for (const notes of ['one', 'two']) assert.equal((await company.patch(path, { ...CALL, notes })).status, 200);
});

test('every write to a record of the document takes If-Match, and every reading of one gives an ETag', () => {
  const readable = Object.entries(document.paths)
    .filter(([, { get }]) => get && '304' in get.responses)
    // An overview of many records, whose tag no write takes.
    .filter(([path]) => path !== '/cases/{caseId}')
    .map(([path]) => path);
  assert.ok(readable.length >= 11, readable.join(', '));
  const plain = (path: string) => path.replace('address_book', 'address-book');
  for (const [path, operations] of Object.entries(document.paths)) {
    const below = readable.some((one) => plain(path) === one || plain(path).startsWith(`${one}/`));
    for (const [method, { parameters = [], security = [] }] of Object.entries(operations)) {
      if (method === 'get' || !security.some((scheme) => 'bearer' in scheme)) continue;
      assert.equal(
        parameters.some(({ name }) => name === 'if-match'),
        below,
        `${method} ${path}`,
      );
    }
  }
});

test('all that belongs to an invoice is part of its state', async () => {
  const company = await app.company();
  const path = await invoice(company);
  const tag = async () => (await company.get(path)).headers.etag;
  const { body } = await company.get(path);
  const seen = new Set([await tag()]);
  for (const [after, sent] of [
    ['/sent', {}],
    ['/payments', { amount: 10 }],
    [`/items/${body.items[0].id}/cancel`, undefined],
  ] as const) {
    assert.equal((await company.post(path + after, sent)).status, 200, after);
    seen.add(await tag());
  }
  assert.equal(seen.size, 4);
  assert.equal((await company.get(`${path}?show_cancelled_items=true`)).headers.etag, await tag());
});

test('a deletion can depend on the state too, and leaves no tag', async () => {
  const company = await app.company();
  for (const make of [interaction, entry, appointment]) {
    const path = await make(company);
    const { headers } = await company.get(path);
    assert.equal((await company.delete(path, { 'if-match': '"stale"' })).status, 412);
    const deleted = await company.delete(path, { 'if-match': String(headers.etag) });
    assert.deepEqual([deleted.status, deleted.headers.etag], [200, undefined], deleted.text);
  }
});

test('the alternative forms of an operation take it as well', async () => {
  const company = await app.company();
  const path = await entry(company);
  const other = path.replace('address-book', 'address_book');
  assert.equal((await company.patch(other, person, { 'if-match': '"stale"' })).status, 412);
  const { headers } = await company.get(path);
  assert.equal((await company.patch(other, person, { 'if-match': String(headers.etag) })).status, 200);
});

test('* and lists of tags are taken, a weak tag never matches, and what is no tag is refused by name', async () => {
  const company = await app.company();
  const path = await interaction(company);
  const tag = async () => String((await company.get(path)).headers.etag);
  const write = async (value: string) => (await company.patch(path, CALL, { 'if-match': value })).status;
  assert.equal(await write('*'), 200);
  assert.equal(await write(`"other", ${await tag()}`), 200);
  assert.equal(await write(`W/${await tag()}`), 412);
  const refused = await company.patch(path, CALL, { 'if-match': 'bare' });
  assert.deepEqual([refused.status, refused.body.errors[0].field], [400, 'If-Match']);
});

test('an unknown record is 404 whatever the header says', async () => {
  const company = await app.company();
  const unknown = `${company.path}/interactions/${randomUUID()}`;
  assert.equal((await company.patch(unknown, CALL, { 'if-match': '"x"' })).status, 404);
  const stranger = await app.company();
  const path = await interaction(company);
  assert.equal((await stranger.patch(path, CALL, { 'if-match': '*' })).status, 404);
});

test('a refused body changes nothing and is refused as without the header', async () => {
  const company = await app.company();
  const path = await interaction(company);
  const { headers } = await company.get(path);
  const refused = await company.patch(path, { type: 'Phone' }, { 'if-match': String(headers.etag) });
  assert.equal(refused.status, 400);
  assert.equal((await company.get(path)).headers.etag, headers.etag);
});

test('a concurrent write without If-Match is waited for, and then seen', async () => {
  const company = await app.company();
  const path = await interaction(company);
  const { headers } = await company.get(path);
  const other = new pg.Client(app.connection);
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query("UPDATE interactions SET notes = 'Other', version = version + 1 WHERE id = $1", [
      path.split('/').at(-1),
    ]);
    const write = company.patch(path, CALL, { 'if-match': String(headers.etag) });
    await untilBlocked(app);
    await other.query('COMMIT');
    assert.equal((await write).status, 412);
  } finally {
    await other.end();
  }
});

test('with an Idempotency-Key the write that was done is told of again, though its tag is stale by now', async () => {
  const company = await app.company();
  const path = await interaction(company);
  const { headers } = await company.get(path);
  const both = { 'if-match': String(headers.etag), 'idempotency-key': randomUUID() };
  const first = await company.patch(path, { ...CALL, notes: 'Changed' }, both);
  const again = await company.patch(path, { ...CALL, notes: 'Changed' }, both);
  assert.deepEqual([first.status, again.status, again.headers['idempotency-replayed']], [200, 200, 'true']);
  assert.equal(again.headers.etag, first.headers.etag);
  const stale = { 'if-match': '"stale"', 'idempotency-key': randomUUID() };
  assert.equal((await company.patch(path, CALL, stale)).status, 412);
  const mended = { ...stale, 'if-match': String(first.headers.etag) };
  assert.equal((await company.patch(path, CALL, mended)).status, 200, 'a failed condition is not kept');
});
