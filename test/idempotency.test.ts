import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { purgeExpiredResponses } from '../src/http/operation/response-retention.ts';
import { decodeBody, encodeBody } from '../src/http/operation/stored-response.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import type { Answer } from './harness/http.ts';
import { document } from './harness/openapi.ts';
import { untilBlocked } from './harness/overlap.ts';

const app = await startApp();

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });
const CALL = { type: 'phone' as const, notes: 'First call' };
const countOf = async ({ client, caseId }: TestCompany) => (await client.getCaseInteractions({ caseId })).data.length;
const replayed = ({ headers }: Answer) => headers['idempotency-replayed'];

test('a write that is sent again with its key is done once, and its answer is given again byte for byte', async () => {
  const company = await app.company();
  const header = keyed();
  const first = await company.post(`${company.path}/interactions`, CALL, header);
  const again = await company.post(`${company.path}/interactions`, CALL, header);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([again.status, again.text], [200, first.text]);
  assert.deepEqual([replayed(first), replayed(again)], [undefined, 'true']);
  assert.equal(again.headers['content-type'], first.headers['content-type']);
  assert.equal(await countOf(company), 1);
});

test('without the header every write is a new one', async () => {
  const company = await app.company();
  await company.post(`${company.path}/interactions`, CALL);
  await company.post(`${company.path}/interactions`, CALL);
  assert.equal(await countOf(company), 2);
});

test('every write of the document takes the header, and no read does', () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], security = [] }] of Object.entries(operations)) {
      const takes = parameters.some(({ name }: { name: string }) => name === 'idempotency-key');
      const write = method !== 'get' && security.some((scheme: object) => 'bearer' in scheme);
      assert.equal(takes, write, `${method} ${path}`);
    }
  }
});

test('an update, a deletion and a restoration are done once', async () => {
  const company = await app.company();
  const { data } = await company.client.createCaseInteraction({ caseId: company.caseId, body: CALL });
  const one = `${company.path}/interactions/${data.id}`;
  for (const [method, path, sent] of [
    ['PATCH', one, { ...CALL, notes: 'Changed' }],
    ['DELETE', one, undefined],
    ['POST', `${one}/restore`, undefined],
  ] as const) {
    const header = keyed();
    const first = await company.send(method, path, sent, header);
    const again = await company.send(method, path, sent, header);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([again.status, again.text, replayed(again)], [200, first.text, 'true'], `${method} ${path}`);
  }
});

test('a payment that is sent twice with its key is paid once', async () => {
  const company = await app.company();
  const { client, caseId, customers } = company;
  const dates = { date_created: '2026-06-01 09:00:00', date_due: '2026-07-01 09:00:00' };
  const sums = { vat: 0, sub_total: 100, total: 100, items: [] };
  const invoice = { invoice_number: 'A1', sender_id: customers[0].id, ...dates, ...sums };
  const { data } = await client.createCaseInvoice({ caseId, body: invoice });
  const header = keyed();
  const pay = () => company.post(`${company.path}/invoices/${data.id}/payments`, { amount: '60.00' }, header);
  assert.equal((await pay()).status, 200);
  assert.equal(replayed(await pay()), 'true');
  const payments = await app.sql('SELECT amount FROM payments WHERE invoice_id = $1', [data.id]);
  assert.equal(payments.length, 1);
});

test('the key is that of the whole request: another body, address or method is refused and changes nothing', async () => {
  const company = await app.company();
  const header = keyed();
  const { body } = await company.post(`${company.path}/interactions`, CALL, header);
  const others = [
    await company.post(`${company.path}/interactions`, { ...CALL, notes: 'Second call' }, header),
    await company.post(`/cases/${await company.openCase()}/interactions`, CALL, header),
    await company.delete(`${company.path}/interactions/${body.id}`, header),
  ];
  for (const { status, body, text } of others)
    assert.deepEqual([status, body.code], [422, 'idempotency_key_reused'], text);
  assert.equal(await countOf(company), 1);
});

test('credentials do not share keys, not even those of one company', async () => {
  const company = await app.company();
  const colleague = await company.withScopes('interactions:write');
  const stranger = await app.company();
  const header = keyed();
  const answers = [
    await company.post(`${company.path}/interactions`, CALL, header),
    await colleague.post(`${company.path}/interactions`, CALL, header),
    await stranger.post(`${stranger.path}/interactions`, CALL, header),
  ];
  for (const answer of answers) assert.deepEqual([answer.status, replayed(answer)], [200, undefined]);
  assert.deepEqual([await countOf(company), await countOf(stranger)], [2, 1]);
});

