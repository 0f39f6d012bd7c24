import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { type Firm, openWorld } from './harness/app.ts';
import { document } from './harness/openapi.ts';

const world = await openWorld({ secrets: new SecretBox([randomBytes(32)]) });

const CALL = { type: 'phone', notes: 'First call' };

type Kind = {
  what: string;
  /** Makes one and gives its address. */
  make: (firm: Firm) => Promise<string>;
  /** A change of it: method, what comes after the address, body. */
  change: readonly [method: string, after: string, body?: unknown];
};

const made = async (firm: Firm, list: string, body: unknown, one = list) => {
  const answer = await firm.post(list, body);
  assert.equal(answer.status, 200, answer.text);
  return `${one}/${answer.body.id}`;
};
const person = { entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: 'Doe', relationship: {} };
const invoiceOf = (firm: Firm) => ({
  invoice_number: 'A1',
  sender_id: firm.customers[0].id,
  date_created: '2026-06-01 09:00:00',
  date_due: '2026-07-01 09:00:00',
  vat: 0,
  sub_total: 100,
  total: 100,
  items: [{ description: 'Will', quantity: 1, rate: 100, amount: 100 }],
});
const appointmentOf = (firm: Firm) => ({
  adviser_email: firm.adviser,
  start_time: '2026-07-01 10:00:00',
  end_time: '2026-07-01 11:00:00',
});
const entry = (firm: Firm) => made(firm, `${firm.path}/address-book/entry`, person);
const invoice = (firm: Firm) => made(firm, `${firm.path}/invoices`, invoiceOf(firm));
const appointment = (firm: Firm) => made(firm, `${firm.path}/appointments`, appointmentOf(firm));
const interaction = (firm: Firm) => made(firm, `${firm.path}/interactions`, CALL);

const KINDS: Kind[] = [
  { what: 'an interaction', make: interaction, change: ['PATCH', '', { ...CALL, notes: 'Changed' }] },
  { what: 'an address book entry', make: entry, change: ['PATCH', '', { ...person, last_name: 'Roe' }] },
  { what: 'an invoice', make: invoice, change: ['POST', '/payments', { amount: 10 }] },
  { what: 'an appointment', make: appointment, change: ['PATCH', '', { notes: 'Bring the deeds' }] },
  { what: 'the company', make: async () => '/manage/company', change: ['PATCH', '', { terms: 'New terms' }] },
  {
    what: 'an adviser',
    make: (firm) => made(firm, '/manage/advisers', { email: 'a@firm.example', name: 'A' }),
    change: ['PATCH', '', { name: 'B' }],
  },
  { what: 'a case', make: async (firm) => `/manage/cases/${firm.caseId}`, change: ['PATCH', '', { reference: 'New' }] },
  {
    what: 'a customer',
    make: async (firm) => `/manage/cases/${firm.caseId}/customers/${firm.customers[0].id}`,
    change: ['PATCH', '', { title: 'Dr' }],
  },
  {
    what: 'a client',
    make: (firm) => made(firm, '/manage/clients', { name: 'c', scopes: ['manage'] }),
    change: ['PATCH', '', { name: 'd' }],
  },
  {
    what: 'a key',
    make: (firm) => made(firm, '/manage/keys', { name: 'k', scopes: ['manage'] }),
    change: ['DELETE', ''],
  },
  {
    what: 'a webhook endpoint',
    make: (firm) => made(firm, '/webhooks/endpoints', { url: 'https://firm.example/hooks', types: ['*'] }),
    change: ['PATCH', '', { description: 'Changed' }],
  },
];

for (const { what, make, change } of KINDS) {
  const [method, after, body] = change;

  test(`${what} that has not changed is written onto, and only then`, async () => {
    const firm = await world.firm();
    const path = await make(firm);
    const before = await firm.get(path);
    const etag = String(before.headers.etag);
    assert.match(etag, /^"[\w-]{22}"$/);
    assert.equal((await firm.get(path)).headers.etag, etag, 'the same state has the same tag');

    const write = (tag: string) => firm.send(method, path + after, body, { 'if-match': tag });
    const stale = await write('"someotherstateoftherecord"');
    assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed'], stale.text);
    assert.equal((await firm.get(path)).text, before.text, 'nothing has changed');

    const done = await write(etag);
    assert.equal(done.status, 200, done.text);
    const now = await firm.get(path);
    assert.equal(done.headers.etag, now.headers.etag, 'the answer has the tag of the new state');
    assert.notEqual(now.headers.etag, etag);
    assert.equal((await write(etag)).status, 412, 'the tag was good once');
    assert.equal((await firm.get(path)).text, now.text);
  });

  test(`of twenty writers who read the same state of ${what} exactly one writes`, async () => {
    const firm = await world.firm();
    const path = await make(firm);
    const { headers } = await firm.get(path);
    const write = () => firm.send(method, path + after, body, { 'if-match': String(headers.etag) });
    const answers = await Promise.all(Array.from({ length: 20 }, write));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)]);
  });

  test(`${what} that a reader has already is not sent again`, async () => {
    const firm = await world.firm();
    const path = await make(firm);
    const { headers } = await firm.get(path);
    const again = await firm.get(path, { 'if-none-match': String(headers.etag) });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag]);
    assert.equal((await firm.get(path, { 'if-none-match': '"another"' })).status, 200);
  });
}

