import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok, storedRows } from './harness/assert.ts';
import type { Answer, Caller } from './harness/http.ts';

const app = await startApp();

const WRITE_KEYS = ['customer_case_id', 'id', 'notes', 'recipient', 'sender', 'type', 'when'];
const LIST_KEYS = [...WRITE_KEYS, 'formatted_type', 'icon'].sort();
const NOW = '2026-06-01T09:00:00.000000Z';

type Fields = Record<string, unknown>;

/** The list is specified, so it does not show the external id. */
const listed = ({ external_id, ...element }: Record<string, unknown>) => element;
const list = (company: TestCompany, path = company.path) => ok(company.get(`${path}/interactions`));

/** Makes an interaction and returns its path. */
const make = async (company: TestCompany, fields: Fields = {}): Promise<string> =>
  `${company.path}/interactions/${(await ok(company.post(`${company.path}/interactions`, { type: 'phone', ...fields }))).id}`;

const stored = (company: TestCompany) => storedRows(app, company, 'interactions');

const assertNotPossible = (answer: Answer) => assertRefused(answer, { deleted_at: 'invalid_state' });

for (const type of ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other']) {
  test(`one interaction of type ${type} reads as the list shows it`, async () => {
    const company = await app.company();
    const path = await make(company, { type, notes: 'Called', sender: 'Ann', when: '2026-05-01 14:30:00' });
    const one = await ok(company.get(path));
    assert.deepEqual(Object.keys(one).sort(), [...LIST_KEYS, 'external_id'].sort());
    assert.equal(one.when, '2026-05-01 14:30:00');
    assert.deepEqual(await list(company), [listed(one)]);
  });
}

test('the time of one interaction is wall time of the company', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  const path = await make(company, { when: '2026-05-01T14:30:00Z' });
  assert.equal((await ok(company.get(path))).when, '2026-05-01 10:30:00');
});

test('a deleted interaction answers with when it was deleted, and is out of the list', async () => {
  const company = await app.company();
  const path = await make(company);
  const other = await make(company);
  assert.deepEqual(await ok(company.delete(path)), { id: path.split('/').at(-1), deleted_at: NOW });
  assert.deepEqual(await list(company), [listed(await ok(company.get(other)))]);
});

test('a deleted interaction is unknown to reads, updates and a second deletion', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.delete(path));
  const before = await stored(company);
  assertNotFound(await company.get(path));
  assertNotFound(await company.delete(path));
  for (const method of ['PATCH', 'POST']) {
    assertNotFound(await company.send(method, path, { type: 'email' }));
    assertNotFound(await company.send(method, path, { type: 'pigeon' }));
    assertNotFound(await company.send(method, path, '{'));
  }
  assert.deepEqual(await stored(company), before);
});

test('a restored interaction is what it was, in its old place', async () => {
  const company = await app.company();
  const path = await make(company, { notes: 'kept', when: '2026-05-01 14:30:00' });
  await make(company);
  const before = await list(company);
  await ok(company.delete(path));
  assert.deepEqual(listed(await ok(company.post(`${path}/restore`))), before[1]);
  assert.deepEqual(await list(company), before);
  await ok(company.patch(path, { type: 'email' }));
  await ok(company.delete(path));
  await ok(company.post(`${path}/restore`));
});

test('an interaction that is not deleted cannot be restored', async () => {
  const company = await app.company();
  const path = await make(company);
  const before = await stored(company);
  assertNotPossible(await company.post(`${path}/restore`));
  assert.deepEqual(await stored(company), before);
  await ok(company.delete(path));
  await ok(company.post(`${path}/restore`));
  assertNotPossible(await company.post(`${path}/restore`));
});

test('of five concurrent deletions, and of five concurrent restorations, one succeeds', async () => {
  const company = await app.company();
  const path = await make(company);
  const five = async (send: () => Promise<Answer>) =>
    (await Promise.all(Array.from({ length: 5 }, send))).map(({ status }) => status).sort();
  assert.deepEqual(await five(() => company.delete(path)), [200, 404, 404, 404, 404]);
  assert.deepEqual(await five(() => company.post(`${path}/restore`)), [200, 400, 400, 400, 400]);
});

test('deleting and restoring are changes of the record', async () => {
  const company = await app.company();
  const path = await make(company);
  const changes = 'SELECT version, created_at, updated_at FROM interactions WHERE company_id = $1';
  const times = async () =>
    (await app.sql(changes, [company.companyId])).map(({ version, created_at, updated_at }) => [
      version,
      updated_at - created_at,
    ]);
  app.clock.advance({ minutes: 1 });
  await ok(company.delete(path));
  assert.deepEqual(await times(), [[2, 60_000]]);
  app.clock.advance({ minutes: 1 });
  await ok(company.post(`${path}/restore`));
  assert.deepEqual(await times(), [[3, 120_000]]);
  app.clock.advance({ minutes: -2 });
});

const OPERATIONS: { name: string; scope: string; call: (caller: Caller, path: string) => Promise<Answer> }[] = [
  { name: 'read', scope: 'interactions:read', call: (caller, path) => caller.get(path) },
  { name: 'delete', scope: 'interactions:write', call: (caller, path) => caller.delete(path) },
  { name: 'restore', scope: 'interactions:write', call: (caller, path) => caller.post(`${path}/restore`) },
];

for (const { name, scope, call } of OPERATIONS) {
  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const company = await app.company();
    const stranger = await app.company();
    const path = await make(company);
    const id = path.split('/').at(-1);
    if (name === 'restore') await ok(company.delete(path));
    const before = await stored(company);
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${stranger.path}/interactions/${id}`));
    assertNotFound(await call(company, `/cases/${await company.openCase()}/interactions/${id}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(company, `${company.path}/interactions/${unknown}`));
      assertNotFound(await call(company, `/cases/${unknown}/interactions/${id}`));
    }
    assert.deepEqual(await stored(company), before);
  });

  test(`${name} takes the scope ${scope} and no other, and asks for no Content-Type`, async () => {
    const company = await app.company();
    const path = await make(company);
    if (name === 'restore') await ok(company.delete(path));
    const others = ['interactions:read', 'interactions:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await company.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(app.anonymous, path)).status, 401);
    const allowed = await company.withScopes(scope);
    const [method, at] = { read: ['GET', path], delete: ['DELETE', path] }[name] ?? ['POST', `${path}/restore`];
    await ok(allowed.send(method as string, at as string, undefined, { 'content-type': undefined }));
  });
}

test('a body that is too large neither deletes nor restores', async () => {
  const company = await app.company();
  const path = await make(company);
  const large = '{}'.padEnd(1024 * 1024 + 1);
  assert.equal((await company.send('DELETE', path, large)).status, 413);
  await ok(company.delete(path));
  assert.equal((await company.post(`${path}/restore`, large)).status, 413);
  assertNotFound(await company.get(path));
});

test('the specified operations keep their keys', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.delete(path));
  await ok(company.post(`${path}/restore`));
  assert.deepEqual(Object.keys(await ok(company.patch(path, { type: 'email' }))).sort(), WRITE_KEYS);
  assert.deepEqual(
    Object.keys(await ok(company.post(`${company.path}/interactions`, { type: 'email' }))).sort(),
    WRITE_KEYS,
  );
  for (const one of await list(company)) assert.deepEqual(Object.keys(one).sort(), LIST_KEYS);
});
