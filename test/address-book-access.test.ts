import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ADDRESS,
  accepted,
  app,
  assertNoTrace,
  bookOf,
  create,
  entries,
  entry,
  list,
  person,
  SPELLINGS,
  UNKNOWN_ID,
  UPDATE_METHODS,
} from './harness/address-book.ts';
import { assertNotFound } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';

test('a case shows only its own entries', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const here = await create(company);
  const there = accepted(await company.post(`${bookOf(otherCase)}/entry`, PERSON));
  assert.equal(there.customer_case_id, otherCase);
  assert.deepEqual((await list(company)).map(({ id }) => id).sort(), [here.id, here.data.address].sort());
  const theirs = await list(company, bookOf(otherCase));
  assert.deepEqual(theirs.map(({ id }) => id).sort(), [there.id, there.data.address].sort());
});

test('an entry of another case of the company is not found through this one, whatever the body', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS)
    for (const method of UPDATE_METHODS)
      for (const body of [{ ...PERSON, title: 'stolen' }, {}])
        assertNotFound(await company.send(method, `${bookOf(otherCase, spelling)}/entry/${id}`, body));
  assert.deepEqual(await list(company), before);
});

test('a case of another company does not exist', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    assertNotFound(await stranger.get(book));
    for (const body of [PERSON, {}]) {
      assertNotFound(await stranger.post(`${book}/entry`, body));
      for (const method of UPDATE_METHODS) {
        assertNotFound(await stranger.send(method, `${book}/entry/${id}`, body));
        assertNotFound(await stranger.send(method, `${bookOf(stranger.caseId, spelling)}/entry/${id}`, body));
      }
    }
  }
  assert.deepEqual(await list(company), before);
  assert.deepEqual(await list(stranger), []);
});

for (const caseId of [UNKNOWN_ID, 'not-a-uuid', '1', `${UNKNOWN_ID}0`, '%00', 'null'])
  test(`the case ${caseId} is not found, whatever the body`, async () => {
    const company = await app.company();
    const { id } = await create(company);
    for (const spelling of SPELLINGS) {
      const book = bookOf(caseId, spelling);
      assertNotFound(await company.get(book));
      for (const body of [PERSON, {}, '{']) {
        assertNotFound(await company.post(`${book}/entry`, body));
        for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, `${book}/entry/${id}`, body));
      }
    }
  });

for (const id of [UNKNOWN_ID, 'not-a-uuid', '1', '%00', '%27'])
  test(`the entry ${id} is not found, whatever the body`, async () => {
    const company = await app.company();
    for (const method of UPDATE_METHODS)
      for (const body of [PERSON, {}, '[]']) assertNotFound(await company.send(method, entry(company, id), body));
    assert.deepEqual(await list(company), []);
  });

test('path identifiers in capitals are the same identifiers', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const path = `${bookOf(company.caseId.toUpperCase())}/entry/${id.toUpperCase()}`;
  const updated = accepted(await company.patch(path, { ...PERSON, title: 'Dr' }));
  assert.deepEqual([updated.id, updated.customer_case_id], [id, company.caseId]);
  assert.equal((await person(company, id)).title, 'Dr');
});

test('neither an address nor a customer is an entry', async () => {
  const company = await app.company();
  const { data } = await create(company, { address: ADDRESS });
  const before = await list(company);
  for (const id of [data.address, company.customers[0].id, company.caseId])
    for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, entry(company, id), PERSON));
  assert.deepEqual(await list(company), before);
});

test('a body that is not one JSON object is refused', async () => {
  const company = await app.company();
  for (const body of ['[]', '"person"', 'null', '7', '', '{"title":', `${JSON.stringify(PERSON)} {}`, undefined])
    await assertNoTrace(company, body, (answer) => {
      assert.equal(answer.status, 400, `${body}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_request');
    });
});

test('every operation asks for Content-Type: application/json, the list too', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS)
    for (const type of [undefined, 'text/plain']) {
      const book = bookOf(company.caseId, spelling);
      for (const [method, path, body] of [
        ['GET', book, undefined],
        ['POST', `${book}/entry`, PERSON],
        ['PATCH', `${book}/entry/${id}`, PERSON],
        ['POST', `${book}/entry/${id}`, PERSON],
      ] as const) {
        const answer = await company.send(method, path, body, { 'content-type': type });
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.text, /content-type/i);
      }
    }
  assert.deepEqual(await list(company), before);
});

test('without a token nothing is read or written', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    for (const [method, path, body] of [
      ['GET', book, undefined],
      ['POST', `${book}/entry`, PERSON],
      ['PATCH', `${book}/entry/${id}`, PERSON],
      ['POST', `${book}/entry/${id}`, PERSON],
      ['POST', `${bookOf(UNKNOWN_ID, spelling)}/entry`, {}],
    ] as const) {
      const answer = await app.anonymous.send(method, path, body);
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.body.code, 'invalid_token');
    }
  }
  assert.deepEqual(await list(company), before);
});

test('reading needs the scope address_book:read, writing address_book:write', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  const reader = await company.withScopes('address_book:read');
  const writer = await company.withScopes('address_book:write');
  const bystander = await company.withScopes('interactions:read', 'interactions:write', 'invoices:write');
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    accepted(await reader.get(book));
    for (const answer of [
      await writer.get(book),
      await bystander.get(book),
      await reader.post(`${book}/entry`, PERSON),
      await bystander.post(`${book}/entry`, PERSON),
      await reader.patch(`${book}/entry/${id}`, PERSON),
      await reader.post(`${book}/entry/${id}`, PERSON),
      await bystander.patch(`${book}/entry/${id}`, PERSON),
    ]) {
      assert.equal(answer.status, 403, answer.text);
      assert.equal(answer.body.code, 'insufficient_scope');
    }
    assert.deepEqual(await list(company), before);
  }
  accepted(await writer.post(entries(company), PERSON));
  accepted(await writer.patch(entry(company, id), PERSON));
});

test('a relationship key as long as the body is refused quickly, and is shortened in the fault', async () => {
  const company = await app.company();
  const key = '.'.repeat(1_000_000);
  const answer = await company.post(`${company.path}/address-book/entry`, {
    entity_id: 'person',
    title: '',
    first_names: '',
    last_name: '',
    relationship: { [key]: 'son' },
  });
  assert.equal(answer.status, 400, answer.text.slice(0, 500));
  assert.ok(answer.body.errors[0].field.length < 300);
});
