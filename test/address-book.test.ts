import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ADDRESS,
  accepted,
  addressOf,
  app,
  assertNeverTaken,
  assertNoTrace,
  type Body,
  bookOf,
  CHANGED,
  create,
  item,
  list,
  NO_ADDRESS,
  OPTIONAL,
  OPTIONAL_NAMES,
  person,
  REQUIRED,
  SPELLINGS,
  UNKNOWN_PERSON,
  UPDATE_METHODS,
  update,
} from './harness/address-book.ts';
import { assertRefused } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';
import { character } from './harness/characters.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FREE_TEXTS = ['title', 'first_names', 'last_name', ...OPTIONAL_NAMES].filter((f) => f !== 'email' && f !== 'dob');

test('a case without entries has an empty book: its customers are not repeated in it', async () => {
  const company = await app.company();
  assert.deepEqual(await list(company), []);
});

test('a create answers with exactly the fields of the create response', async () => {
  app.clock.set('2026-06-01T09:00:00.123456Z');
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [company.customers[1].id]: 'Sister-in-law' };
  const { id, data, ...rest } = await create(company, {
    ...OPTIONAL,
    relationship,
    address: ADDRESS,
    tags: ['executor'],
    custom_tags: ['vip-client'],
  });
  assert.match(id, UUID_V7);
  assert.deepEqual(rest, {
    entity_id: 'person',
    customer_case_id: company.caseId,
    created_at: '2026-06-01T09:00:00.123456Z',
    updated_at: '2026-06-01T09:00:00.123456Z',
  });
  const { address, ...fields } = data;
  assert.match(address, UUID_V7);
  assert.deepEqual(fields, {
    title: 'Mrs',
    last_name: 'Doe',
    first_names: 'Jane',
    relationship,
    their_pronoun: 'hers',
    them_pronoun: 'her',
    they_pronoun: 'she',
  });
});

test('a create without pronouns and relationship answers with null and {}', async () => {
  const company = await app.company();
  const { address, ...fields } = (await create(company)).data;
  assert.match(address, UUID_V7);
  assert.deepEqual(fields, {
    title: 'Mrs',
    last_name: 'Doe',
    first_names: 'Jane',
    relationship: {},
    their_pronoun: null,
    them_pronoun: null,
    they_pronoun: null,
  });
});

test('the book shows a person with every stored field, and its address as an item of its own', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const sent = { relationship, tags: ['executor', 'witness'], custom_tags: ['vip-client'] };
  const { id, data } = await create(company, { ...OPTIONAL, ...sent, address: ADDRESS });
  const { entity_id, ...names } = PERSON;
  const shown = await list(company);
  assert.equal(shown.length, 2);
  assert.deepEqual(
    shown.find((candidate) => candidate.id === id),
    { id, entity_id, data: { ...names, ...OPTIONAL, ...sent, address: data.address } },
  );
  assert.deepEqual(
    shown.find((candidate) => candidate.id === data.address),
    { id: data.address, entity_id: 'address', data: ADDRESS },
  );
});

test('the book has "" for an unknown gender, marital status and address field, null for other unknown fields', async () => {
  const company = await app.company();
  const { id, data } = await create(company);
  const { entity_id, ...names } = PERSON;
  assert.deepEqual(await item(company, id), {
    id,
    entity_id,
    data: { ...names, ...UNKNOWN_PERSON, address: data.address },
  });
  assert.deepEqual(await item(company, data.address), { id: data.address, entity_id: 'address', data: NO_ADDRESS });
});

test('an update answers with exactly the fields of the update response', async () => {
  const company = await app.company();
  const { id, created_at } = await create(company, {
    address: ADDRESS,
    tags: ['witness'],
    custom_tags: ['newsletter'],
  });
  app.clock.set('2026-06-02T10:11:12.131415Z');
  const relationship = { [company.customers[1].id]: 'Cousin' };
  const names = { title: 'Dr', first_names: 'Janet', last_name: 'Roe' };
  assert.deepEqual(await update(company, id, { ...names, ...OPTIONAL, relationship }), {
    id,
    customer_case_id: company.caseId,
    entity_id: 'person',
    data: { ...names, ...OPTIONAL, relationship },
    created_at,
    updated_at: '2026-06-02T10:11:12.131415Z',
    customer_person_id: null,
    is_company_global: null,
    user_id: null,
    company_id: company.companyId,
    deleted_at: null,
    notes: null,
    copied_from_id: null,
    transferred_from_user_id: null,
    transferred_at: null,
    is_user_global: null,
    partner_record_id: null,
    partner_card_id: null,
    partner_person_id: null,
  });
});