test('without the header the last write wins', async () => {
  const firm = await world.firm();
  const path = await interaction(firm);
  for (const notes of ['one', 'two']) assert.equal((await firm.patch(path, { ...CALL, notes })).status, 200);
});

test('every write to a record of the document takes If-Match, and every reading of one gives an ETag', () => {
  const readable = Object.entries(document.paths)
    .filter(([, { get }]) => get && '304' in get.responses)
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
  const firm = await world.firm();
  const path = await invoice(firm);
  const tag = async () => (await firm.get(path)).headers.etag;
  const { body } = await firm.get(path);
  const seen = new Set([await tag()]);
  for (const [after, sent] of [
    ['/sent', {}],
    ['/payments', { amount: 10 }],
    [`/items/${body.items[0].id}/cancel`, undefined],
  ] as const) {
    assert.equal((await firm.post(path + after, sent)).status, 200, after);
    seen.add(await tag());
  }
  assert.equal(seen.size, 4);
  assert.equal((await firm.get(`${path}?show_cancelled_items=true`)).headers.etag, await tag());
});

test('a deletion can depend on the state too, and leaves no tag', async () => {
  const firm = await world.firm();
  for (const make of [interaction, entry, appointment]) {
    const path = await make(firm);
    const { headers } = await firm.get(path);
    assert.equal((await firm.delete(path, { 'if-match': '"stale"' })).status, 412);
    const deleted = await firm.delete(path, { 'if-match': String(headers.etag) });
    assert.deepEqual([deleted.status, deleted.headers.etag], [200, undefined], deleted.text);
  }
});

test('the alternative forms of an operation take it as well', async () => {
  const firm = await world.firm();
  const path = await entry(firm);
  const other = path.replace('address-book', 'address_book');
  assert.equal((await firm.patch(other, person, { 'if-match': '"stale"' })).status, 412);
  const { headers } = await firm.get(path);
  assert.equal((await firm.patch(other, person, { 'if-match': String(headers.etag) })).status, 200);
});

test('* and lists of tags are taken, a weak tag never matches, and what is no tag is refused by name', async () => {
  const firm = await world.firm();
  const path = await interaction(firm);
  const tag = async () => String((await firm.get(path)).headers.etag);
  const write = async (value: string) => (await firm.patch(path, CALL, { 'if-match': value })).status;
  assert.equal(await write('*'), 200);
  assert.equal(await write(`"other", ${await tag()}`), 200);
  assert.equal(await write(`W/${await tag()}`), 412);
  const refused = await firm.patch(path, CALL, { 'if-match': 'bare' });
  assert.deepEqual([refused.status, refused.body.errors[0].field], [400, 'If-Match']);
});

test('an unknown record is 404 whatever the header says', async () => {
  const firm = await world.firm();
  const unknown = `${firm.path}/interactions/${randomUUID()}`;
  assert.equal((await firm.patch(unknown, CALL, { 'if-match': '"x"' })).status, 404);
  const stranger = await world.firm();
  const path = await interaction(firm);
  assert.equal((await stranger.patch(path, CALL, { 'if-match': '*' })).status, 404);
});

test('a refused body changes nothing and is refused as without the header', async () => {
  const firm = await world.firm();
  const path = await interaction(firm);
  const { headers } = await firm.get(path);
  const refused = await firm.patch(path, { type: 'Phone' }, { 'if-match': String(headers.etag) });
  assert.equal(refused.status, 400);
  assert.equal((await firm.get(path)).headers.etag, headers.etag);
});

test('a writer without the header who is just writing is waited for, and then seen', async () => {
  const firm = await world.firm();
  const path = await interaction(firm);
  const { headers } = await firm.get(path);
  const other = new pg.Client(world.connection);
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query("UPDATE interactions SET notes = 'Other' WHERE id = $1", [path.split('/').at(-1)]);
    const write = firm.patch(path, CALL, { 'if-match': String(headers.etag) });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while ((await world.sql(waiting)).length === 0) await new Promise(setImmediate);
    await other.query('COMMIT');
    assert.equal((await write).status, 412);
  } finally {
    await other.end();
  }
});

test('with an Idempotency-Key the write that was done is told of again, though its tag is stale by now', async () => {
  const firm = await world.firm();
  const path = await interaction(firm);
  const { headers } = await firm.get(path);
  const both = { 'if-match': String(headers.etag), 'idempotency-key': randomUUID() };
  const first = await firm.patch(path, { ...CALL, notes: 'Changed' }, both);
  const again = await firm.patch(path, { ...CALL, notes: 'Changed' }, both);
  assert.deepEqual([first.status, again.status, again.headers['idempotency-replayed']], [200, 200, 'true']);
  assert.equal(again.headers.etag, first.headers.etag);
  const stale = { 'if-match': '"stale"', 'idempotency-key': randomUUID() };
  assert.equal((await firm.patch(path, CALL, stale)).status, 412);
  const mended = { ...stale, 'if-match': String(first.headers.etag) };
  assert.equal((await firm.patch(path, CALL, mended)).status, 200, 'a failed condition is not kept');
});
