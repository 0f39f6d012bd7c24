import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused, ok, storedRows } from './harness/assert.ts';
import type { Answer, Caller } from './harness/http.ts';

const app = await startApp();

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

/** Makes an entry and returns its path. */
const make = async (company: TestCompany, fields: Fields = {}): Promise<string> =>
  `${company.path}/address-book/entry/${(await ok(company.post(`${company.path}/address-book/entry`, person(fields)))).id}`;

const book = (company: TestCompany) => ok(company.get(`${company.path}/address-book`));

const tagsOf = async (company: TestCompany, path: string) => {
  const { tags, custom_tags } = (await ok(company.get(path))).data;
  return { tags, custom_tags };
};

const stored = (company: TestCompany) => storedRows(app, company, 'people', 'addresses');

const assertNotPossible = (answer: Answer) => assertRefused(answer, { deleted_at: 'invalid_state' });

test('one entry reads as the address book shows the person, with its times', async () => {
  const company = await app.company();
  const path = await make(company, {
    dob: '31/01/1970',
    gender: 'female',
    relationship: { [company.customers[0].id]: 'sister' },
    address: { postcode: 'AB1 2CD' },
    tags: ['executor'],
    custom_tags: ['newsletter'],
  });
  const { created_at, updated_at, external_id, ...item } = await ok(company.get(path));
  assert.deepEqual([created_at, updated_at, external_id], [NOW, NOW, null]);
  assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
  const [shown, address] = await book(company);
  assert.deepEqual(item, shown);
  assert.equal(item.data.address, address.id);
});

test('an address has no entry of its own to be read or deleted', async () => {
  const company = await app.company();
  await make(company);
  const [, address] = await book(company);
  const path = `${company.path}/address-book/entry/${address.id}`;
  assertNotFound(await company.get(path));
  assertNotFound(await company.delete(path));
});

test('a deleted entry answers with when it was deleted, and is out of the book with its address', async () => {
  const company = await app.company();
  const path = await make(company);
  await make(company, { first_names: 'John' });
  const before = await book(company);
  assert.deepEqual(await ok(company.delete(path)), { id: path.split('/').at(-1), deleted_at: NOW });
  assert.deepEqual(await book(company), before.slice(2));
});

test('a deleted entry is unknown to reads, updates, the removal of tags and a second deletion', async () => {
  const company = await app.company();
  const path = await make(company, { tags: ['executor'], custom_tags: ['newsletter'] });
  await ok(company.delete(path));
  const before = await stored(company);
  for (const at of [path, path.replace('address-book', 'address_book')]) {
    assertNotFound(await company.get(at));
    assertNotFound(await company.delete(at));
    assertNotFound(await company.delete(`${at}/tags/executor`));
    assertNotFound(await company.delete(`${at}/custom-tags/newsletter`));
    for (const method of ['PATCH', 'POST']) {
      assertNotFound(await company.send(method, at, person({ address: { postcode: 'X' } })));
      assertNotFound(await company.send(method, at, person({ tags: ['no-such-tag'] })));
      assertNotFound(await company.send(method, at, {}));
    }
  }
  assert.deepEqual(await stored(company), before);
});

test('a restored entry is what it was, in its old place, with its address, relationships and tags', async () => {
  const company = await app.company();
  const path = await make(company, {
    relationship: { [company.customers[1].id]: 'friend', [company.customers[0].id]: 'sister' },
    address: { address_1: '1 High Street' },
    tags: ['executor', 'trustee'],
  });
  await make(company);
  const before = await book(company);
  await ok(company.delete(path));
  const restored = await ok(company.post(`${path}/restore`));
  assert.deepEqual(restored, await ok(company.get(path)));
  assert.deepEqual(await book(company), before);
});

