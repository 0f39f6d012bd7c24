import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNotFound } from './harness/assert.ts';
import {
  accepted,
  all,
  app,
  type Body,
  create,
  FULL,
  list,
  ofCase,
  one,
  UPDATE_METHODS,
} from './harness/interactions.ts';

const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

test('a case shows only its own interactions', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const here = await create(company, { type: 'phone' });
  const there = accepted(await company.post(ofCase(otherCase), { type: 'letter' }));
  assert.equal(there.customer_case_id, otherCase);
  assert.deepEqual(
    (await list(company)).map((interaction: Body) => interaction.id),
    [here.id],
  );
  assert.deepEqual(
    (await list(company, ofCase(otherCase))).map((interaction: Body) => interaction.id),
    [there.id],
  );
});

test('an interaction of another case of the company is not found through this one, whatever the body', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const method of UPDATE_METHODS)
    for (const body of [{ type: 'phone', notes: 'stolen' }, { type: 'fax' }])
      assertNotFound(await company.send(method, `${ofCase(otherCase)}/${id}`, body));
  assert.deepEqual(await list(company), before);
});

test('a case of another company does not exist', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  assertNotFound(await stranger.get(all(company)));
  for (const body of [{ type: 'phone' }, { type: 'fax' }]) {
    assertNotFound(await stranger.post(all(company), body));
    for (const method of UPDATE_METHODS) {
      assertNotFound(await stranger.send(method, one(company, id), body));
      assertNotFound(await stranger.send(method, one(stranger, id), body));
    }
  }
  assert.deepEqual(await list(company), before);
  assert.deepEqual(await list(stranger), []);
});

for (const caseId of [UNKNOWN_ID, 'not-a-uuid', '1', `${UNKNOWN_ID}0`, '%00', 'null']) {
  test(`the case ${caseId} is not found, whatever the body`, async () => {
    const company = await app.company();
    const { id } = await create(company, FULL);
    assertNotFound(await company.get(ofCase(caseId)));
    for (const body of [{ type: 'phone' }, { type: 'fax' }, '{']) {
      assertNotFound(await company.post(ofCase(caseId), body));
      for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, `${ofCase(caseId)}/${id}`, body));
    }
  });
}

for (const id of [UNKNOWN_ID, 'not-a-uuid', '1', '%00', '%27']) {
  test(`the interaction ${id} is not found, whatever the body`, async () => {
    const company = await app.company();
    for (const method of UPDATE_METHODS)
      for (const body of [{ type: 'phone' }, { type: 'fax' }, '[]'])
        assertNotFound(await company.send(method, one(company, id), body));
    assert.deepEqual(await list(company), []);
  });
}

test('a body that is not one JSON object is refused', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const body of ['[]', '"phone"', 'null', '7', '', '{"type":', '{"type":"phone"} {}', undefined])
    for (const [method, path] of [
      ['POST', all(company)],
      ['PATCH', one(company, id)],
      ['POST', one(company, id)],
    ] as const) {
      const answer = await company.send(method, path, body);
      assert.equal(answer.status, 400, `${method} ${body}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_request');
    }
  assert.deepEqual(await list(company), before);
});

test('every operation asks for Content-Type: application/json, the list too', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const type of [undefined, 'text/plain', 'application/xml'])
    for (const [method, path, body] of [
      ['GET', all(company), undefined],
      ['POST', all(company), { type: 'phone' }],
      ['PATCH', one(company, id), { type: 'phone' }],
      ['POST', one(company, id), { type: 'phone' }],
    ] as const) {
      const answer = await company.send(method, path, body, { 'content-type': type });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /content-type/i);
    }
  assert.deepEqual(await list(company), before);
});

test('a charset beside application/json is allowed', async () => {
  const company = await app.company();
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const { id } = accepted(await company.post(all(company), { type: 'phone', notes: 'ÄÖÜ' }, headers));
  accepted(await company.patch(one(company, id), { type: 'phone' }, headers));
  assert.equal(accepted(await company.get(all(company), headers))[0].notes, 'ÄÖÜ');
});

test('without a token nothing is read or written', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const [method, path, body] of [
    ['GET', all(company), undefined],
    ['POST', all(company), { type: 'phone' }],
    ['PATCH', one(company, id), { type: 'phone' }],
    ['POST', one(company, id), { type: 'phone' }],
    ['POST', ofCase(UNKNOWN_ID), { type: 'fax' }],
  ] as const) {
    const answer = await app.anonymous.send(method, path, body);
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.body.code, 'invalid_token');
  }
  assert.deepEqual(await list(company), before);
});

test('reading needs the scope interactions:read, writing interactions:write', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  const reader = await company.withScopes('interactions:read');
  const writer = await company.withScopes('interactions:write');
  const bystander = await company.withScopes(
    'address_book:read',
    'address_book:write',
    'invoices:read',
    'invoices:write',
  );
  accepted(await reader.get(all(company)));
  for (const answer of [
    await writer.get(all(company)),
    await bystander.get(all(company)),
    await reader.post(all(company), { type: 'phone' }),
    await bystander.post(all(company), { type: 'phone' }),
    await reader.patch(one(company, id), { type: 'phone' }),
    await reader.post(one(company, id), { type: 'phone' }),
    await bystander.patch(one(company, id), { type: 'phone' }),
  ]) {
    assert.equal(answer.status, 403, answer.text);
    assert.equal(answer.body.code, 'insufficient_scope');
  }
  assert.deepEqual(await list(company), before);
  accepted(await writer.post(all(company), { type: 'phone' }));
  accepted(await writer.patch(one(company, id), { type: 'phone' }));
});
