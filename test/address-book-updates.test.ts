import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  ADDRESS,
  accepted,
  addressOf,
  app,
  assertNeverTaken,
  assertNoTrace,
  type Body,
  CHANGED,
  create,
  defaultTags,
  entries,
  entry,
  idsOf,
  item,
  list,
  NO_ADDRESS,
  OPTIONAL,
  OPTIONAL_NAMES,
  person,
  REQUIRED,
  UNKNOWN_ID,
  UNKNOWN_PERSON,
  update,
} from './harness/address-book.ts';
import type { TestCompany } from './harness/app.ts';
import { assertRefused } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';
import { overlapping } from './harness/overlap.ts';

/** Holds the entry until the updates wait for it, so that they truly meet. */
async function updateAtOnce(company: TestCompany, id: string, changes: Body[]) {
  const hold = 'SELECT 1 FROM people WHERE id = $1 FOR UPDATE';
  const requests = changes.map((change) => () => company.patch(entry(company, id), { ...PERSON, ...change }));
  return (await overlapping(app, [[hold, [id]]], requests)).map(accepted);
}

const union = (held: unknown, sent: unknown) =>
  [...new Set([...(held as string[]), ...((sent as string[] | null) ?? [])])].sort();

test('all faults are named together, those of the form and those that only the database knows', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { first_names, ...rest } = PERSON;
  const body = {
    ...rest,
    title: 5,
    middle_names: 'x'.repeat(1001),
    email: 'not-an-address',
    dob: '31/02/1970',
    occupation: 'a\u0000b',
    relationship: { [john.id]: '', [ann.id]: 'Sister', [UNKNOWN_ID]: 'Ghost', unknown: 'Ghost' },
    address: { postcode: 5, address_1: 'x'.repeat(1001), address_2: 'fine' },
    tags: ['witness', 'no-such-tag'],
    custom_tags: ['no-such-custom', 'vip-client'],
  };
  await assertNoTrace(company, body, (answer) =>
    assertRefused(answer, {
      title: 'type',
      first_names: 'required',
      middle_names: 'too_long',
      email: 'format',
      dob: 'format',
      occupation: 'invalid_character',
      [`relationship.${john.id}`]: 'too_short',
      [`relationship.${UNKNOWN_ID}`]: 'unknown',
      'relationship.unknown': 'unknown',
      'address.postcode': 'type',
      'address.address_1': 'too_long',
      'tags[1]': 'unknown',
      'custom_tags[0]': 'unknown',
    }),
  );
});

test('an unknown tag or customer is named beside one whose form is wrong', async () => {
  const company = await app.company();
  const [john] = company.customers;
  await assertNeverTaken(
    company,
    {
      tags: [7, 'no-such-tag'],
      custom_tags: ['no-such-custom', null],
      relationship: { [john.id]: 7, [UNKNOWN_ID]: 'Ghost' },
    },
    {
      'tags[0]': 'type',
      'tags[1]': 'unknown',
      'custom_tags[0]': 'unknown',
      'custom_tags[1]': 'required',
      [`relationship.${john.id}`]: 'type',
      [`relationship.${UNKNOWN_ID}`]: 'unknown',
    },
  );
});

test('too many of one field do not hide the faults of the others', async () => {
  const company = await app.company();
  const crowd = Array(101).fill('witness');
  await assertNeverTaken(company, { tags: crowd, email: 'not-an-address' }, { tags: 'too_many', email: 'format' });
  await assertNeverTaken(company, { tags: crowd, title: 5 }, { tags: 'too_many', title: 'type' });
  await assertNeverTaken(company, { tags: crowd, custom_tags: 5 }, { tags: 'too_many', custom_tags: 'type' });
});

