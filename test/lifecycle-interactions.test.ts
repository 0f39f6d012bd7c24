import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer, Caller } from './harness/http.ts';

const world = await openWorld();

const WRITE_KEYS = ['customer_case_id', 'id', 'notes', 'recipient', 'sender', 'type', 'when'];
const LIST_KEYS = [...WRITE_KEYS, 'formatted_type', 'icon'].sort();
const NOW = '2026-06-01T09:00:00.000000Z';

type Fields = Record<string, unknown>;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body;
}

const list = (firm: Firm, path = firm.path) => ok(firm.get(`${path}/interactions`));

/** Writes an interaction and gives its path. */
const make = async (firm: Firm, fields: Fields = {}): Promise<string> =>
  `${firm.path}/interactions/${(await ok(firm.post(`${firm.path}/interactions`, { type: 'phone', ...fields }))).id}`;

const stored = (firm: Firm) =>
  world.sql('SELECT * FROM interactions WHERE company_id = $1 ORDER BY id', [firm.companyId]);

function assertNotFound(answer: Answer): void {
  assert.equal(answer.status, 404, answer.text);
  assert.equal(answer.body.code, 'not_found', answer.text);
}

function assertNotPossible(answer: Answer): void {
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(
    answer.body.errors.map(({ field, code }: Fields) => [field, code]),
    [['deleted_at', 'invalid_state']],
  );
}

for (const type of ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other']) {
  test(`one interaction of type ${type} reads as the list shows it`, async () => {
    const firm = await world.firm();
    const path = await make(firm, { type, notes: 'Called', sender: 'Ann', when: '2026-05-01 14:30:00' });
    const one = await ok(firm.get(path));
    assert.deepEqual(Object.keys(one).sort(), LIST_KEYS);
    assert.equal(one.when, '2026-05-01 14:30:00');
    assert.deepEqual(await list(firm), [one]);
  });
}

test('the time of one interaction is wall time of the company', async () => {
  const firm = await world.firm({ timeZone: 'America/New_York' });
  const path = await make(firm, { when: '2026-05-01T14:30:00Z' });
  assert.equal((await ok(firm.get(path))).when, '2026-05-01 10:30:00');
});

test('a deleted interaction answers with when it was deleted, and is out of the list', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  const other = await make(firm);
  assert.deepEqual(await ok(firm.delete(path)), { id: path.split('/').at(-1), deleted_at: NOW });
  assert.deepEqual(await list(firm), [await ok(firm.get(other))]);
});

test('a deleted interaction is unknown to reads, updates and a second deletion', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  await ok(firm.delete(path));
  const before = await stored(firm);
  assertNotFound(await firm.get(path));
  assertNotFound(await firm.delete(path));
  for (const method of ['PATCH', 'POST']) {
    assertNotFound(await firm.send(method, path, { type: 'email' }));
    assertNotFound(await firm.send(method, path, { type: 'pigeon' }));
    assertNotFound(await firm.send(method, path, '{'));
  }
  assert.deepEqual(await stored(firm), before);
});

test('a restored interaction is what it was, in its old place', async () => {
  const firm = await world.firm();
  const path = await make(firm, { notes: 'kept', when: '2026-05-01 14:30:00' });
  await make(firm);
  const before = await list(firm);
  await ok(firm.delete(path));
  assert.deepEqual(await ok(firm.post(`${path}/restore`)), before[1]);
  assert.deepEqual(await list(firm), before);
  await ok(firm.patch(path, { type: 'email' }));
  await ok(firm.delete(path));
  await ok(firm.post(`${path}/restore`));
});

test('an interaction that is not deleted cannot be restored', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  const before = await stored(firm);
  assertNotPossible(await firm.post(`${path}/restore`));
  assert.deepEqual(await stored(firm), before);
  await ok(firm.delete(path));
  await ok(firm.post(`${path}/restore`));
  assertNotPossible(await firm.post(`${path}/restore`));
});

test('of five that delete at once, and of five that restore at once, one succeeds', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  const five = async (send: () => Promise<Answer>) =>
    (await Promise.all(Array.from({ length: 5 }, send))).map(({ status }) => status).sort();
  assert.deepEqual(await five(() => firm.delete(path)), [200, 404, 404, 404, 404]);
  assert.deepEqual(await five(() => firm.post(`${path}/restore`)), [200, 400, 400, 400, 400]);
});

test('deleting and restoring are changes of the record', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  const times = async () =>
    (await stored(firm)).map(({ version, created_at, updated_at }) => [version, updated_at - created_at]);
  world.clock.advance({ minutes: 1 });
  await ok(firm.delete(path));
  assert.deepEqual(await times(), [[2, 60_000]]);
  world.clock.advance({ minutes: 1 });
  await ok(firm.post(`${path}/restore`));
  assert.deepEqual(await times(), [[3, 120_000]]);
  world.clock.advance({ minutes: -2 });
});

const OPERATIONS: { name: string; scope: string; call: (caller: Caller, path: string) => Promise<Answer> }[] = [
  { name: 'read', scope: 'interactions:read', call: (caller, path) => caller.get(path) },
  { name: 'delete', scope: 'interactions:write', call: (caller, path) => caller.delete(path) },
  { name: 'restore', scope: 'interactions:write', call: (caller, path) => caller.post(`${path}/restore`) },
];

for (const { name, scope, call } of OPERATIONS) {
  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const firm = await world.firm();
    const stranger = await world.firm();
    const path = await make(firm);
    const id = path.split('/').at(-1);
    if (name === 'restore') await ok(firm.delete(path));
    const before = await stored(firm);
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${stranger.path}/interactions/${id}`));
    assertNotFound(await call(firm, `/cases/${await firm.openCase()}/interactions/${id}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(firm, `${firm.path}/interactions/${unknown}`));
      assertNotFound(await call(firm, `/cases/${unknown}/interactions/${id}`));
    }
    assert.deepEqual(await stored(firm), before);
  });

  test(`${name} takes the scope ${scope} and no other, and asks for no Content-Type`, async () => {
    const firm = await world.firm();
    const path = await make(firm);
    if (name === 'restore') await ok(firm.delete(path));
    const others = ['interactions:read', 'interactions:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await firm.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(world.anonymous, path)).status, 401);
    const allowed = await firm.withScopes(scope);
    const [method, at] = { read: ['GET', path], delete: ['DELETE', path] }[name] ?? ['POST', `${path}/restore`];
    await ok(allowed.send(method as string, at as string, undefined, { 'content-type': undefined }));
  });
}

test('a body that is too large neither deletes nor restores', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  const large = '{}'.padEnd(1024 * 1024 + 1);
  assert.equal((await firm.send('DELETE', path, large)).status, 413);
  await ok(firm.delete(path));
  assert.equal((await firm.post(`${path}/restore`, large)).status, 413);
  assertNotFound(await firm.get(path));
});

test('the specified operations keep their keys', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  await ok(firm.delete(path));
  await ok(firm.post(`${path}/restore`));
  assert.deepEqual(Object.keys(await ok(firm.patch(path, { type: 'email' }))).sort(), WRITE_KEYS);
  assert.deepEqual(Object.keys(await ok(firm.post(`${firm.path}/interactions`, { type: 'email' }))).sort(), WRITE_KEYS);
  for (const one of await list(firm)) assert.deepEqual(Object.keys(one).sort(), LIST_KEYS);
});
