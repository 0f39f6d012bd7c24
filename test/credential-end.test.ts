import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { ok } from './harness/assert.ts';
import {
  ALL,
  app,
  CLIENTS,
  type Credential,
  clientOf,
  credential,
  ENDPOINTS,
  endpointOf,
  FULL,
  ids,
  idsOf,
  KEYS,
  keyOf,
  leak,
  type Made,
  receiver,
  revoke,
  SECRET_PATH,
  statesOf,
  UNKNOWN,
  worker,
} from './harness/credential-end.ts';
import { call } from './harness/webhooks.ts';

test('every answer that shows an endpoint says which credential made it and which set its address', async () => {
  const company = await app.company();
  const [first, second] = [await keyOf(company, { name: 'first' }), await keyOf(company, { name: 'second' })];
  const by = ({ id }: Credential, name: string) => ({ type: 'key', id, name });
  const path = `${ENDPOINTS}/${await endpointOf(first.caller)}`;
  const shown = (record: Record<string, unknown>) => [record.created_by, record.url_set_by];
  const mine = [by(first, 'first'), by(first, 'first')];
  for (const send of [
    () => company.get(path),
    () => company.patch(path, { description: 'changed', state: 'disabled', types: ['invoice.*'] }),
    () => company.post(`${path}/resume`),
    () => company.post(`${path}/rotate`),
    () => second.caller.patch(path, { url: SECRET_PATH }),
  ]) {
    assert.deepEqual(shown(await ok(send())), mine);
  }
  assert.deepEqual(shown((await ok(company.get(ENDPOINTS)))[0]), mine);
  const moved = await ok(second.caller.patch(path, { url: 'https://elsewhere.example/' }));
  assert.deepEqual(shown(moved), [by(first, 'first'), by(second, 'second')]);
  const history = await ok(company.get(`${path}/history`));
  assert.deepEqual(shown(history[0].after), mine);
  assert.deepEqual(shown(history.at(-1).after), [by(first, 'first'), by(second, 'second')]);
  assert.deepEqual(history.at(-1).changed, ['url', 'url_set_by']);
});

test('an endpoint that an API client made names the client', async () => {
  const company = await app.company();
  const client = await clientOf(company);
  const { created_by } = await ok(company.get(`${ENDPOINTS}/${await endpointOf(client.caller)}`));
  assert.deepEqual(created_by, { type: 'client', id: client.id, name: 'made' });
});

test('revoking a key says what it made that still works, directly or not, and ends none of it', async () => {
  const company = await app.company();
  const { leaked, client, key, far, near } = await leak(company);
  const before = await statesOf(company);
  const answer = await revoke(company, leaked.id);
  assert.deepEqual(idsOf(answer.still_working), ids(client.id, key.id, far, near));
  assert.deepEqual(answer.also_ended, []);
  assert.ok(answer.revoked_at);
  assert.deepEqual(await statesOf(company), { ...before, [leaked.id]: false });
  const kinds = answer.still_working.map(({ type, state }: Made) => `${type} ${state}`).sort();
  assert.deepEqual(kinds, ['client active', 'key active', 'webhook_endpoint active', 'webhook_endpoint active']);
});

for (const chosen of [
  ['endpoints'],
  ['keys'],
  ['clients'],
  ['endpoints', 'keys'],
  ['clients', 'endpoints'],
  ['keys', 'clients'],
  ['endpoints', 'keys', 'clients'],
]) {
  test(`also=${chosen} ends these kinds, however far down, and no others`, async () => {
    const company = await app.company();
    const { leaked, client, key, far, near } = await leak(company);
    const others = [await keyOf(company), await clientOf(company)].map(({ id }) => id);
    const before = await statesOf(company);
    const byKind: Record<string, string[]> = { endpoints: [far, near], keys: [key.id], clients: [client.id] };
    const expected = chosen.flatMap((kind) => byKind[kind] ?? []);
    const left = [far, near, key.id, client.id].filter((id) => !expected.includes(id));
    const answer = await revoke(company, leaked.id, `also=${chosen.join(',')}`);
    assert.deepEqual(idsOf(answer.also_ended), ids(...expected));
    for (const { type, state } of answer.also_ended) assert.equal(state, type === 'key' ? 'revoked' : 'disabled');
    assert.deepEqual(idsOf(answer.still_working), ids(...left));
    const ended = Object.fromEntries([leaked.id, ...expected].map((id) => [id, false]));
    assert.deepEqual(await statesOf(company), { ...before, ...ended });
    for (const id of others) assert.equal((await statesOf(company))[id], true);
  });
}

