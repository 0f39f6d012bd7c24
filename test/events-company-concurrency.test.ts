import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { allStatements } from '../src/kernel/sql/statement.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import {
  ALPHA,
  adviserOf,
  after,
  app,
  caseOf,
  clientOf,
  companyPath,
  customerOf,
  type Event,
  historyOf,
  otherKeyOf,
  UNKNOWN,
  ZOOM,
} from './harness/events-company.ts';
import { overlapping } from './harness/overlap.ts';

const CONTENDED: Record<string, [path: (company: TestCompany) => Promise<string> | string, field: string]> = {
  'the company': [companyPath, 'terms'],
  'an adviser': [adviserOf, 'name'],
  'a case': [caseOf, 'reference'],
  'a customer': [customerOf, 'last_name'],
  'a client': [clientOf, 'name'],
};

for (const [name, [path, field]] of Object.entries(CONTENDED)) {
  test(`twenty concurrent changes of ${name} are a chain: each became what its request sent`, async () => {
    const company = await app.company();
    const one = await path(company);
    const first = (await historyOf(company, one)).at(-1)?.after?.[field];
    const values = Array.from({ length: 20 }, (_, i) => `value ${i}`);
    const answers = await Promise.all(values.map((value) => company.patch(one, { [field]: value })));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const sent = new Map(answers.map(({ headers }, i) => [headers['x-request-id'], values[i]]));
    const events = (await historyOf(company, one)).slice(-20);
    assert.deepEqual(
      events.map(({ after }) => after?.[field]),
      events.map(({ request_id }) => sent.get(String(request_id))),
    );
    assert.deepEqual(
      events.map(({ before }) => before?.[field]),
      [first, ...events.slice(0, -1).map(({ after }) => after?.[field])],
    );
    assert.equal((await ok(company.get(one)))[field], events.at(-1)?.after?.[field]);
  });

  test(`a change of ${name} that had to wait logs what it then found`, async () => {
    const company = await app.company();
    const one = await path(company);
    const table = { company: 'companies', case: 'cases', client: 'clients' }[name.split(' ')[1] ?? ''];
    const id = name === 'the company' ? company.companyId : one.split('/').at(-1);
    const held = `UPDATE ${table ?? `${name.split(' ')[1]}s`} SET ${field} = 'meanwhile' WHERE id = $1`;
    const [answer] = await overlapping(app, [[held, [id]]], [() => company.patch(one, { [field]: 'mine' })]);
    assert.equal(answer?.status, 200, String(answer?.text));
    const event = (await historyOf(company, one)).at(-1);
    assert.deepEqual([event?.before?.[field], event?.after?.[field]], ['meanwhile', 'mine']);
  });
}

test('concurrent changes of an adviser’s account and name: no event shows another’s change', async () => {
  const company = await app.company();
  const adviser = await adviserOf(company);
  const requests = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0
      ? { field: 'name', value: `name ${i}`, send: () => company.patch(adviser, { name: `name ${i}` }) }
      : {
          field: 'video_account',
          value: { account_id: ZOOM.account_id, user: `${i}@firm.example` },
          send: () => company.send('PUT', `${adviser}/video-account`, { ...ZOOM, user: `${i}@firm.example` }),
        },
  );
  const answers = await Promise.all(requests.map(({ send }) => send()));
  const sent = new Map(answers.map(({ headers }, i) => [headers['x-request-id'], requests[i]]));
  const events = (await historyOf(company, adviser)).slice(-20);
  assert.equal(events.length, 20);
  for (const { request_id, before, after, changed } of events) {
    const { field = '', value } = sent.get(String(request_id)) ?? {};
    assert.deepEqual(after?.[field], value);
    const others = changed?.filter((name) => ![field, 'updated_at', 'video_provider'].includes(name));
    assert.deepEqual(others, [], JSON.stringify({ before, after }));
  }
});

for (const [name, method, below, body] of [
  ['update', 'PATCH', '', { name: 'mine' }],
  ['removal', 'DELETE', '', undefined],
  ['connection', 'PUT', '/video-account', { provider: 'jitsi' }],
  ['disconnection', 'DELETE', '/video-account', undefined],
] as const) {
  test(`the ${name} of an adviser who got an account meanwhile logs that account`, async () => {
    const company = await app.company();
    const adviser = await adviserOf(company);
    if (name === 'disconnection') await ok(company.patch(adviser, { video_provider: 'jitsi' }));
    const values = [company.companyId, adviser.split('/').at(-1), UNKNOWN.replace(/0$/, String(name.length % 10))];
    const [answer] = await overlapping(
      app,
      [
        [
          `INSERT INTO video_accounts (company_id, adviser_id, id, account_id, client_id, host, created_at, updated_at)
           VALUES ($1, $2, $3, 'acme', 'app', 'me', now(), now())`,
          values,
        ],
        [
          `UPDATE advisers SET video_provider = 'zoom', video_account_id = $3 WHERE company_id = $1 AND id = $2`,
          values,
        ],
      ],
      [() => company.send(method, `${adviser}${below}`, body)],
    );
    assert.equal(answer?.status, 200, String(answer?.text));
    const event = (await historyOf(company, adviser)).at(-1);
    assert.deepEqual(event?.before?.video_account, { account_id: 'acme', user: 'me' });
  });
}