test('no field can hold anything that breaks the service', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const crowd = Array(101).fill('witness');
  const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('', '\0', '\ud800', crowd));
  const under = (...keys: string[]) => fc.dictionary(fc.constantFrom(...keys), anything, { maxKeys: 2 });
  const field = fc.oneof(
    fc.tuple(
      fc.constantFrom(...REQUIRED, ...OPTIONAL_NAMES, 'relationship', 'address', 'tags', 'custom_tags'),
      anything,
    ),
    fc.tuple(fc.constantFrom('tags', 'custom_tags'), fc.array(anything, { maxLength: 2 })),
    fc.tuple(fc.constant('address'), under('address_1', 'postcode', 'id', 'company_id', 'created_at')),
    fc.tuple(fc.constant('relationship'), under(company.customers[0].id, UNKNOWN_ID, '0', '__proto__')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 2 }), async (fields) => {
      for (const path of [entries(company), entry(company, id)]) {
        const answer = await company.post(path, { ...PERSON, ...Object.fromEntries(fields) });
        assert.ok([200, 400].includes(answer.status), answer.text);
      }
    }),
    { numRuns: 200 },
  );
});

test('a dob in the future is named together with an unknown tag', async () => {
  const company = await app.company();
  await assertNeverTaken(
    company,
    { dob: '02/06/2026', tags: ['no-such-tag'], relationship: { [UNKNOWN_ID]: 'Ghost' } },
    { dob: 'out_of_range', 'tags[0]': 'unknown', [`relationship.${UNKNOWN_ID}`]: 'unknown' },
  );
});

test('a fault anywhere keeps every part of an update from being written', async () => {
  const company = await app.company();
  const good = {
    ...CHANGED,
    title: 'Dr',
    relationship: { [company.customers[1].id]: 'Friend' },
    address: { postcode: 'SW1A 1AA' },
    tags: ['trustee'],
    custom_tags: ['newsletter'],
  };
  await assertNeverTaken(company, { ...good, tags: ['trustee', 'no-such-tag'] }, { 'tags[1]': 'unknown' });
  await assertNeverTaken(company, { ...good, dob: 'x' }, { dob: 'format' });
});

test('unknown fields are ignored, those that only answers carry included', async () => {
  const company = await app.company();
  const extra = {
    id: UNKNOWN_ID,
    customer_case_id: UNKNOWN_ID,
    company_id: UNKNOWN_ID,
    created_at: '2000-01-01T00:00:00.000000Z',
    notes: 'no field of a request',
    is_company_global: true,
    data: { title: 'Dr' },
    colour: 'red',
  };
  const created = await create(company, { ...extra, address: { ...ADDRESS, town: 'Leeds', id: UNKNOWN_ID } });
  assert.notEqual(created.id, UNKNOWN_ID);
  assert.equal(created.customer_case_id, company.caseId);
  assert.equal(created.created_at, '2026-06-01T09:00:00.000000Z');
  const updated = await update(company, created.id, { ...extra, address: { town: 'York' } });
  assert.equal(updated.id, created.id);
  assert.equal(updated.company_id, company.companyId);
  assert.equal(updated.notes, null);
  assert.equal(updated.is_company_global, null);
  assert.equal(updated.created_at, created.created_at);
  assert.ok(!('colour' in updated.data));
  assert.deepEqual(await addressOf(company, created.id), ADDRESS);
});

test('unknown fields of an address are ignored, whatever they hold', async () => {
  const company = await app.company();
  for (const extra of [
    { id: 'x' },
    { created_at: 'never' },
    { company_id: 5, case_id: [] },
    { town: { name: 'Leeds' } },
  ]) {
    const { id } = await create(company, { address: { ...ADDRESS, ...extra } });
    await update(company, id, { address: { postcode: 'SW1A 1AA', ...extra } });
    assert.deepEqual(await addressOf(company, id), { ...ADDRESS, postcode: 'SW1A 1AA' });
  }
});

test('a number is not text, however many digits it has', async () => {
  const company = await app.company();
  for (const digits of ['7', '123456789012345', '12345678901234567890', '0.12345678901234567890'])
    for (const name of ['title', 'tel_1']) {
      const body = JSON.stringify({ ...PERSON, [name]: 'HERE' }).replace('"HERE"', digits);
      await assertNoTrace(company, body, (answer) => assertRefused(answer, { [name]: 'type' }));
    }
});

test('a field named __proto__ is ignored like any unknown one', async () => {
  const company = await app.company();
  const body = `{"__proto__":{"alias":"ghost"},"constructor":{"prototype":{"alias":"ghost"}},${JSON.stringify(PERSON).slice(1)}`;
  const { id } = accepted(await company.post(entries(company), body));
  accepted(await company.patch(entry(company, id), body));
  assert.equal((await person(company, id)).alias, null);
  assert.equal(({} as Body).alias, undefined);
});

