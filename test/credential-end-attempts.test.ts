import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { concurrentRequests, headersOf } from './harness/batching.ts';
import {
  ALL,
  app,
  CLIENTS,
  clientOf,
  ENDPOINTS,
  endpointOf,
  FULL,
  ids,
  idsOf,
  KEYS,
  keyOf,
  revoke,
  SECRET_PATH,
  statesOf,
  UNKNOWN,
} from './harness/credential-end.ts';
import { type Caller, caller } from './harness/http.ts';
import { overlapping, untilBlocked } from './harness/overlap.ts';

/** What a leaked credential with every scope could do to keep access. */
function attempts(ids: { client: string; disabledClient: string; endpoint: string; disabledEndpoint: string }) {
  return [
    ['POST', KEYS, { name: 'x', ...FULL }],
    ['POST', CLIENTS, { name: 'x', ...FULL }],
    ['POST', ENDPOINTS, { url: SECRET_PATH, types: ['*'] }],
    ['PATCH', `${CLIENTS}/${ids.client}`, { name: 'x' }],
    ['POST', `${CLIENTS}/${ids.client}/rotate`, undefined],
    ['POST', `${CLIENTS}/${ids.disabledClient}/enable`, undefined],
    ['POST', `${CLIENTS}/${ids.client}/disable`, undefined],
    ['PATCH', `${ENDPOINTS}/${ids.endpoint}`, { url: 'https://attacker.example/' }],
    ['PATCH', `${ENDPOINTS}/${ids.disabledEndpoint}`, { state: 'active' }],
    ['POST', `${ENDPOINTS}/${ids.disabledEndpoint}/resume`, undefined],
    ['POST', `${ENDPOINTS}/${ids.endpoint}/rotate`, undefined],
    ['DELETE', `${ENDPOINTS}/${ids.endpoint}`, undefined],
  ] as const;
}

async function assertShutOut(company: TestCompany, ended: Caller): Promise<void> {
  const [client, disabledClient] = [await clientOf(company), await clientOf(company)];
  const [endpoint, disabledEndpoint] = [await endpointOf(company), await endpointOf(company)];
  await ok(company.post(`${CLIENTS}/${disabledClient.id}/disable`));
  await ok(company.patch(`${ENDPOINTS}/${disabledEndpoint}`, { state: 'disabled' }));
  const rows = () =>
    app.sql(
      `SELECT to_jsonb(t) - 'last_used_at' FROM tokens t WHERE company_id = $1
       UNION ALL SELECT to_jsonb(k) FROM clients k WHERE company_id = $1
       UNION ALL SELECT to_jsonb(w) FROM webhook_endpoints w WHERE company_id = $1 ORDER BY 1`,
      [company.companyId],
    );
  const before = await rows();
  assert.equal((await ended.get('/manage/company')).status, 200, 'the token is still in the cache');
  for (const [method, path, body] of attempts({
    ...{ client: client.id, disabledClient: disabledClient.id },
    ...{ endpoint, disabledEndpoint },
  })) {
    for (const headers of [{}, { 'if-match': '*' }, { 'idempotency-key': `${method} ${path}`.replace(' ', '') }]) {
      const answer = await ended.send(method, path, body, headers);
      assert.equal(answer.status, 401, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_token');
      assert.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"');
    }
  }
  assert.deepEqual(await rows(), before);
}

test('a revoked key makes and changes no credential and no endpoint, also while it is in the cache', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  await ok(leaked.caller.get(KEYS));
  await revoke(company, leaked.id);
  await assertShutOut(company, leaked.caller);
});

test('neither does a token of a client that was disabled, also after the client was enabled again', async () => {
  const company = await app.company();
  const leaked = await clientOf(company);
  await ok(leaked.caller.get(KEYS));
  await ok(company.post(`${CLIENTS}/${leaked.id}/disable`));
  await assertShutOut(company, leaked.caller);
  await ok(company.post(`${CLIENTS}/${leaked.id}/enable`));
  await assertShutOut(company, leaked.caller);
});

test('a creation that waits for a revocation is refused when that is committed', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  await ok(leaked.caller.get(KEYS));
  const revocation: [string, unknown[]][] = [
    ['SELECT 1 FROM companies WHERE id = $1 FOR NO KEY UPDATE', [company.companyId]],
    ['UPDATE tokens SET revoked_at = now() WHERE id = $1', [leaked.id]],
  ];
  const answers = await overlapping(app, revocation, [
    () => leaked.caller.post(KEYS, { name: 'x', ...FULL }),
    () => leaked.caller.post(CLIENTS, { name: 'x', ...FULL }),
    () => leaked.caller.post(ENDPOINTS, { url: SECRET_PATH, types: ['*'] }),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401],
  );
});

