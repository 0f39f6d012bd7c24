import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer, Caller } from './harness/http.ts';

const world = await openWorld();

const CREATE_KEYS = ['created_at', 'customer_case_id', 'data', 'entity_id', 'id', 'updated_at'];
const CREATE_DATA_KEYS = [
  ...['address', 'first_names', 'last_name', 'relationship', 'their_pronoun', 'them_pronoun', 'they_pronoun', 'title'],
];
const UPDATE_KEYS = [
  ...['company_id', 'copied_from_id', 'created_at', 'customer_case_id', 'customer_person_id', 'data', 'deleted_at'],
  ...['entity_id', 'id', 'is_company_global', 'is_user_global', 'notes', 'partner_card_id', 'partner_person_id'],
  ...['partner_record_id', 'transferred_at', 'transferred_from_user_id', 'updated_at', 'user_id'],
];
const ITEM_KEYS = ['data', 'entity_id', 'id'];
const NOW = '2026-06-01T09:00:00.000000Z';

type Fields = Record<string, unknown>;

const person = (fields: Fields = {}): Fields => ({
  entity_id: 'person',
  title: 'Mrs',
  first_names: 'Jane',
  last_name: 'Doe',
  ...fields,
});

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body;
}

/** Makes an entry and gives its path. */
const make = async (firm: Firm, fields: Fields = {}): Promise<string> =>
  `${firm.path}/address-book/entry/${(await ok(firm.post(`${firm.path}/address-book/entry`, person(fields)))).id}`;

const book = (firm: Firm) => ok(firm.get(`${firm.path}/address-book`));

const tagsOf = async (firm: Firm, path: string) => {
  const { tags, custom_tags } = (await ok(firm.get(path))).data;
  return { tags, custom_tags };
};

const stored = (firm: Firm) =>
  Promise.all(
    ['people', 'addresses'].map((table) =>
      world.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [firm.companyId]),
    ),
  );

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

test('one entry reads as the address book shows the person, with its times', async () => {
  const firm = await world.firm();
  const path = await make(firm, {
    dob: '31/01/1970',
    gender: 'female',
    relationship: { [firm.customers[0].id]: 'sister' },
    address: { postcode: 'AB1 2CD' },
    tags: ['executor'],
    custom_tags: ['newsletter'],
  });
  const { created_at, updated_at, ...item } = await ok(firm.get(path));
  assert.deepEqual([created_at, updated_at], [NOW, NOW]);
  assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
  const [shown, address] = await book(firm);
  assert.deepEqual(item, shown);
  assert.equal(item.data.address, address.id);
});

test('an address has no entry of its own to be read or deleted', async () => {
  const firm = await world.firm();
  await make(firm);
  const [, address] = await book(firm);
  const path = `${firm.path}/address-book/entry/${address.id}`;
  assertNotFound(await firm.get(path));
  assertNotFound(await firm.delete(path));
});

test('a deleted entry answers with when it was deleted, and is out of the book with its address', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  await make(firm, { first_names: 'John' });
  const before = await book(firm);
  assert.deepEqual(await ok(firm.delete(path)), { id: path.split('/').at(-1), deleted_at: NOW });
  assert.deepEqual(await book(firm), before.slice(2));
});

test('a deleted entry is unknown to reads, updates, the removal of tags and a second deletion', async () => {
  const firm = await world.firm();
  const path = await make(firm, { tags: ['executor'], custom_tags: ['newsletter'] });
  await ok(firm.delete(path));
  const before = await stored(firm);
  for (const at of [path, path.replace('address-book', 'address_book')]) {
    assertNotFound(await firm.get(at));
    assertNotFound(await firm.delete(at));
    assertNotFound(await firm.delete(`${at}/tags/executor`));
    assertNotFound(await firm.delete(`${at}/custom-tags/newsletter`));
    for (const method of ['PATCH', 'POST']) {
      assertNotFound(await firm.send(method, at, person({ address: { postcode: 'X' } })));
      assertNotFound(await firm.send(method, at, person({ tags: ['no-such-tag'] })));
      assertNotFound(await firm.send(method, at, {}));
    }
  }
  assert.deepEqual(await stored(firm), before);
});