test('the book lists people and addresses oldest first, updated or not', async () => {
  const company = await app.company();
  const created: { id: string; data: { address: string } }[] = [];
  for (let i = 0; i < 4; i++) {
    created.push(await create(company));
    app.clock.advance({ seconds: 1 });
  }
  const inOrder = async () => {
    const shown = await list(company);
    assert.deepEqual(
      idsOf(shown, 'person'),
      created.map(({ id }) => id),
    );
    assert.deepEqual(
      idsOf(shown, 'address'),
      created.map(({ data }) => data.address),
    );
    const rank = new Map(
      created.flatMap(({ id, data }, index) => [[id, index] as const, [data.address, index] as const]),
    );
    const ranks = shown.map(({ id }) => Number(rank.get(id)));
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => a - b),
    );
  };
  await inOrder();
  await update(company, String(created[0]?.id), { title: 'Dr', address: ADDRESS });
  await update(company, String(created[2]?.id), { title: 'Dr', address: ADDRESS });
  await inOrder();
});

test('entries made in one and the same instant keep the order of their creation', async () => {
  const company = await app.company();
  const made: string[] = [];
  for (let i = 0; i < 12; i++) made.push((await create(company)).id);
  assert.deepEqual(idsOf(await list(company), 'person'), made);
});

test('a create that is sent twice is two entries', async () => {
  const company = await app.company();
  const first = await create(company, OPTIONAL);
  const second = await create(company, OPTIONAL);
  assert.notEqual(first.id, second.id);
  assert.equal((await list(company)).length, 4);
});

test('an update changes its own entry only', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const bystander = await create(company, { ...OPTIONAL, relationship, address: ADDRESS, tags: ['witness'] });
  const { id } = await create(company, { ...OPTIONAL, relationship, address: ADDRESS, tags: ['witness'] });
  const before = [await item(company, bystander.id), await item(company, bystander.data.address)];
  await update(company, id, {
    ...CHANGED,
    relationship: {},
    address: null,
    tags: ['trustee'],
    custom_tags: ['newsletter'],
  });
  assert.deepEqual([await item(company, bystander.id), await item(company, bystander.data.address)], before);
});

test('after any series of updates an entry holds what the rules say', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });
  const some = <T>(values: Record<string, fc.Arbitrary<T>>) =>
    fc.record(values, { requiredKeys: [], noNullPrototype: true });
  const word = fc.constantFrom('Sister', 'Friend');
  const line = orNull(fc.constantFrom('one', 'two', ''));
  const change: fc.Arbitrary<Body> = some<unknown>({
    ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, orNull(fc.constantFrom(OPTIONAL[name], CHANGED[name]))])),
    relationship: orNull(some({ [john.id]: word, [ann.id]: word })),
    address: orNull(some({ address_1: line, address_2: line, address_3: line, postcode: line })),
    tags: orNull(fc.subarray(['witness', 'trustee', 'next-of-kin'])),
    custom_tags: orNull(fc.subarray(company.customTags)),
  });
  const rules: Record<string, (held: unknown, sent: unknown) => unknown> = {
    gender: (_, sent) => sent ?? '',
    marital_status: (_, sent) => sent ?? '',
    relationship: (_, sent) => sent ?? {},
    tags: union,
    custom_tags: union,
    address: (held, sent) => {
      const lines = Object.entries(sent ?? NO_ADDRESS).map(([name, value]) => [name, value ?? '']);
      return { ...(held as Body), ...Object.fromEntries(lines) };
    },
  };
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      const { id, data } = await create(company);
      const { entity_id: _, ...names } = PERSON;
      const expected: Body = { ...names, ...UNKNOWN_PERSON, address: NO_ADDRESS };
      for (const sent of changes) {
        await update(company, id, sent);
        for (const [name, value] of Object.entries(sent))
          expected[name] = rules[name] ? rules[name](expected[name], value) : value;
      }
      const shown = await person(company, id);
      assert.equal(shown.address, data.address);
      const { tags, custom_tags, ...rest } = shown;
      assert.deepEqual(
        { ...rest, address: await addressOf(company, id), tags: tags.sort(), custom_tags: custom_tags.sort() },
        expected,
      );
    }),
    { numRuns: 25 },
  );
});

