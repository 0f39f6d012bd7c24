import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, assertNeverTaken, assertNoTrace, create, person, UNKNOWN_ID, update } from './harness/address-book.ts';
import { assertRefused } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';

test('relationship holds a word for each customer of the case', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const relationship = { [john.id]: 'Sister', [ann.id]: '__proto__' };
  const { id, data } = await create(company, { relationship });
  assert.deepEqual(data.relationship, relationship);
  assert.deepEqual((await person(company, id)).relationship, relationship);
});

test('an update that sends relationship replaces it whole', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company, { relationship: { [john.id]: 'Sister' } });
  for (const relationship of [
    { [ann.id]: 'Friend' },
    { [ann.id]: 'Foe', [john.id]: 'Friend' },
    { [john.id]: 'Aunt' },
  ]) {
    assert.deepEqual((await update(company, id, { relationship })).data.relationship, relationship);
    assert.deepEqual((await person(company, id)).relationship, relationship);
  }
});

test('an update that does not send relationship leaves it', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [company.customers[1].id]: 'Friend' };
  const { id } = await create(company, { relationship });
  assert.deepEqual((await update(company, id, { title: 'Dr' })).data.relationship, relationship);
  assert.deepEqual((await person(company, id)).relationship, relationship);
});

for (const empty of [null, {}])
  test(`relationship ${JSON.stringify(empty)} is none: on create {}, on update it clears`, async () => {
    const company = await app.company();
    assert.deepEqual((await create(company, { relationship: empty })).data.relationship, {});
    const { id } = await create(company, { relationship: { [company.customers[0].id]: 'Sister' } });
    assert.deepEqual((await update(company, id, { relationship: empty })).data.relationship, {});
    assert.deepEqual((await person(company, id)).relationship, {});
  });

test('the relationship of one entry is not that of another', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const sister = await create(company, { relationship: { [key]: 'Sister' } });
  const friend = await create(company, { relationship: { [key]: 'Friend' } });
  await update(company, friend.id, { relationship: {} });
  assert.deepEqual((await person(company, sister.id)).relationship, { [key]: 'Sister' });
});

test('a relationship word has 1 to 100 characters, counted in code points', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const longest = '👭'.repeat(100);
  for (const word of ['x', longest]) {
    const { id } = await create(company, { relationship: { [key]: word } });
    assert.equal((await update(company, id, { relationship: { [key]: word } })).data.relationship[key], word);
    assert.equal((await person(company, id)).relationship[key], word);
  }
  await assertNeverTaken(company, { relationship: { [key]: `${longest}x` } }, { [`relationship.${key}`]: 'too_long' });
  await assertNeverTaken(company, { relationship: { [key]: '' } }, { [`relationship.${key}`]: 'too_short' });
});

test('a relationship word that is not text is refused', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  for (const word of [5, true, ['Sister'], {}])
    await assertNeverTaken(company, { relationship: { [key]: word } }, { [`relationship.${key}`]: 'type' });
  await assertNeverTaken(company, { relationship: { [key]: null } }, { [`relationship.${key}`]: 'required' });
  await assertNeverTaken(
    company,
    { relationship: { [key]: 'a\u0000' } },
    { [`relationship.${key}`]: 'invalid_character' },
  );
});

test('a relationship that is not an object is refused', async () => {
  const company = await app.company();
  for (const relationship of ['Sister', 5, true, [], ['Sister']])
    await assertNeverTaken(company, { relationship }, { relationship: 'type' });
});

test('a relationship with a customer of another case of the company is refused', async () => {
  const company = await app.company();
  const stranger = await company.addCustomer(await company.openCase(), { first_names: 'Joan' });
  await assertNeverTaken(
    company,
    { relationship: { [stranger]: 'Sister' } },
    { [`relationship.${stranger}`]: 'unknown' },
  );
});

test('a relationship with a customer of another company is refused', async () => {
  const company = await app.company();
  const stranger = (await app.company()).customers[0].id;
  await assertNeverTaken(
    company,
    { relationship: { [stranger]: 'Sister' } },
    { [`relationship.${stranger}`]: 'unknown' },
  );
});

test('a relationship with an entry, an address or the case in place of a customer is refused', async () => {
  const company = await app.company();
  const { id, data } = await create(company);
  for (const key of [id, data.address, company.caseId, company.companyId])
    await assertNeverTaken(company, { relationship: { [key]: 'Sister' } }, { [`relationship.${key}`]: 'unknown' });
});

for (const key of [UNKNOWN_ID, 'not-a-uuid', '0', '', 'john@client.example', 'constructor', 'toString', '__proto__'])
  test(`a relationship with "${key}" is refused`, async () => {
    const company = await app.company();
    const body = JSON.stringify({ ...PERSON, relationship: {} }).replace('{}', `{${JSON.stringify(key)}:"Sister"}`);
    await assertNoTrace(company, body, (answer) => assertRefused(answer, { [`relationship.${key}`]: 'unknown' }));
  });

test('a relationship key with a NUL character is refused', async () => {
  const company = await app.company();
  await assertNoTrace(company, { ...PERSON, relationship: { 'a\u0000': 'Sister' } }, (answer) => {
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.errors[0].field, /^relationship/);
  });
});

test('one customer under two spellings of its identifier is refused', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  await assertNoTrace(
    company,
    { ...PERSON, relationship: { [key]: 'Sister', [key.toUpperCase()]: 'Aunt' } },
    (answer) => {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.body.errors[0].field, /^relationship/);
    },
  );
});

test('a customer identifier in capitals is the same customer', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const relationship = { [key.toUpperCase()]: 'Sister' };
  const { id, data } = await create(company, { relationship });
  assert.deepEqual(data.relationship, { [key]: 'Sister' });
  assert.deepEqual((await update(company, id, { relationship })).data.relationship, { [key]: 'Sister' });
});

test('one good relationship does not let a bad one through', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [UNKNOWN_ID]: 'Ghost' };
  await assertNeverTaken(company, { relationship }, { [`relationship.${UNKNOWN_ID}`]: 'unknown' });
});

test('a relationship takes at most 100 customers', async () => {
  const company = await app.company();
  const keys = await Promise.all(Array.from({ length: 101 }, () => company.addCustomer(company.caseId, {})));
  const related = (count: number) => Object.fromEntries(keys.slice(0, count).map((key) => [key, 'Friend']));
  const { id, data } = await create(company, { relationship: related(100) });
  assert.deepEqual(data.relationship, related(100));
  assert.deepEqual((await person(company, id)).relationship, related(100));
  await assertNeverTaken(company, { relationship: related(101) }, { relationship: 'too_many' });
});