test('so is a key for another company, when the operator’s key is revoked meanwhile', async () => {
  const [own, other] = [await app.company(), await app.company()];
  const operator = caller(app.baseUrl, await own.tokenFor(['operator']));
  await ok(operator.get('/manage/companies'));
  const revocation: [string, unknown[]][] = [
    ['SELECT 1 FROM companies WHERE id = $1 FOR NO KEY UPDATE', [own.companyId]],
    [`UPDATE tokens SET revoked_at = now() WHERE company_id = $1 AND 'operator' = ANY (scopes)`, [own.companyId]],
  ];
  const [answer] = await overlapping(app, revocation, [
    () => operator.post(`/manage/companies/${other.companyId}/keys`, { name: 'x', ...FULL }),
  ]);
  assert.equal(answer?.status, 401, String(answer?.text));
});

test('a revocation that waits for a creation ends what was created', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  const child = await keyOf(leaked.caller);
  const insertion: [string, unknown[]][] = [
    ['SELECT 1 FROM companies WHERE id = $1 FOR NO KEY UPDATE', [company.companyId]],
    [
      `INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, created_at, created_by_type, created_by_id, created_by_name)
       VALUES ($1, $2, sha256('late'), 'late', '{}', now(), 'key', $3, 'made')`,
      [company.companyId, UNKNOWN, child.id],
    ],
  ];
  const [answer] = await overlapping(app, insertion, [() => revoke(company, leaked.id, ALL)]);
  assert.deepEqual(idsOf(answer.also_ended), ids(child.id, UNKNOWN));
});

test('a write with If-Match locks the record after the credentials, so the two cannot deadlock', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company);
  const [key, client] = [await keyOf(company), await clientOf(company)];
  for (const [table, id, method, path] of [
    ['tokens', key.id, 'DELETE', `${KEYS}/${key.id}`],
    ['clients', client.id, 'POST', `${CLIENTS}/${client.id}/disable`],
    ['webhook_endpoints', endpoint, 'POST', `${ENDPOINTS}/${endpoint}/rotate`],
  ] as const) {
    const other = new pg.Client(app.connection);
    await other.connect();
    await other.query("BEGIN; SET LOCAL lock_timeout = '2s'");
    await other.query('SELECT 1 FROM companies WHERE id = $1 FOR NO KEY UPDATE', [company.companyId]);
    const sent = company.send(method, path, undefined, { 'if-match': '*' });
    await untilBlocked(app);
    await other.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
    await other.query('COMMIT');
    await other.end();
    assert.equal((await sent).status, 200);
  }
});

const { exchange, sendConcurrently } = concurrentRequests(app);

for (const round of [1, 2, 3]) {
  test(`of twenty creations beside the revocation nothing is left alive (${round})`, async () => {
    const company = await app.company();
    const leaked = await keyOf(company);
    const child = await keyOf(leaked.caller);
    for (const one of [leaked, child]) await ok(one.caller.get(KEYS));
    const before = await statesOf(company);
    const bodies: [string, Record<string, unknown>][] = [
      [KEYS, { name: 'x', ...FULL }],
      [CLIENTS, { name: 'x', ...FULL }],
      [ENDPOINTS, { url: SECRET_PATH, types: ['*'] }],
    ];
    const creations = Array.from({ length: 20 }, (_, i) => ({
      ...{ method: 'POST', token: [leaked, child][i % 2]?.token ?? '' },
      ...{ path: bodies[i % 3]?.[0] ?? '', body: bodies[i % 3]?.[1] },
    }));
    const revocation = { method: 'DELETE', path: `${KEYS}/${leaked.id}?${ALL}`, token: company.token, body: undefined };
    const answers = await sendConcurrently(
      creations.toSpliced(5 * round, 0, revocation),
      ({ method, path, token, body }) => exchange(method, path, headersOf(token, `${round}-${Math.random()}`), body),
    );
    const [ended] = answers.splice(5 * round, 1);
    assert.ok(ended);
    assert.equal(ended.status, 200, ended.text);
    const created: string[] = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    for (const { status, text } of answers) assert.ok([200, 401].includes(status), text);
    assert.deepEqual(idsOf(ended.body.also_ended), ids(child.id, ...created));
    const after = await statesOf(company);
    for (const id of [leaked.id, child.id, ...created]) assert.equal(after[id], false);
    assert.equal(Object.keys(after).length, Object.keys(before).length + created.length);
  });
}

test('a key that made twenty thousand others, each with the one before, can still be ended with all of them', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  await app.sql(
    `INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, created_at, revoked_at, created_by_type, created_by_id, created_by_name)
     SELECT $1, md5($2 || i)::uuid, sha256(($2 || i)::bytea), 'x', '{}', now(), CASE WHEN i < 20000 THEN now() END, 'key',
            CASE i WHEN 1 THEN $2::uuid ELSE md5($2 || (i - 1))::uuid END, 'x'
       FROM generate_series(1, 20000) i`,
    [company.companyId, leaked.id],
  );
  const answer = await revoke(company, leaked.id, ALL);
  assert.equal(answer.also_ended.length, 1);
  assert.deepEqual(answer.still_working, []);
});