test('an answer is kept for 24 hours', async () => {
  const company = await app.company();
  const header = keyed();
  const send = () => company.post(`${company.path}/interactions`, CALL, header);
  await send();
  app.clock.advance({ hours: 23, minutes: 59 });
  assert.equal(replayed(await send()), 'true');
  app.clock.advance({ minutes: 1 });
  assert.equal(replayed(await send()), undefined);
  assert.equal(replayed(await send()), 'true');
  assert.equal(await countOf(company), 2);
});

test('what is too old is removed', async () => {
  const company = await app.company();
  for (let i = 0; i < 12; i++) await company.post(`${company.path}/interactions`, CALL, keyed());
  app.clock.advance({ hours: 25 });
  for (let i = 0; i < 2; i++) await company.post(`${company.path}/interactions`, CALL, keyed());
  await purgeExpiredResponses(app.db, app.clock.read);
  const rows = await app.sql('SELECT 1 FROM idempotency_keys WHERE company_id = $1', [company.companyId]);
  assert.equal(rows.length, 2);
});

test('a refusal is an answer too', async () => {
  const company = await app.company();
  const header = keyed();
  const first = await company.post(`${company.path}/interactions`, { type: 'Phone' }, header);
  const again = await company.post(`${company.path}/interactions`, { type: 'Phone' }, header);
  assert.equal(first.status, 400);
  assert.deepEqual([again.status, again.text, replayed(again)], [400, first.text, 'true']);
  assert.match(String(again.headers['content-type']), /^application\/problem\+json/);
  const missing = await company.post(`/cases/${randomUUID()}/interactions`, CALL, keyed('missing'));
  const still = await company.post(`/cases/${randomUUID()}/interactions`, CALL, keyed('missing'));
  assert.deepEqual([missing.status, still.status], [404, 422]);
});

test('a refusal that comes from a constraint of the database is the same with a key as without', async () => {
  const company = await app.company();
  const adviser = { email: 'twice@firm.example', name: 'A' };
  assert.equal((await company.post('/manage/advisers', adviser, keyed())).status, 200);
  const { body: other } = await company.post('/manage/advisers', { email: 'other@firm.example', name: 'B' }, keyed());
  const plain = await company.patch(`/manage/advisers/${other.id}`, { email: adviser.email });
  const safe = await company.patch(`/manage/advisers/${other.id}`, { email: adviser.email }, keyed());
  assert.deepEqual([safe.status, safe.body.errors], [400, plain.body.errors], safe.text);
});

test('no credentials, no key: a request that is turned away may be sent again', async () => {
  const company = await app.company();
  const header = keyed();
  const reader = await company.withScopes('interactions:read');
  assert.equal((await reader.post(`${company.path}/interactions`, CALL, header)).status, 403);
  assert.equal((await app.anonymous.post(`${company.path}/interactions`, CALL, header)).status, 401);
  assert.equal((await app.sql('SELECT 1 FROM idempotency_keys WHERE company_id = $1', [company.companyId])).length, 0);
});

test('a request whose key is still in progress is told so', async () => {
  const company = await app.company();
  const header = keyed();
  const blocker = new pg.Client(app.connection);
  await blocker.connect();
  try {
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM cases WHERE id = $1 FOR UPDATE', [company.caseId]);
    const first = company.post(`${company.path}/interactions`, CALL, header);
    await waitingStatement();
    const second = await company.post(`${company.path}/interactions`, CALL, header);
    assert.deepEqual([second.status, second.body.code], [409, 'request_in_progress'], second.text);
    assert.equal(second.headers['retry-after'], '1');
    const other = company.post(`${company.path}/interactions`, CALL, keyed());
    await blocker.query('COMMIT');
    assert.deepEqual([(await first).status, (await other).status], [200, 200]);
    assert.equal(replayed(await company.post(`${company.path}/interactions`, CALL, header)), 'true');
    assert.equal(await countOf(company), 2);
  } finally {
    await blocker.end();
  }
});

async function waitingStatement(): Promise<void> {
  await untilBlocked(app);
}

test('of fifty concurrent requests with one key exactly one is executed', async () => {
  const company = await app.company();
  const header = keyed();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => company.post(`${company.path}/interactions`, CALL, header)),
  );
  const done = answers.filter(({ status }) => status === 200);
  assert.equal(new Set(done.map(({ text }) => text)).size, 1);
  for (const { status, text } of answers) assert.ok([200, 409].includes(status), text);
  assert.equal(await countOf(company), 1);
});