test('the log holds no secret, no hash and nothing sealed', async () => {
  const company = await app.company();
  const client = await ok(company.post('/manage/clients', { name: 'website', scopes: ['manage'] }));
  const rotated = await ok(company.post(`/manage/clients/${client.id}/rotate`));
  await ok(company.patch(`/manage/clients/${client.id}`, { name: 'site' }));
  await ok(company.post(`/manage/clients/${client.id}/disable`));
  await ok(company.post(`/manage/clients/${client.id}/enable`));
  const { access_token } = await ok(
    app.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: rotated.client_secret,
    }),
  );
  const key = await ok(company.post('/manage/keys', ALPHA));
  await ok(company.delete(`/manage/keys/${key.id}`));
  const adviser = await adviserOf(company);
  await ok(company.send('PUT', `${adviser}/video-account`, ZOOM));
  const [account] = await app.sql<{ sealed_secret: string }>(
    'SELECT sealed_secret FROM video_accounts WHERE company_id = $1',
    [company.companyId],
  );
  await ok(company.patch(adviser, { name: 'A' }));
  await ok(company.delete(`${adviser}/video-account`));
  await ok(company.patch('/manage/company', { terms: 'Net' }));
  const [{ event_key } = { event_key: Buffer.alloc(0) }] = await app.sql<{ event_key: Buffer }>(
    'SELECT event_key FROM companies WHERE id = $1',
    [company.companyId],
  );

  const stored = await app.sql<{ text: string }>('SELECT e::text AS text FROM events e WHERE company_id = $1', [
    company.companyId,
  ]);
  const log = `${stored.map(({ text }) => text).join('\n')}\n${(await company.get('/events?limit=500')).text}`;
  assert.ok(account?.sealed_secret);
  const given: string[] = [
    client.client_secret,
    rotated.client_secret,
    access_token,
    key.key,
    company.token,
    ZOOM.client_secret,
  ];
  const hashes = given.map((secret) => createHash('sha256').update(secret).digest());
  const encoded = [...hashes, event_key].flatMap((bytes) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding)),
  );
  for (const secret of [...given, ...encoded, account.sealed_secret]) assert.ok(!log.includes(secret), secret);
  assert.doesNotMatch(log, /crs?_[\w-]{20}|sha256|sealed|generation|event_key/);
});

test('the history of what was removed can be read, with its removal', async () => {
  const company = await app.company();
  for (const path of [await after(adviserOf, 'DELETE')(company), await after(customerOf, 'DELETE')(company)]) {
    assert.equal((await company.get(path)).status, 404);
    const types = (await historyOf(company, path)).map(({ type }) => type.split('.')[1]);
    assert.deepEqual(types, ['created', 'removed']);
    assert.deepEqual(await ok(company.get(`${path}/history?after=latest`)), []);
  }
  await ok(company.delete(`/manage/custom-tags/${company.customTags[0]}`));
  const tags: Event[] = await ok(company.get('/events?types=tag.removed'));
  assert.deepEqual([tags[0]?.before?.tag, tags[0]?.after], [company.customTags[0], null]);
});

test('the history of another company’s record, of another case’s, of another kind and of none is 404', async () => {
  const company = await app.company();
  const other = await app.company();
  const mine = [adviserOf, caseOf, customerOf, clientOf, otherKeyOf];
  for (const path of mine) {
    const one = await path(company);
    assert.equal((await company.get(`${one}/history`)).status, 200);
    assert.equal((await other.get(`${one}/history`)).status, 404);
    assert.equal((await company.get(`${one.slice(0, -36)}${UNKNOWN}/history`)).status, 404);
  }
  const elsewhere = await company.openCase();
  assert.equal(
    (await company.get(customerOf(company).replace(company.caseId, elsewhere).concat('/history'))).status,
    404,
  );
  const adviser = (await adviserOf(company)).split('/').at(-1);
  assert.equal((await company.get(`/manage/clients/${adviser}/history`)).status, 404);
  const reader = await company.withScopes('interactions:read');
  for (const id of [company.customers[0].id, company.caseId]) {
    assert.equal((await reader.get(`${company.path}/interactions/${id}/history`)).status, 404);
  }
});

test('a history asks for the scope with which its record is read', async () => {
  const company = await app.company();
  const reader = await company.withScopes('events:read', 'interactions:read');
  const manager = await company.withScopes('manage');
  for (const path of [companyPath, adviserOf, caseOf, customerOf, clientOf, otherKeyOf]) {
    const one = await path(company);
    assert.equal((await reader.get(`${one}/history`)).status, 403);
    assert.equal((await manager.get(`${one}/history`)).status, 200);
  }
});

/** Statements that write to one of the tables without an event, and why. */
const UNLOGGED: Record<string, string> = {
  'tokens.record_last_used': 'using a key does not change it',
  'oauth.issue': 'access tokens are no records',
  'oauth.revoke': 'access tokens are no records',
  'account.reencrypt_code_secret': 'a sealed secret is shown nowhere',
  'account.use_code': 'using a code does not change the user',
  'demo.activate_owner': 'part of the creation of the user',
  'passkeys.use': 'using a passkey does not change it',
  'video_accounts.forget': 'a sealed secret is shown nowhere',
  'video_accounts.reencrypt': 'a sealed secret is shown nowhere',
};

test('every statement that writes into the tables of these records also writes into the log', async () => {
  const root = new URL('../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql.ts'));
  await Promise.all(files.map((file) => import(new URL(file, root).href)));
  const tables = 'companies|advisers|cases|customers|custom_tags|clients|tokens|video_accounts|users|passkeys';
  const writes = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM)\\s+(ONLY\\s+)?(${tables})\\b`);
  const writing = allStatements().filter(({ text }) => writes.test(text));
  const unlogged = writing.filter(({ text }) => !/\bINSERT INTO events\b/.test(text)).map(({ name }) => name);
  assert.deepEqual([...new Set(unlogged)].sort(), Object.keys(UNLOGGED).sort());
  assert.ok(writing.length >= 25, `${writing.length} statements`);
});
