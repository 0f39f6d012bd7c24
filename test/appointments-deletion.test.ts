import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import {
  app,
  appointmentsOf,
  book,
  booked,
  CHANGES,
  everything,
  NOW,
  read,
  UNKNOWN_ID,
  UPDATE_METHODS,
} from './harness/appointments.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';

const MIB = 1024 * 1024;

async function assertUntouched(company: TestCompany, path: string, act: () => Promise<void>): Promise<void> {
  const before = await read(company, path);
  const count = await booked(company);
  await act();
  assert.equal(await booked(company), count);
  assert.deepEqual(await read(company, path), before);
}

// Operation 12

test('DELETE answers with the id and deleted_at and nothing else', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  app.clock.set('2026-06-02T10:11:12.345678Z');
  const answer = await ok(company.delete(path));
  assert.deepEqual(answer, { id: path.split('/').at(-1), deleted_at: '2026-06-02T10:11:12.345678Z' });
});

for (const [how, body, headers] of [
  ['no body', undefined, {}],
  ['a body of length 0', '', {}],
  ['an empty chunked body', undefined, { 'transfer-encoding': 'chunked' }],
] as const) {
  test(`POST with ${how} deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const answer = await ok(company.post(path, body, headers));
    assert.deepEqual(answer, { id: path.split('/').at(-1), deleted_at: NOW });
    assertProblem(await company.patch(path, {}), 404, 'not_found');
  });
}

test('POST with {} updates and does not delete', async () => {
  const company = await app.company();
  const path = await book(company);
  const answer = await ok(company.post(path, {}));
  assert.equal(answer.deleted_at, null);
  assert.equal(answer.start_time, '2026-06-10T09:00:00.000000Z');
  assert.deepEqual(await read(company, path), answer);
});

for (const how of ['DELETE', 'POST']) {
  test(`what ${how} has deleted is gone for every operation`, async () => {
    const company = await app.company();
    const path = await book(company);
    await ok(company.send(how, path));
    for (const [method, body] of [
      ['PATCH', { notes: 'x' }],
      ['POST', { notes: 'x' }],
      ['PATCH', {}],
      ['PATCH', { start_time: 'soon' }],
      ['POST', undefined],
      ['DELETE', undefined],
    ] as const) {
      assertProblem(await company.send(method, path, body), 404, 'not_found', method);
    }
  });
}

test('deleting one appointment leaves the others', async () => {
  const company = await app.company();
  const [first, second] = [await book(company), await book(company)];
  await ok(company.delete(first));
  assert.equal((await read(company, second)).deleted_at, null);
});

test('a deleted record is kept with deleted_at', async () => {
  const company = await app.company();
  await ok(company.delete(await book(company, everything(company))));
  const sql = 'SELECT notes, deleted_at FROM appointments WHERE company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [
    { notes: 'Bring the deeds', deleted_at: new Date('2026-06-01T09:00:00Z') },
  ]);
});

test('of ten concurrent deletions exactly one succeeds', async () => {
  const company = await app.company();
  const path = await book(company);
  const ten = Array.from({ length: 10 }, (_, i) => company.send(i % 2 ? 'DELETE' : 'POST', path));
  const statuses = (await Promise.all(ten)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, ...Array(9).fill(404)]);
});

const NOT_AN_OBJECT = ['null', '[]', '[{}]', '""', '"{}"', 'false', '0'];
const NOT_JSON = [' ', '\n', '{', '{"notes":"x"', "{'notes':'x'}", '{"notes":}', 'undefined', '{}{}', '{} x'];

for (const [what, bodies] of [
  ['not an object', NOT_AN_OBJECT],
  ['malformed', NOT_JSON],
] as const) {
  test(`a body that is ${what} neither books, updates nor deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const before = await read(company, path);
    for (const body of bodies) {
      for (const [method, target] of [
        ['POST', path],
        ['PATCH', path],
        ['POST', appointmentsOf(company)],
      ] as const) {
        assertProblem(await company.send(method, target, body), 400, 'invalid_request', [method, body]);
      }
    }
    assert.equal(await booked(company), 1);
    assert.deepEqual(await read(company, path), before);
  });
}