test('two concurrent updates that replace relationship never mix', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company);
  const wanted = [{ [john.id]: 'Sister' }, { [ann.id]: 'Friend' }];
  for (const start of [{}, { [john.id]: 'old' }, { [ann.id]: 'old' }, { [john.id]: 'old', [ann.id]: 'old' }]) {
    await update(company, id, { relationship: start });
    const answers = await updateAtOnce(
      company,
      id,
      wanted.map((relationship) => ({ relationship })),
    );
    assert.deepEqual(
      answers.map(({ data }) => data.relationship),
      wanted,
    );
    const { relationship } = await person(company, id);
    assert.equal(Object.keys(relationship).length, 1, JSON.stringify(relationship));
    assert.ok(wanted.some((one) => isDeepStrictEqual(one, relationship)));
  }
});

test('concurrent updates of the whole entry never mix, the address included', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company);
  const whole = (mark: string) => ({
    title: mark,
    alias: mark,
    relationship: Number(mark) % 2 ? { [john.id]: mark } : { [ann.id]: mark },
    address: { address_1: mark, postcode: mark },
  });
  const marks = Array.from({ length: 6 }, (_, index) => String(index));
  const answers = await updateAtOnce(company, id, marks.map(whole));
  for (const [index, { data }] of answers.entries()) {
    const { title, alias, relationship } = whole(String(index));
    assert.deepEqual([data.title, data.alias, data.relationship], [title, alias, relationship]);
  }
  const shown = await person(company, id);
  const last = whole(shown.title);
  assert.ok(marks.includes(shown.title));
  assert.deepEqual([shown.alias, shown.relationship], [last.alias, last.relationship]);
  assert.deepEqual(await addressOf(company, id), { ...NO_ADDRESS, ...last.address });
});

test('twenty concurrent updates that each add a different tag leave all twenty', async () => {
  const company = await app.company();
  const tags = (await defaultTags()).slice(0, 20);
  const { id } = await create(company);
  const changes = tags.map((tag) => ({ tags: [tag] }));
  await updateAtOnce(company, id, changes);
  assert.deepEqual((await person(company, id)).tags.sort(), tags);
});

test('concurrent updates that add the same tag leave it once', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await updateAtOnce(company, id, Array(6).fill({ tags: ['witness'], custom_tags: ['vip-client'] }));
  const { tags, custom_tags } = await person(company, id);
  assert.deepEqual([tags, custom_tags], [['witness'], ['vip-client']]);
});

test('concurrent updates of different fields are all kept', async () => {
  const company = await app.company();
  const { id } = await create(company, { ...OPTIONAL, address: ADDRESS });
  const before = await person(company, id);
  const changes: Body[] = [
    ...OPTIONAL_NAMES.map((name) => ({ [name]: CHANGED[name] })),
    ...Object.keys(ADDRESS).map((name) => ({ address: { [name]: 'changed' } })),
    { relationship: { [company.customers[0].id]: 'Sister' } },
  ];
  await updateAtOnce(company, id, changes);
  assert.deepEqual(await person(company, id), {
    ...before,
    ...CHANGED,
    relationship: { [company.customers[0].id]: 'Sister' },
  });
  assert.deepEqual(
    await addressOf(company, id),
    Object.fromEntries(Object.keys(ADDRESS).map((name) => [name, 'changed'])),
  );
});

test('concurrent creates are each written once, with an address each', async () => {
  const company = await app.company();
  const answers = await Promise.all(Array.from({ length: 10 }, () => company.post(entries(company), PERSON)));
  const created = answers.map(accepted);
  const shown = await list(company);
  assert.deepEqual(idsOf(shown, 'person').sort(), created.map(({ id }) => id).sort());
  assert.deepEqual(idsOf(shown, 'address').sort(), created.map(({ data }) => data.address).sort());
  assert.equal(new Set(shown.map(({ id }) => id)).size, 20);
});
