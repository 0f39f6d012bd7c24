import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { after, test } from 'node:test';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import type { TestCompany } from './harness/app.ts';
import { type Answer, type Caller, caller } from './harness/http.ts';
import { fill, type Ids, identifiersOf } from './harness/identifiers.ts';
import { companyTables } from './harness/tables.ts';
import {
  app,
  control,
  neverWas,
  own,
  owner,
  type Route,
  routes,
  stranger,
  theirs,
} from './harness/tenant-isolation.ts';

let previousEndpoint: string = randomUUID();
let known: Ids | undefined;
// Opening a connection costs as much as a refusal.
const agent = new Agent({ keepAlive: true });
after(() => agent.destroy());
const callers = await wrongCallers(owner);
const [operator, strangersOperator] = [await owner.withScopes('operator'), await stranger.withScopes('operator')];
const before = await everything();

test('every kind of identifier of the document is known here, and so is every route', () => {
  assert.ok(routes.length >= 120);
  for (const { params } of routes) for (const name of params) assert.ok(theirs[name] && own[name], name);
  for (const name of Object.keys(theirs)) assert.notEqual(theirs[name], own[name], name);
});

/** What a request needs to be accepted. */
function bodyOf({ schema }: Route, company: TestCompany): Record<string, unknown> | undefined {
  if (!schema) return undefined;
  const named: Record<string, unknown> = {
    adviser_email: company.adviser,
    sender_id: company.companyId,
    invoice_number: randomUUID(),
    email: `${randomUUID()}@firm.example`,
    tag: `tag-${randomUUID()}`,
    types: ['*'],
  };
  const value = (name: string) => {
    const { examples, enum: words } = schema.properties?.[name] ?? {};
    return named[name] ?? words?.[0] ?? examples?.[0] ?? 'x';
  };
  return Object.fromEntries((schema.required ?? []).map((name) => [name, value(name)]));
}

async function wrongCallers(company: TestCompany): Promise<Record<string, Caller>> {
  const grant = { name: 'wrong', scopes: COMPANY_SCOPES };
  const key = async (body: object) => (await company.post('/manage/keys', body)).body;
  const revoked = await key(grant);
  await company.delete(`/manage/keys/${revoked.id}`);
  const expired = await key({ ...grant, expires_at: app.clock.read().add({ seconds: 30 }).toString() });
  const { body: client } = await company.post('/manage/clients', grant);
  const credentials = { client_id: client.id, client_secret: client.client_secret };
  const token = await app.anonymous.post('/oauth/token', { grant_type: 'client_credentials', ...credentials });
  assert.equal(token.status, 200, token.text);
  await company.post(`/manage/clients/${client.id}/disable`);
  const at = (text: string) => caller(app.baseUrl, text, agent);
  return {
    'a revoked key': at(revoked.key),
    'an expired key': at(expired.key),
    'the token of a disabled client': at(token.body.access_token),
    'a token that never was': at(`cr_${randomBytes(32).toString('base64url')}`),
    'no token': app.anonymous,
  };
}

/** A hash of all rows of both companies, by table, without the time when a key was last used. */
async function everything(): Promise<Record<string, string>> {
  const hashes = (await companyTables(app)).map(
    (name) =>
      `SELECT '${name}' AS name, md5(string_agg(row, ',' ORDER BY row)) AS hash
         FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} t WHERE company_id IN ($1, $2)) rows`,
  );
  const values = [owner.companyId, stranger.companyId];
  const rows = await app.sql<{ name: string; hash: string }>(hashes.join(' UNION ALL '), values);
  return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));
}

const comparable = ({ status, headers, body }: Answer) => ({
  status,
  headers: Object.keys(headers).sort(),
  challenge: headers['www-authenticate'],
  body: { ...body, request_id: '' },
});
/** Identifiers with a possible special meaning, and texts that cannot be identifiers. */
const EDGES = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
const malformed = (name: string) =>
  name === 'tag' ? ['Never%20Was', '%27'] : ['x', '%27%20OR%201%3D1', '0'.repeat(36), ...EDGES];