test('disabling a client does the same', async () => {
  const company = await app.company();
  const client = await clientOf(company);
  const key = await keyOf(client.caller);
  const endpoint = await endpointOf(key.caller);
  const path = `${CLIENTS}/${client.id}/disable`;
  const first = await ok(company.post(path));
  assert.deepEqual([idsOf(first.still_working), first.also_ended], [ids(key.id, endpoint), []]);
  const second = await ok(company.post(`${path}?${ALL}`));
  assert.deepEqual([second.still_working, idsOf(second.also_ended)], [[], ids(key.id, endpoint)]);
  assert.equal((await statesOf(company))[key.id], false);
});

test('a wrong word, an empty one and a second parameter are refused, and nothing is revoked', async () => {
  const company = await app.company();
  const { leaked, client } = await leak(company);
  const before = await statesOf(company);
  for (const [query, code] of [
    ['also=webhooks', 'not_allowed'],
    ['also=keys,everything', 'not_allowed'],
    ['also=', 'not_allowed'],
    ['also=keys,', 'not_allowed'],
    ['also=keys&also=clients', 'type'],
    [`also=${'keys,'.repeat(30)}`, 'too_long'],
  ] as const) {
    for (const answer of [
      await company.delete(`${KEYS}/${leaked.id}?${query}`),
      await company.post(`${CLIENTS}/${client.id}/disable?${query}`),
    ]) {
      assert.equal(answer.status, 400, query);
      assert.deepEqual([answer.body.errors[0].field, answer.body.errors[0].code], ['also', code], query);
    }
    assert.equal((await company.delete(`${KEYS}/${UNKNOWN}?${query}`)).status, 404);
    assert.equal((await company.post(`${CLIENTS}/${UNKNOWN}/disable?${query}`)).status, 404);
  }
  assert.deepEqual(await statesOf(company), before);
});

test('everything that is ended has its event, with the actor and the request', async () => {
  const company = await app.company();
  const { leaked, client, key, far, near } = await leak(company);
  const [{ id: actor }] = (await ok(company.get(KEYS))).filter(({ name }: { name: string }) => name === 'test');
  const answer = await company.delete(`${KEYS}/${leaked.id}?${ALL}`);
  for (const [path, type, field, before, after] of [
    [`${KEYS}/${key.id}`, 'api_key.revoked', 'revoked_at', null, '2026-06-01T09:00:00.000000Z'],
    [`${CLIENTS}/${client.id}`, 'api_client.disabled', 'disabled_at', null, '2026-06-01T09:00:00.000000Z'],
    [`${ENDPOINTS}/${far}`, 'webhook_endpoint.disabled', 'state', 'active', 'disabled'],
    [`${ENDPOINTS}/${near}`, 'webhook_endpoint.disabled', 'state', 'active', 'disabled'],
  ] as const) {
    const event = (await ok(company.get(`${path}/history`))).at(-1);
    assert.equal(event.type, type);
    assert.deepEqual(event.actor, { type: 'key', id: actor, name: 'test' });
    assert.equal(event.request_id, answer.headers['x-request-id']);
    assert.deepEqual([event.before[field], event.after[field]], [before, after]);
  }
  assert.match((await ok(company.get(`${ENDPOINTS}/${far}`))).state_reason, /credential/);
});

test('an endpoint that was ended is sent nothing more, not even what waits', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  await endpointOf(leaked.caller, { url: receiver.url, types: ['interaction.*'] });
  await call(company, 'before');
  await worker.runOnce();
  assert.equal(receiver.received.length, 1);
  await call(company, 'waits');
  await revoke(company, leaked.id, 'also=endpoints');
  await call(company, 'after');
  await worker.runOnce();
  assert.equal(receiver.received.length, 1);
});

test('an endpoint that is failing is disabled, one that is disabled or removed is left as it is', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  const [failing, disabled, removed] = [
    await endpointOf(leaked.caller),
    await endpointOf(leaked.caller),
    await endpointOf(leaked.caller),
  ];
  await app.sql(`UPDATE webhook_endpoints SET state = 'failing' WHERE id = $1`, [failing]);
  await ok(company.patch(`${ENDPOINTS}/${disabled}`, { state: 'disabled' }));
  await ok(company.delete(`${ENDPOINTS}/${removed}`));
  const answer = await revoke(company, leaked.id, ALL);
  assert.deepEqual([idsOf(answer.also_ended), answer.still_working], [[failing], []]);
  assert.equal((await ok(company.get(`${ENDPOINTS}/${failing}`))).state, 'disabled');
  assert.equal((await ok(company.get(`${ENDPOINTS}/${disabled}`))).state_reason, null);
});

test('an endpoint whose address the credential set belongs to it, until another credential sets it again', async () => {
  const company = await app.company();
  const [leaked, again] = [await keyOf(company), await keyOf(company)];
  const [taken, restored] = [await endpointOf(company), await endpointOf(company)];
  for (const id of [taken, restored]) {
    await ok(leaked.caller.patch(`${ENDPOINTS}/${id}`, { url: 'https://attacker.example/' }));
  }
  await ok(again.caller.patch(`${ENDPOINTS}/${restored}`, { url: SECRET_PATH }));
  const { also_ended } = await revoke(company, leaked.id, ALL);
  assert.deepEqual(idsOf(also_ended), [taken]);
  assert.equal(also_ended[0].changed_by.id, leaked.id);
});