test('an entry that is not deleted cannot be restored', async () => {
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

test('a concurrent update and deletion: an update that was refused left nothing behind', async () => {
  const company = await app.company();
  for (let i = 0; i < 10; i++) {
    const path = await make(company);
    const [updated] = await Promise.all([
      company.patch(path, person({ last_name: 'New', address: { postcode: 'NEW' } })),
      ok(company.delete(path)),
    ]);
    const { data } = await ok(company.post(`${path}/restore`));
    const address = (await book(company)).find(({ id }: Fields) => id === data.address);
    const expected = updated.status === 200 ? ['New', 'NEW'] : ['Doe', ''];
    assert.deepEqual([data.last_name, address.data.postcode], expected);
  }
});

for (const [segment, field, tags] of [
  ['tags', 'tags', ['executor', 'trustee', 'witness']],
  ['custom-tags', 'custom_tags', ['vip-client', 'newsletter']],
] as const) {
  test(`${segment}: a tag is removed, the others stay in their order, and the entry is the answer`, async () => {
    const company = await app.company();
    const path = await make(company, { tags: ['executor', 'trustee', 'witness'], custom_tags: company.customTags });
    const before = await tagsOf(company, path);
    const removed = tags[1];
    const answer = await ok(company.delete(`${path}/${segment}/${removed}`));
    assert.deepEqual(await tagsOf(company, path), { ...before, [field]: tags.filter((tag) => tag !== removed) });
    assert.deepEqual(answer, await ok(company.get(path)));
  });

  test(`${segment}: a tag that the entry does not have is 404, and nothing changes`, async () => {
    const company = await app.company();
    const path = await make(company, { [field]: [tags[0]] });
    const before = await stored(company);
    const other = field === 'tags' ? 'newsletter' : 'executor';
    for (const tag of [tags[1], other, 'no-such-tag', tags[0].toUpperCase(), '%00', '%F0%9F%98%80', 'x'.repeat(150)]) {
      assertNotFound(await company.delete(`${path}/${segment}/${tag}`));
    }
    assert.deepEqual(await stored(company), before);
  });

  test(`${segment}: a tag is removed once, and can be added again`, async () => {
    const company = await app.company();
    const path = await make(company, { [field]: [tags[0]] });
    await ok(company.delete(`${path}/${segment}/${tags[0]}`));
    assertNotFound(await company.delete(`${path}/${segment}/${tags[0]}`));
    await ok(company.patch(path, person({ [field]: [tags[0]] })));
    assert.deepEqual((await ok(company.get(path))).data[field], [tags[0]]);
  });
}

test('a custom tag that the company no longer has can still be removed', async () => {
  const company = await app.company();
  const path = await make(company, { custom_tags: ['newsletter'] });
  await app.sql('DELETE FROM custom_tags WHERE company_id = $1', [company.companyId]);
  await ok(company.delete(`${path}/custom-tags/newsletter`));
  assert.deepEqual(await tagsOf(company, path), { tags: [], custom_tags: [] });
});

test('a tag added and another removed concurrently: both happen', async () => {
  const company = await app.company();
  for (let i = 0; i < 10; i++) {
    const path = await make(company, { tags: ['executor'] });
    await Promise.all([
      ok(company.delete(`${path}/tags/executor`)),
      ok(company.patch(path, person({ tags: ['trustee'] }))),
    ]);
    assert.deepEqual((await tagsOf(company, path)).tags, ['trustee']);
  }
});

test('every change of state is a change of the record', async () => {
  const company = await app.company();
  const path = await make(company, { tags: ['executor'], custom_tags: ['newsletter'] });
  let expected = 1;
  for (const change of [
    () => company.delete(`${path}/tags/executor`),
    () => company.delete(`${path}/custom-tags/newsletter`),
    () => company.delete(path),
    () => company.post(`${path}/restore`),
  ]) {
    app.clock.advance({ minutes: 1 });
    await ok(change());
    expected += 1;
    const [row] = await app.sql('SELECT version, updated_at FROM people WHERE company_id = $1', [company.companyId]);
    assert.deepEqual(row, { version: expected, updated_at: new Date(app.clock.read().epochMilliseconds) });
  }
  app.clock.set('2026-06-01T09:00:00Z');
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
    const company = await app.company();
    const path = await make(company, { tags: ['executor'], custom_tags: ['newsletter'] });
    if (deleted) await ok(company.delete(path));
    const call = (caller: Caller, at: string, headers = {}) => caller.send(method, `${at}${under}`, undefined, headers);
    return { company, path, call };
  };

  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const { company, path, call } = await prepare();
    const stranger = await app.company();
    const before = await stored(company);
    const under = path.replace(company.path, '');
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${stranger.path}${under}`));
    assertNotFound(await call(company, `/cases/${await company.openCase()}${under}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(company, `/cases/${unknown}${under}`));
      assertNotFound(await call(company, `${company.path}/address-book/entry/${unknown}`));
    }
    assert.deepEqual(await stored(company), before);
  });

  test(`${name} takes the scope ${scope} and no other, and asks for no Content-Type`, async () => {
    const { company, path, call } = await prepare();
    const others = ['address_book:read', 'address_book:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await company.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(app.anonymous, path)).status, 401);
    await ok(call(await company.withScopes(scope), path, { 'content-type': undefined }));
  });

  test(`${name} is served under address_book too`, async () => {
    const { company, path, call } = await prepare();
    await ok(call(company, path.replace('address-book', 'address_book')));
  });
}

test('a body that is too large changes nothing', async () => {
  const company = await app.company();
  const path = await make(company, { tags: ['executor'], custom_tags: ['newsletter'] });
  const large = '{}'.padEnd(1024 * 1024 + 1);
  for (const { method, under, deleted } of OPERATIONS.filter(({ method }) => method !== 'GET')) {
    if (deleted) await ok(company.delete(path));
    const before = await stored(company);
    assert.equal((await company.send(method, `${path}${under}`, large)).status, 413);
    assert.deepEqual(await stored(company), before);
    if (deleted) await ok(company.post(`${path}/restore`));
  }
});

test('the specified operations keep their keys, and deleted_at is null for an entry that was restored', async () => {
  const company = await app.company();
  const path = await make(company);
  await ok(company.delete(path));
  await ok(company.post(`${path}/restore`));
  const updated = await ok(company.patch(path, person()));
  assert.deepEqual(Object.keys(updated).sort(), UPDATE_KEYS);
  assert.equal(updated.deleted_at, null);
  const created = await ok(company.post(`${company.path}/address-book/entry`, person()));
  assert.deepEqual(Object.keys(created).sort(), CREATE_KEYS);
  assert.deepEqual(Object.keys(created.data).sort(), CREATE_DATA_KEYS);
  for (const item of await book(company)) assert.deepEqual(Object.keys(item).sort(), ITEM_KEYS);
});