for (const route of routes.filter(({ params, scopes }) => params.length > 0 && !scopes.includes('operator'))) {
  test(`${route.name}: what is another company's, never existed or is malformed is refused alike`, async () => {
    const body = bodyOf(route, stranger);
    const ask = (ids: Ids) => stranger.send(route.method, fill(route.template, ids), body);
    for (const name of route.params) {
      const missing = await ask({ ...own, [name]: neverWas(name) });
      assert.equal(missing.status, 404, missing.text);
      for (const id of [theirs[name] ?? '', ...malformed(name)]) {
        const answer = await ask({ ...own, [name]: id });
        assert.deepEqual(comparable(answer), comparable(missing), `${name}: ${id}`);
      }
    }
    // All identifiers belong to the other company: the answer is as if the first never existed.
    const all = Object.fromEntries(Object.keys(theirs).map((name) => [name, neverWas(name)]));
    assert.deepEqual(comparable(await ask(theirs)), comparable(await ask(all)));
    assert.deepEqual(await everything(), before);
  });

  test(`${route.name}: the same request with identifiers of its own is not refused as unknown`, async () => {
    // The next test has the same records, unless this one may take one of them or its identifier away.
    const ids = known ?? (await identifiersOf(control));
    known = ['DELETE', 'PUT'].includes(route.method) ? undefined : ids;
    if (ids.endpointId !== previousEndpoint) await control.delete(`/webhooks/endpoints/${previousEndpoint}`);
    previousEndpoint = ids.endpointId ?? '';
    // A default tag, if the path is not that of a custom tag.
    const tag = route.template.includes('/tags/') ? 'executor' : (ids.tag ?? '');
    const answer = await control.send(route.method, fill(route.template, { ...ids, tag }), bodyOf(route, control));
    // The records of the harness may have no meeting or connected account.
    if (!/meeting|video-account/.test(route.template)) assert.ok([200, 400].includes(answer.status), answer.text);
    if (answer.status === 200 && route.method === 'DELETE' && ids.tag) {
      await control.post('/manage/custom-tags', { tag: ids.tag });
    }
  });
}

for (const route of routes) {
  test(`${route.name}: no wrong credential learns whether the record is there`, async () => {
    const body = bodyOf(route, owner);
    const missing = Object.fromEntries(Object.keys(theirs).map((name) => [name, neverWas(name)]));
    const refusals = new Map<string, ReturnType<typeof comparable>>();
    for (const [what, one] of Object.entries(callers)) {
      const answer = await one.send(route.method, fill(route.template, theirs), body);
      const unknown = await one.send(route.method, fill(route.template, missing), body);
      assert.equal(answer.status, 401, `${what}: ${answer.text}`);
      assert.deepEqual(comparable(answer), comparable(unknown), what);
      refusals.set(what, comparable(answer));
    }
    // Whatever is wrong with a token, the answer is that for an unknown token.
    const made = refusals.get('a token that never was');
    for (const [what, refusal] of refusals) if (what !== 'no token') assert.deepEqual(refusal, made, what);
    const narrower = route.scopes.includes('operator') ? owner : await narrow(route.scopes);
    const denied = await narrower.send(route.method, fill(route.template, theirs), body);
    assert.equal(denied.status, 403, denied.text);
    const unknown = await narrower.send(route.method, fill(route.template, missing), body);
    assert.deepEqual(comparable(denied), comparable(unknown));
    const withoutRows = ({ tokens: _tokens, events: _events, ...rest }: Record<string, string>) => rest;
    assert.deepEqual(withoutRows(await everything()), withoutRows(before));
  });
}

const narrowed = new Map<string, Caller>();
/** A caller with every scope of a company except these. Cached, because making a key writes a row. */
async function narrow(scopes: readonly string[]): Promise<Caller> {
  const others = COMPANY_SCOPES.filter((other) => !scopes.includes(other));
  const one = narrowed.get(scopes.join()) ?? (await owner.withScopes(...others));
  narrowed.set(scopes.join(), one);
  return one;
}

test('an operator of one company sees companies, and no record of any', async () => {
  for (const route of routes.filter(({ scopes }) => !scopes.includes('operator'))) {
    for (const one of [operator, strangersOperator]) {
      const answer = await one.send(route.method, fill(route.template, theirs), bodyOf(route, owner));
      assert.equal(answer.status, 403, `${route.name}: ${answer.text}`);
    }
  }
});