test('an update answers with null for every field of data that the entry does not hold', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const { title, first_names, last_name } = PERSON;
  assert.deepEqual((await update(company, id)).data, {
    title,
    first_names,
    last_name,
    relationship: {},
    ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, null])),
  });
});

test('an update answers with what the entry holds, sent in this request or not', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const { id } = await create(company, { ...OPTIONAL, relationship, address: ADDRESS });
  const { title, first_names, last_name } = PERSON;
  const { data } = await update(company, id);
  assert.deepEqual(data, { title, first_names, last_name, ...OPTIONAL, relationship });
});

for (const spelling of SPELLINGS) {
  const other = SPELLINGS.find((candidate) => candidate !== spelling);

  test(`${spelling} serves the list`, async () => {
    const company = await app.company();
    const { id, data } = await create(company);
    const shown = await list(company, bookOf(company.caseId, spelling));
    assert.deepEqual(shown.map((candidate) => candidate.id).sort(), [id, data.address].sort());
    assert.deepEqual(shown, await list(company, bookOf(company.caseId, other)));
  });

  test(`${spelling} serves the create`, async () => {
    const company = await app.company();
    const { id } = accepted(
      await company.post(`${bookOf(company.caseId, spelling)}/entry`, { ...PERSON, title: 'Lady' }),
    );
    assert.equal((await person(company, id)).title, 'Lady');
    assertRefused(await company.post(`${bookOf(company.caseId, spelling)}/entry`, { ...PERSON, email: '-' }), {
      email: 'format',
    });
  });

  for (const method of UPDATE_METHODS)
    test(`${spelling} serves the update by ${method}`, async () => {
      const company = await app.company();
      const created = await create(company, { alias: 'kept' });
      const path = `${bookOf(company.caseId, spelling)}/entry/${created.id}`;
      const updated = accepted(await company.send(method, path, { ...PERSON, title: 'Lady', tags: ['witness'] }));
      assert.equal(updated.id, created.id);
      assert.equal(updated.company_id, company.companyId);
      assert.equal(updated.data.title, 'Lady');
      const { title, alias, tags } = await person(company, created.id);
      assert.deepEqual([title, alias, tags], ['Lady', 'kept', ['witness']]);
      assert.equal((await list(company)).length, 2);
      assertRefused(await company.send(method, path, { ...PERSON, email: '-' }), { email: 'format' });
    });
}

for (const name of REQUIRED) {
  test(`${name} is required on create and on update`, async () => {
    const company = await app.company();
    const { [name]: _, ...body } = PERSON as Body;
    await assertNoTrace(company, body, (answer) => assertRefused(answer, { [name]: 'required' }));
  });

  test(`${name} that is null or not text is refused`, async () => {
    const company = await app.company();
    for (const value of [null, 5, true, ['x'], { x: 1 }])
      await assertNoTrace(company, { ...PERSON, [name]: value }, (answer) => {
        assert.equal(answer.status, 400, answer.text);
        assert.equal(answer.body.code, 'invalid_request');
        assert.deepEqual([...new Set(answer.body.errors.map((fault: Body) => fault.field))], [name]);
        assert.equal(answer.body.errors[0].code, value === null ? 'required' : 'type');
      });
  });
}

test('entity_id must be person', async () => {
  const company = await app.company();
  for (const entity_id of ['address', 'Person', 'person ', '', 'company'])
    await assertNeverTaken(company, { entity_id }, { entity_id: 'not_allowed' });
});

test('an update changes title, first_names and last_name', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await update(company, id, { title: 'Dr', first_names: 'Janet', last_name: 'Roe' });
  const { title, first_names, last_name } = await person(company, id);
  assert.deepEqual([title, first_names, last_name], ['Dr', 'Janet', 'Roe']);
});