test('the write and its stored answer are one transaction: if the answer cannot be stored, nothing is written', async () => {
  const company = await app.company();
  const header = keyed();
  await app.sql(
    `ALTER TABLE idempotency_keys ADD CONSTRAINT broken CHECK (company_id <> '${company.companyId}') NOT VALID`,
  );
  const failed = await company.post(`${company.path}/interactions`, CALL, header);
  await app.sql('ALTER TABLE idempotency_keys DROP CONSTRAINT broken');
  assert.equal(failed.status, 500);
  assert.equal(await countOf(company), 0);
  assert.equal(replayed(await company.post(`${company.path}/interactions`, CALL, header)), undefined);
  assert.equal(await countOf(company), 1);
});

test('a new key is shown again to the token that created it, and is stored nowhere in plain text', async () => {
  const company = await app.company();
  const header = keyed();
  const body = { name: 'script', scopes: ['invoices:read'] };
  const first = await company.post('/manage/keys', body, header);
  const again = await company.post('/manage/keys', body, header);
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([again.text, replayed(again)], [first.text, 'true']);
  assert.equal(again.headers['cache-control'], 'no-store');
  const [row] = await app.sql('SELECT k::text AS text, sealed_body FROM idempotency_keys k WHERE company_id = $1', [
    company.companyId,
  ]);
  assert.ok(!row?.text.includes(first.body.key) && !row?.sealed_body.includes(first.body.key));
});

test('what an earlier version encrypted can still be decrypted, and only with the same secret', () => {
  const box = new SecretBox([Buffer.alloc(32, 1)]);
  const secret = 'v1.SIhHw8UlX2ZDqAe4cJ4CQONQ0ZRQcbcr79EVt0fnVs7E6w';
  assert.equal(box.open(secret, ['company', 'endpoint']), 'secret');
  assert.equal(box.open(secret, ['company', 'another']), undefined);
  const stored = 'lqdMHhR5he4NacaR5z8sPYfx3RBHIaYKp4+kRK2QX3VjouPYA20uDnk9MA==';
  const earlier = { body: null, sealed_body: Buffer.from(stored, 'base64') };
  const response = { status: 200, headers: { 'cache-control': 'no-store' }, body: '{"key":"crk_1"}' };
  for (const body of [earlier, encodeBody(response, 'Bearer token key')]) {
    assert.equal(decodeBody(body, 'Bearer token key'), response.body);
    assert.equal(decodeBody(body, 'Bearer token other'), undefined);
  }
});

test('a client keeps its keys when its token is renewed, but a secret is shown to the first token only', async () => {
  const company = await app.company();
  const scopes = ['manage' as const, 'interactions:write' as const];
  const { data: client } = await company.client.createClient({ body: { name: 'c', scopes } });
  const token = async () => {
    const grant = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.client_secret };
    return { authorization: `Bearer ${(await app.anonymous.post('/oauth/token', grant)).body.access_token}` };
  };
  const [one, two] = [await token(), await token()];
  const send = (path: string, body: object, headers: object) => app.anonymous.post(path, body, { ...headers });
  const header = keyed();
  assert.equal((await send(`${company.path}/interactions`, CALL, { ...header, ...one })).status, 200);
  assert.equal(replayed(await send(`${company.path}/interactions`, CALL, { ...header, ...two })), 'true');
  const other = keyed();
  const body = { name: 'script', scopes: ['manage'] };
  assert.equal((await send('/manage/keys', body, { ...other, ...one })).status, 200);
  assert.equal((await send('/manage/keys', body, { ...other, ...two })).status, 422);
  assert.equal(replayed(await send('/manage/keys', body, { ...other, ...one })), 'true');
});

for (const [what, key] of [
  ['empty', ''],
  ['longer than 255 characters', 'x'.repeat(256)],
  ['text with a space', 'a b'],
  ['text beyond ASCII', 'schlüssel'],
] as const) {
  test(`a key that is ${what} is refused by name`, async () => {
    const company = await app.company();
    const { status, body } = await company.post(`${company.path}/interactions`, CALL, keyed(key));
    assert.equal(status, 400);
    assert.deepEqual(
      body.errors.map(({ field }: { field: string }) => field),
      ['Idempotency-Key'],
    );
    assert.equal(await countOf(company), 0);
  });
}

test('a key of 255 characters is accepted', async () => {
  const company = await app.company();
  assert.equal((await company.post(`${company.path}/interactions`, CALL, keyed('~'.repeat(255)))).status, 200);
});

test('reads take no notice of a key', async () => {
  const company = await app.company();
  const header = keyed();
  assert.equal(replayed(await company.get(`${company.path}/interactions`, header)), undefined);
  assert.equal((await company.post(`${company.path}/interactions`, CALL, header)).status, 200);
});