test('a client whose secret the credential has ever replaced belongs to it, also after another rotation', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  const [taken, hidden, restored] = [await clientOf(company), await clientOf(company), await clientOf(company)];
  for (const { id } of [taken, hidden, restored]) await ok(leaked.caller.post(`${CLIENTS}/${id}/rotate`));
  // Ended alone, with a token of the credential: the last rotation no longer refers to the credential.
  await ok(hidden.caller.post(`${CLIENTS}/${hidden.id}/rotate`));
  await ok(company.post(`${CLIENTS}/${restored.id}/rotate`));
  const made = [await keyOf(taken.caller), await keyOf(hidden.caller), await keyOf(restored.caller)];
  const { also_ended } = await revoke(company, leaked.id, ALL);
  assert.deepEqual(idsOf(also_ended), ids(taken.id, hidden.id, restored.id, ...made.map(({ id }) => id)));
});

test('a circle of credentials that made and took over one another is ended as a whole', async () => {
  const company = await app.company();
  const client = await clientOf(company);
  const key = await keyOf(client.caller);
  await ok(key.caller.post(`${CLIENTS}/${client.id}/rotate`));
  const second = await keyOf(client.caller);
  const answer = await revoke(company, key.id, ALL);
  assert.deepEqual([idsOf(answer.also_ended), answer.still_working], [ids(client.id, second.id), []]);
});

test('repeating it ends nothing twice, and what a revoked key left behind can be ended later', async () => {
  const company = await app.company();
  const { leaked, client, key, far, near } = await leak(company);
  const first = await revoke(company, leaked.id, 'also=keys');
  assert.deepEqual(idsOf(first.also_ended), [key.id]);
  app.clock.advance({ seconds: 1 });
  const second = await revoke(company, leaked.id, ALL);
  assert.deepEqual(idsOf(second.also_ended), ids(client.id, far, near));
  assert.equal(second.revoked_at, first.revoked_at);
  const count = async () => (await app.sql('SELECT 1 FROM events WHERE company_id = $1', [company.companyId])).length;
  const events = await count();
  const third = await revoke(company, leaked.id, ALL);
  assert.deepEqual([third.also_ended, third.still_working], [[], []]);
  assert.equal(await count(), events);
});

test('a caller whose own key was made by the credential is ended as well', async () => {
  const company = await app.company();
  const leaked = await keyOf(company);
  const own = await keyOf(leaked.caller);
  const answer = await revoke(own.caller, leaked.id, 'also=keys');
  assert.deepEqual(idsOf(answer.also_ended), [own.id]);
  app.clock.advance({ seconds: 3 });
  assert.equal((await own.caller.get(KEYS)).status, 401);
});

test('manage is enough to end endpoints, and shows no more of them than the host', async () => {
  const company = await app.company();
  const { leaked, near } = await leak(company);
  const manager = await company.withScopes('manage');
  const listed = await manager.delete(`${KEYS}/${leaked.id}`);
  assert.equal(listed.body.still_working.find(({ id }: Made) => id === near).name, 'https://receiver.example:8443');
  assert.doesNotMatch(listed.text, /secret-path|secret-query/);
  const ended = await revoke(manager, leaked.id, 'also=endpoints');
  assert.equal(ended.also_ended.length, 2);
  const narrow = await company.withScopes(...COMPANY_SCOPES.filter((scope) => scope !== 'manage'));
  assert.equal((await narrow.delete(`${KEYS}/${leaked.id}?${ALL}`)).status, 403);
});

test('nothing of another company is listed or ended, whatever its rows say', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const operator = credential('', await company.tokenFor(['operator']));
  const [{ id }] = (await ok(company.get(KEYS))).filter(({ scopes }: { scopes: string[] }) =>
    scopes.includes('operator'),
  );
  const foreign = await ok(operator.caller.post(`/manage/companies/${other.companyId}/keys`, { name: 'x', ...FULL }));
  const foreignKey = credential(foreign.id, foreign.key);
  await clientOf(foreignKey.caller);
  const endpoint = await endpointOf(foreignKey.caller);
  for (const table of ['clients', 'webhook_endpoints']) {
    await app.sql(`UPDATE ${table} SET created_by_id = $1, created_by_type = 'key' WHERE company_id = $2`, [
      id,
      other.companyId,
    ]);
  }
  const before = await statesOf(other);
  const answer = await revoke(company, id, ALL);
  assert.deepEqual([answer.also_ended, answer.still_working], [[], []]);
  assert.deepEqual(await statesOf(other), before);
  assert.equal(before[endpoint], true);
});