for (const name of OPTIONAL_NAMES) {
  const unknown = UNKNOWN_PERSON[name as keyof typeof UNKNOWN_PERSON];

  test(`a create with ${name} stores it alone`, async () => {
    const company = await app.company();
    const { id, data } = await create(company, { [name]: OPTIONAL[name] });
    const { entity_id, ...names } = PERSON;
    assert.deepEqual(await person(company, id), {
      ...names,
      ...UNKNOWN_PERSON,
      address: data.address,
      [name]: OPTIONAL[name],
    });
  });

  test(`null for ${name} on create is as if it was not sent`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [name]: null });
    assert.equal((await person(company, id))[name], unknown);
  });

  test(`an update that does not send ${name} leaves it and changes the others`, async () => {
    const company = await app.company();
    const { id } = await create(company, OPTIONAL);
    const before = await person(company, id);
    const { [name]: _, ...others } = CHANGED;
    const { data } = await update(company, id, others);
    assert.equal(data[name], OPTIONAL[name]);
    assert.deepEqual(await person(company, id), { ...before, ...others });
  });

  test(`null for ${name} on update clears it and nothing else`, async () => {
    const company = await app.company();
    const { id } = await create(company, OPTIONAL);
    const before = await person(company, id);
    const { data } = await update(company, id, { [name]: null });
    assert.equal(data[name], null);
    assert.deepEqual(await person(company, id), { ...before, [name]: unknown });
  });

  test(`${name} that is not a text is refused`, async () => {
    const company = await app.company();
    for (const value of [5, true, ['x'], { x: 1 }])
      await assertNeverTaken(company, { [name]: value }, { [name]: 'type' });
  });
}

test('one update clears some fields, sets others, and replaces relationship and address, each as it was sent', async () => {
  const company = await app.company();
  const [first, second] = company.customers;
  const { id } = await create(company, { ...OPTIONAL, relationship: { [first.id]: 'sister' }, address: ADDRESS });
  const before = await person(company, id);
  const relationship = { [second.id]: 'the "other" one', [first.id]: 'aunt' };
  const { data } = await update(company, id, {
    known_as: null,
    dob: null,
    alias: 'JD',
    relationship,
    address: { address_2: null, postcode: 'AB1 2CD' },
  });
  assert.deepEqual([data.known_as, data.dob, data.alias], [null, null, 'JD']);
  assert.deepEqual(Object.entries(data.relationship), Object.entries(relationship));
  assert.deepEqual(await person(company, id), { ...before, known_as: null, dob: null, alias: 'JD', relationship });
  assert.deepEqual(await addressOf(company, id), { ...ADDRESS, address_2: '', postcode: 'AB1 2CD' });
});

for (const name of FREE_TEXTS) {
  test(`${name} takes 1000 characters, counted in code points, and not one more`, async () => {
    const company = await app.company();
    const longest = '👩'.repeat(1000);
    const created = await create(company, { [name]: longest });
    assert.equal((await person(company, created.id))[name], longest);
    const { id } = await create(company);
    assert.equal((await update(company, id, { [name]: longest })).data[name], longest);
    await assertNeverTaken(company, { [name]: `${longest}x` }, { [name]: 'too_long' });
  });

  test(`${name} with a NUL character or half a surrogate pair is refused`, async () => {
    const company = await app.company();
    for (const value of ['a\u0000b', 'a\ud83d', '\udc69b'])
      await assertNeverTaken(company, { [name]: value }, { [name]: 'invalid_character' });
  });
}

test('every text comes back exactly as it was sent', async () => {
  const company = await app.company();
  const text = fc.string({ unit: character, minLength: 1, maxLength: 30 });
  const texts = fc.record(Object.fromEntries(FREE_TEXTS.map((name) => [name, text])));
  await fc.assert(
    fc.asyncProperty(texts, texts, async (first, second) => {
      const { id } = await create(company, first);
      const created = await person(company, id);
      assert.deepEqual(created, { ...created, ...first });
      await update(company, id, second);
      assert.deepEqual(await person(company, id), { ...created, ...second });
    }),
    { numRuns: 20 },
  );
});