test('a restored entry is what it was, in its old place, with its address, relationships and tags', async () => {
  const firm = await world.firm();
  const path = await make(firm, {
    relationship: { [firm.customers[1].id]: 'friend', [firm.customers[0].id]: 'sister' },
    address: { address_1: '1 High Street' },
    tags: ['executor', 'trustee'],
  });
  await make(firm);
  const before = await book(firm);
  await ok(firm.delete(path));
  const restored = await ok(firm.post(`${path}/restore`));
  assert.deepEqual(restored, await ok(firm.get(path)));
  assert.deepEqual(await book(firm), before);
});

test('an entry that is not deleted cannot be restored', async () => {
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

test('an update and a deletion at once: an update that was refused left nothing behind', async () => {
  const firm = await world.firm();
  for (let i = 0; i < 10; i++) {
    const path = await make(firm);
    const [updated] = await Promise.all([
      firm.patch(path, person({ last_name: 'New', address: { postcode: 'NEW' } })),
      ok(firm.delete(path)),
    ]);
    const { data } = await ok(firm.post(`${path}/restore`));
    const address = (await book(firm)).find(({ id }: Fields) => id === data.address);
    const expected = updated.status === 200 ? ['New', 'NEW'] : ['Doe', ''];
    assert.deepEqual([data.last_name, address.data.postcode], expected);
  }
});

for (const [segment, field, tags] of [
  ['tags', 'tags', ['executor', 'trustee', 'witness']],
  ['custom-tags', 'custom_tags', ['vip-client', 'newsletter']],
] as const) {
  test(`${segment}: a tag is removed, the others stay in their order, and the entry is the answer`, async () => {
    const firm = await world.firm();
    const path = await make(firm, { tags: ['executor', 'trustee', 'witness'], custom_tags: firm.customTags });
    const before = await tagsOf(firm, path);
    const removed = tags[1];
    const answer = await ok(firm.delete(`${path}/${segment}/${removed}`));
    assert.deepEqual(await tagsOf(firm, path), { ...before, [field]: tags.filter((tag) => tag !== removed) });
    assert.deepEqual(answer, await ok(firm.get(path)));
  });

  test(`${segment}: a tag that the entry does not have is 404, and nothing changes`, async () => {
    const firm = await world.firm();
    const path = await make(firm, { [field]: [tags[0]] });
    const before = await stored(firm);
    const other = field === 'tags' ? 'newsletter' : 'executor';
    for (const tag of [tags[1], other, 'no-such-tag', tags[0].toUpperCase(), '%00', '%F0%9F%98%80', 'x'.repeat(150)]) {
      assertNotFound(await firm.delete(`${path}/${segment}/${tag}`));
    }
    assert.deepEqual(await stored(firm), before);
  });

  test(`${segment}: a tag is removed once, and can be added again`, async () => {
    const firm = await world.firm();
    const path = await make(firm, { [field]: [tags[0]] });
    await ok(firm.delete(`${path}/${segment}/${tags[0]}`));
    assertNotFound(await firm.delete(`${path}/${segment}/${tags[0]}`));
    await ok(firm.patch(path, person({ [field]: [tags[0]] })));
    assert.deepEqual((await ok(firm.get(path))).data[field], [tags[0]]);
  });
}

test('a custom tag that the company no longer has can still be removed', async () => {
  const firm = await world.firm();
  const path = await make(firm, { custom_tags: ['newsletter'] });
  await world.sql('DELETE FROM custom_tags WHERE company_id = $1', [firm.companyId]);
  await ok(firm.delete(`${path}/custom-tags/newsletter`));
  assert.deepEqual(await tagsOf(firm, path), { tags: [], custom_tags: [] });
});

test('a tag added and another removed at once: both happen', async () => {
  const firm = await world.firm();
  for (let i = 0; i < 10; i++) {
    const path = await make(firm, { tags: ['executor'] });
    await Promise.all([ok(firm.delete(`${path}/tags/executor`)), ok(firm.patch(path, person({ tags: ['trustee'] })))]);
    assert.deepEqual((await tagsOf(firm, path)).tags, ['trustee']);
  }
});

test('every change of state is a change of the record', async () => {
  const firm = await world.firm();
  const path = await make(firm, { tags: ['executor'], custom_tags: ['newsletter'] });
  let expected = 1;
  for (const change of [
    () => firm.delete(`${path}/tags/executor`),
    () => firm.delete(`${path}/custom-tags/newsletter`),
    () => firm.delete(path),
    () => firm.post(`${path}/restore`),
  ]) {
    world.clock.advance({ minutes: 1 });
    await ok(change());
    expected += 1;
    const [row] = await world.sql('SELECT version, updated_at FROM people WHERE company_id = $1', [firm.companyId]);
    assert.deepEqual(row, { version: expected, updated_at: new Date(world.clock.read().epochMilliseconds) });
  }
  world.clock.set('2026-06-01T09:00:00Z');
});

type Operation = { name: string; method: string; under: string; scope: string; deleted?: boolean };

const OPERATIONS: Operation[] = [
  { name: 'read', method: 'GET', under: '', scope: 'address_book:read' },
  { name: 'delete', method: 'DELETE', under: '', scope: 'address_book:write' },
  { name: 'restore', method: 'POST', under: '/restore', scope: 'address_book:write', deleted: true },
  { name: 'remove a tag', method: 'DELETE', under: '/tags/executor', scope: 'address_book:write' },
  { name: 'remove a custom tag', method: 'DELETE', under: '/custom-tags/newsletter', scope: 'address_book:write' },
];

for (const { name, method, under, scope, deleted } of OPERATIONS) {
  const prepare = async () => {
    const firm = await world.firm();
    const path = await make(firm, { tags: ['executor'], custom_tags: ['newsletter'] });
    if (deleted) await ok(firm.delete(path));
    const call = (caller: Caller, at: string, headers = {}) => caller.send(method, `${at}${under}`, undefined, headers);
    return { firm, path, call };
  };

  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const { firm, path, call } = await prepare();
    const stranger = await world.firm();
    const before = await stored(firm);
    const under = path.replace(firm.path, '');
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${stranger.path}${under}`));
    assertNotFound(await call(firm, `/cases/${await firm.openCase()}${under}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(firm, `/cases/${unknown}${under}`));
      assertNotFound(await call(firm, `${firm.path}/address-book/entry/${unknown}`));
    }
    assert.deepEqual(await stored(firm), before);
  });

  test(`${name} takes the scope ${scope} and no other, and asks for no Content-Type`, async () => {
    const { firm, path, call } = await prepare();
    const others = ['address_book:read', 'address_book:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await firm.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(world.anonymous, path)).status, 401);
    await ok(call(await firm.withScopes(scope), path, { 'content-type': undefined }));
  });

  test(`${name} is served under address_book too`, async () => {
    const { firm, path, call } = await prepare();
    await ok(call(firm, path.replace('address-book', 'address_book')));
  });
}