test('a body that is not UTF-8 neither books, updates nor deletes', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  const bytes = Buffer.concat([Buffer.from('{"notes":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  const full = JSON.stringify(booking(company, { notes: 'MARK' }));
  const bookingBytes = Buffer.from(full.replace('MARK', '\u00ff'), 'latin1');
  assertProblem(await company.post(path, bytes), 400, 'invalid_request');
  assertProblem(await company.patch(path, bytes), 400, 'invalid_request');
  assertProblem(await company.post(appointmentsOf(company), bookingBytes), 400, 'invalid_request');
  assert.equal(await booked(company), 1);
  assert.deepEqual(await read(company, path), before);
});

test('an update by PATCH and a booking need a body', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  assertProblem(await company.patch(path), 400, 'invalid_request');
  assertProblem(await company.post(appointmentsOf(company)), 400, 'invalid_request');
  assert.equal(await booked(company), 1);
  assert.deepEqual(await read(company, path), before);
});

test('a body of 1 MiB is read', async () => {
  const company = await app.company();
  const path = await book(company);
  const padded = (body: unknown) => JSON.stringify(body).padEnd(MIB, ' ');
  for (const method of UPDATE_METHODS)
    assert.equal((await ok(company.send(method, path, padded({})))).deleted_at, null);
  await ok(company.post(appointmentsOf(company), padded(booking(company))));
});

/** Sends the body in pieces, without announcing its length. */
async function inPieces(company: TestCompany, method: string, path: string, text: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${company.token}` };
  const body = ReadableStream.from([text.slice(0, 1000), text.slice(1000)].map((piece) => Buffer.from(piece)));
  const response = await fetch(new URL(path, app.baseUrl), { method, headers, body, duplex: 'half' });
  const answered = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: answered,
    body: JSON.parse(answered),
  };
}

for (const [how, send] of [
  ['announced', (company: TestCompany, method: string, path: string, text: string) => company.send(method, path, text)],
  ['in pieces', inPieces],
] as const) {
  test(`a body of one byte more than 1 MiB, ${how}, neither books, updates nor deletes`, async () => {
    const company = await app.company();
    const path = await book(company);
    const padded = (body: unknown) => JSON.stringify(body).padEnd(MIB + 1, ' ');
    await assertUntouched(company, path, async () => {
      for (const method of UPDATE_METHODS) {
        assertProblem(await send(company, method, path, padded({})), 413, 'body_too_large');
        assertProblem(await send(company, method, path, padded({ notes: 'x' })), 413, 'body_too_large');
      }
      assertProblem(
        await send(company, 'POST', appointmentsOf(company), padded(booking(company))),
        413,
        'body_too_large',
      );
    });
  });
}

test('a DELETE that is refused because of its size deletes nothing', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    assertProblem(await company.send('DELETE', path, '{}'.padEnd(MIB + 1)), 413, 'body_too_large');
  });
});

test('an unknown appointment is 404 even if the body is too large', async () => {
  const company = await app.company();
  for (const method of [...UPDATE_METHODS, 'DELETE']) {
    const answer = await company.send(method, `${appointmentsOf(company)}/${UNKNOWN_ID}`, '{}'.padEnd(MIB + 1));
    assertProblem(answer, 404, 'not_found', method);
  }
});

// Access

/** Every form of the three operations, with bodies that would succeed. */
const calls = (company: TestCompany, path: string): [method: string, path: string, body: unknown][] => [
  ['POST', appointmentsOf(company), booking(company)],
  ['PATCH', path, { notes: 'x' }],
  ['POST', path, { notes: 'x' }],
  ['POST', path, undefined],
  ['DELETE', path, undefined],
];

test('Content-Type: application/json is required, without a body too', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      for (const [method, target, body] of calls(company, path)) {
        const answer = await company.send(method, target, body, { 'content-type': type });
        assertProblem(answer, 400, 'invalid_request', [method, type]);
        assert.match(answer.text, /content-type/i);
      }
    }
  });
});

test('Content-Type may carry parameters and any case', async () => {
  const company = await app.company();
  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
    const path = await book(company);
    for (const [method, target, body] of calls(company, path).slice(0, 4)) {
      await ok(company.send(method, target, body, { 'content-type': type }));
    }
  }
});

test('without a token there is nothing but 401', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const answer = await app.anonymous.send(method, target, body);
      assertProblem(answer, 401, 'invalid_token', method);
      assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
    }
  });
});

test('a token without the scope is refused with 403', async () => {
  const company = await app.company();
  const path = await book(company);
  const powerless = await company.withScopes();
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const answer = await powerless.send(method, target, body);
      assertProblem(answer, 403, 'insufficient_scope', method);
      assert.match(String(answer.headers['www-authenticate']), /error="insufficient_scope"/);
    }
  });
});

test("another company's case does not exist", async () => {
  const company = await app.company();
  const other = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path)) {
      const sent = method === 'POST' && target === appointmentsOf(company) ? booking(other) : body;
      assertProblem(await other.send(method, target, sent), 404, 'not_found', method);
    }
  });
});

test('an unknown case, or a word that is no UUID, is 404', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const id of [UNKNOWN_ID, 'first', '1', `${company.caseId}0`, '%00']) {
      for (const [method, target, body] of calls(company, path)) {
        const answer = await company.send(method, target.replace(company.caseId, id), body);
        assertProblem(answer, 404, 'not_found', [method, id]);
      }
    }
  });
});

test('an unknown appointment, or a word that is no UUID, is 404', async () => {
  const company = await app.company();
  for (const id of [UNKNOWN_ID, 'first', '1', company.caseId, '%00']) {
    for (const [method, target, body] of calls(company, `${appointmentsOf(company)}/${id}`).slice(1)) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', [method, id]);
    }
  }
});

test('an appointment is found only under its own case', async () => {
  const company = await app.company();
  const path = await book(company);
  const elsewhere = path.replace(company.caseId, await company.openCase());
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, elsewhere).slice(1)) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', method);
    }
  });
});

test("another company's appointment is not found under one's own case", async () => {
  const company = await app.company();
  const other = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    for (const [method, target, body] of calls(company, path.replace(company.caseId, other.caseId)).slice(1)) {
      assertProblem(await other.send(method, target, body), 404, 'not_found', method);
    }
  });
});

test('an unknown case or appointment is 404 whatever the body holds', async () => {
  const company = await app.company();
  const path = `${appointmentsOf(company)}/${UNKNOWN_ID}`;
  const targets = [
    ['POST', `/cases/${UNKNOWN_ID}/appointments`],
    ['PATCH', path],
    ['POST', path],
    ['PATCH', `/cases/${UNKNOWN_ID}/appointments/${UNKNOWN_ID}`],
  ] as const;
  for (const body of [{}, { start_time: 5 }, { adviser_email: 'x' }, ...NOT_AN_OBJECT, ...NOT_JSON]) {
    for (const [method, target] of targets) {
      assertProblem(await company.send(method, target, body), 404, 'not_found', [method, body]);
    }
  }
});

test('credentials are judged before the header, the header before the path', async () => {
  const company = await app.company();
  const path = `/cases/${UNKNOWN_ID}/appointments/${UNKNOWN_ID}`;
  const plain = { 'content-type': 'text/plain' };
  const powerless = await company.withScopes();
  for (const method of ['PATCH', 'POST', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : '{';
    assertProblem(await app.anonymous.send(method, path, body, plain), 401, 'invalid_token', method);
    assertProblem(await powerless.send(method, path, body, plain), 403, 'insufficient_scope', method);
    assertProblem(await company.send(method, path, body, plain), 400, 'invalid_request', method);
    assertProblem(await company.send(method, path, body), 404, 'not_found', method);
  }
});

test('no other method touches an appointment', async () => {
  const company = await app.company();
  const path = await book(company);
  await assertUntouched(company, path, async () => {
    assertProblem(await company.send('PUT', path, { notes: 'x' }), 405, 'method_not_allowed');
    assertProblem(await company.send('PUT', appointmentsOf(company), booking(company)), 405, 'method_not_allowed');
    assertProblem(await company.patch(appointmentsOf(company), booking(company)), 405, 'method_not_allowed');
    assertProblem(await company.delete(appointmentsOf(company)), 405, 'method_not_allowed');
  });
});

// At once

test('concurrent updates of different fields are all kept', async () => {
  const company = await app.company();
  const path = await book(company);
  const answers = await Promise.all(CHANGES.map(([field, sent]) => company.patch(path, { [field]: sent(company) })));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const record = await read(company, path);
  for (const [field, , shown] of CHANGES) assert.equal(record[field], shown(company), field);
});

test('ten concurrent updates never mix their parts', async () => {
  const company = await app.company();
  const path = await book(company);
  const ten = Array.from({ length: 10 }, (_, i) => company.patch(path, { notes: `n${i}`, location: `n${i}` }));
  for (const answer of await Promise.all(ten)) {
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.notes, answer.body.location);
  }
  const { notes, location } = await read(company, path);
  assert.equal(notes, location);
});

test('a start moved later and an end moved earlier concurrently never leave an end before its start', async () => {
  const company = await app.company();
  for (let round = 0; round < 5; round += 1) {
    const path = await book(company);
    const answers = await Promise.all([
      company.patch(path, { start_time: '2026-06-10 10:45:00' }),
      company.patch(path, { end_time: '2026-06-10 10:15:00' }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
  }
});

test('an update at the same time as a deletion is done before it or not at all', async () => {
  const company = await app.company();
  for (let round = 0; round < 5; round += 1) {
    const path = await book(company);
    const updates = [1, 2, 3, 4].map((i) => company.patch(path, { notes: `n${i}` }));
    const [deleted, ...updated] = await Promise.all([company.delete(path), ...updates]);
    assert.equal(deleted?.status, 200, deleted?.text);
    for (const answer of updated) {
      assert.ok([200, 404].includes(answer.status), answer.text);
      if (answer.status === 200) assert.equal(answer.body.deleted_at, null);
    }
    assertProblem(await company.patch(path, {}), 404, 'not_found');
  }
});