test('a body that is too large changes nothing', async () => {
  const firm = await world.firm();
  const path = await make(firm, { tags: ['executor'], custom_tags: ['newsletter'] });
  const large = '{}'.padEnd(1024 * 1024 + 1);
  for (const { method, under, deleted } of OPERATIONS.filter(({ method }) => method !== 'GET')) {
    if (deleted) await ok(firm.delete(path));
    const before = await stored(firm);
    assert.equal((await firm.send(method, `${path}${under}`, large)).status, 413);
    assert.deepEqual(await stored(firm), before);
    if (deleted) await ok(firm.post(`${path}/restore`));
  }
});

test('the specified operations keep their keys, and deleted_at is null for an entry that was restored', async () => {
  const firm = await world.firm();
  const path = await make(firm);
  await ok(firm.delete(path));
  await ok(firm.post(`${path}/restore`));
  const updated = await ok(firm.patch(path, person()));
  assert.deepEqual(Object.keys(updated).sort(), UPDATE_KEYS);
  assert.equal(updated.deleted_at, null);
  const created = await ok(firm.post(`${firm.path}/address-book/entry`, person()));
  assert.deepEqual(Object.keys(created).sort(), CREATE_KEYS);
  assert.deepEqual(Object.keys(created.data).sort(), CREATE_DATA_KEYS);
  for (const item of await book(firm)) assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
});
