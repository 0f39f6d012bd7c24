import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { assertProblem } from './harness/assert.ts';
import { character } from './harness/characters.ts';
import { specified } from './harness/openapi.ts';
import {
  app,
  assertFaultList,
  BODIES,
  bodyOf,
  deleteByPost,
  documented,
  fill,
  idsOf,
  interactionsOf,
  nameOf,
  recordsOf,
} from './harness/requests.ts';

const formsWithBody = documented.filter(({ takesBody }) => takesBody);

/* ---- bodies ---- */

async function assertEveryWriteRefuses(body: string | Uint8Array, fault: string): Promise<void> {
  const company = await app.company();
  const ids = await idsOf(company);
  const before = await recordsOf(company);
  for (const form of formsWithBody) {
    assertFaultList(await company.send(form.method, fill(form.template, ids), body), fault);
  }
  assert.deepEqual(await recordsOf(company), before);
}

for (const body of [
  ...['{', '}', '{"type":"phone"', '{"type":"phone",}', '{type:"phone"}', `{'type':'phone'}`, '{"type":"phone"} x'],
  ...['{"type":"phone"}{"type":"phone"}', '{"type":NaN}', '{"type":01}', '{"type":"a\nb"}', '{"type":"\\x41"}'],
  ...['/* */{"type":"phone"}', 'undefined', 'type=phone', '<type>phone</type>', ' ', '\n', '{"type":"\0"}'],
]) {
  test(`${JSON.stringify(body)} is not JSON, and every operation with a body refuses it`, () =>
    assertEveryWriteRefuses(body, 'body: format'));
}

for (const body of ['null', 'true', '0', '""', '"phone"', '[]', '[{"type":"phone"}]']) {
  test(`${body} is not a JSON object, and every operation with a body refuses it`, () =>
    assertEveryWriteRefuses(body, 'body: type'));
}

test('an empty body is refused by every operation that takes one, except the POST that then deletes', async () => {
  const company = await app.company();
  const ids = await idsOf(company);
  const before = await recordsOf(company);
  for (const form of formsWithBody) {
    if (form.method === deleteByPost.method && form.template === deleteByPost.template) continue;
    assertFaultList(await company.send(form.method, fill(form.template, ids)), 'body: required');
    assertFaultList(await company.send(form.method, fill(form.template, ids), ''), 'body: required');
  }
  assert.deepEqual(await recordsOf(company), before);
});

for (const form of documented.filter(({ takesBody }) => !takesBody)) {
  test(`${nameOf(form)} takes no body and works without one`, async () => {
    const company = await app.company();
    const answer = await company.send(form.method, fill(form.template, await idsOf(company)));
    assert.equal(answer.status, 200, answer.text);
  });
}

for (const [what, value, fault] of [
  ['a number', 1, 'type'],
  ['a boolean', true, 'type'],
  ['an array', ['phone'], 'type'],
  ['an object', { phone: 1 }, 'type'],
] as const) {
  test(`text is required, so ${what} is refused with the field named`, async () => {
    const company = await app.company();
    const answer = await company.post(`${company.path}/interactions`, { type: 'phone', notes: value });
    assertFaultList(answer, `notes: ${fault}`);
    assert.deepEqual(await interactionsOf(company), []);
  });
}

test('all faults of a body are named together', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/interactions`, {
    notes: 'x'.repeat(256),
    recipient: 5,
    sender: '\0',
    when: 'tomorrow',
  });
  assertProblem(answer, 400, 'invalid_request');
  const fields = answer.body.errors.map(({ field }: { field: string }) => field);
  assert.deepEqual([...new Set(fields)].sort(), ['notes', 'recipient', 'sender', 'type', 'when']);
});

for (const [what, bytes] of Object.entries({
  'a lone continuation byte': [0x80],
  'a start byte without its continuation': [0xc3, 0x28],
  'a sequence cut short': [0xe2, 0x82],
  'an overlong NUL': [0xc0, 0x80],
  'an encoded surrogate': [0xed, 0xa0, 0x80],
  'a code point beyond the last': [0xf4, 0x90, 0x80, 0x80],
  'a byte that UTF-8 never has': [0xff],
  'Latin-1': [0xe9],
})) {
  test(`${what} is not UTF-8 and is refused, in a known and in an unknown field`, async () => {
    const company = await app.company();
    for (const field of ['notes', 'unknown']) {
      const body = Buffer.concat([Buffer.from(`{"type":"phone","${field}":"`), Buffer.from(bytes), Buffer.from('"}')]);
      assertFaultList(await company.post(`${company.path}/interactions`, body), 'body: format');
    }
    assert.deepEqual(await interactionsOf(company), []);
  });
}

for (const [what, body] of Object.entries({
  'UTF-16, little end first': Buffer.from('{"type":"phone"}', 'utf16le'),
  'UTF-16, big end first': Buffer.from('{"type":"phone"}', 'utf16le').swap16(),
  'UTF-16 with a mark': Buffer.from('\ufeff{"type":"phone"}', 'utf16le'),
  'compressed JSON': gzipSync('{"type":"phone"}'),
})) {
  test(`${what} is not JSON in UTF-8 and is refused`, () => assertEveryWriteRefuses(body, 'body: format'));
}

test('every letter of Unicode passes unchanged', async () => {
  const company = await app.company();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: character, maxLength: 100 }), async (text) => {
      const answer = await company.post(`${company.path}/interactions`, { type: 'other', notes: text });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.notes, text);
    }),
    { numRuns: 60, examples: [['\u0001\u001f\u007f\u2028\ufeff\uffff'], ['😀'.repeat(20)], ['\\u0000'], ['"\\/']] },
  );
});

const FORBIDDEN = { NUL: '\\u0000', 'an unpaired high surrogate': '\\ud800', 'an unpaired low surrogate': '\\udc00' };

for (const [what, escaped] of Object.entries(FORBIDDEN)) {
  for (const [where, body, field] of [
    ['in a field', `{"type":"phone","notes":"a${escaped}b"}`, 'notes'],
    ['in an unknown field', `{"type":"phone","unknown":"${escaped}"}`, 'unknown'],
    ['deep in an unknown field', `{"type":"phone","unknown":[{"deep":[1,"${escaped}"]}]}`, 'unknown[0].deep[1]'],
    ['in an unknown key', `{"type":"phone","a${escaped}b":1}`, 'body'],
    ['in a key deep down', `{"type":"phone","unknown":[{"${escaped}":1}]}`, 'unknown[0]'],
  ] as const) {
    test(`${what} ${where} is refused`, async () => {
      const company = await app.company();
      const answer = await company.post(`${company.path}/interactions`, body);
      assertFaultList(answer, `${field}: invalid_character`);
      assert.deepEqual(await interactionsOf(company), []);
    });
  }

  test(`${what} is refused by every operation that takes a body`, async () => {
    const company = await app.company();
    const ids = await idsOf(company);
    const before = await recordsOf(company);
    for (const form of formsWithBody) {
      const body = JSON.stringify({ ...bodyOf(form, company), unknown: '§' }).replace('§', escaped);
      assertFaultList(await company.send(form.method, fill(form.template, ids), body), 'unknown: invalid_character');
    }
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('two surrogates the wrong way round are two unpaired ones', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/interactions`, '{"type":"phone","notes":"\\ude00\\ud83d"}');
  assertFaultList(answer, 'notes: invalid_character');
});

test('a pair of surrogates is one letter, and a backslash before u0000 is no NUL', async () => {
  const company = await app.company();
  const body = '{"type":"phone","notes":"\\ud83d\\ude00","sender":"\\\\u0000","recipient":"\\\\ud800"}';
  const answer = await company.post(`${company.path}/interactions`, body);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.notes, '😀');
  assert.equal(answer.body.sender, '\\u0000');
  assert.equal(answer.body.recipient, '\\ud800');
});

test('a letter as two escapes is accepted beside an unknown field of any depth', async () => {
  const company = await app.company();
  for (const depth of [1, 10, 30, 100]) {
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    const body = `{"type":"phone","notes":"\\ud83d\\ude00","unknown":${deep}}`;
    const answer = await company.post(`${company.path}/interactions`, body);
    assert.equal(answer.status, 200, `${depth} deep: ${answer.text}`);
    assert.equal(answer.body.notes, '😀');
  }
});

test('a body that is nested more than 256 deep is refused, and brackets within text do not count', async () => {
  const company = await app.company();
  const send = (field: string) => company.post(`${company.path}/interactions`, `{"type":"phone",${field}}`);
  const nested = (depth: number) => `"unknown":${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
  assert.equal((await send(nested(254))).status, 200);
  assertFaultList(await send(nested(256)), 'body: format');
  assertFaultList(await send(`"unknown":${'['.repeat(1_000)}`), 'body: format');
  assert.equal((await send(`"unknown":"${'\\\\\\"[{'.repeat(600)}"`)).status, 200);
});

test('of a key that comes twice the last value counts', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/interactions`, '{"type":"phone","type":"email"}');
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.type, 'email');
});

test('unknown fields are ignored and not given back', async () => {
  const company = await app.company();
  const ids = await idsOf(company);
  for (const form of formsWithBody) {
    const body = {
      ...bodyOf(form, company),
      unknown: 'ignored-1',
      company_id: 'ignored-2',
      version: 'ignored-3',
      id: 'ignored-4',
    };
    const answer = await company.send(form.method, fill(form.template, ids), body);
    assert.equal(answer.status, 200, `${nameOf(form)}: ${answer.text}`);
    assert.doesNotMatch(answer.text, /unknown|ignored/);
  }
});

for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then']) {
  test(`a field named ${key} is an unknown field like any other`, async () => {
    const company = await app.company();
    const answer = await company.post(
      `${company.path}/interactions`,
      `{"type":"phone","${key}":{"notes":"from the prototype","prototype":{"notes":"x"},"polluted":1}}`,
    );
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.notes, '');
    assert.equal(Reflect.get({}, 'polluted'), undefined);
  });
}

test('__proto__ supplies no field that is required', async () => {
  const company = await app.company();
  assertFaultList(
    await company.post(`${company.path}/interactions`, '{"__proto__":{"type":"phone"}}'),
    'type: required',
  );
});

test('the names that every object has are no relationships and no types', async () => {
  const company = await app.company();
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assertFaultList(await company.post(`${company.path}/interactions`, { type: name }), 'type: not_allowed');
    const entry = JSON.stringify(BODIES['address-book']?.(company)).replace(
      '}',
      `,"relationship":{"${name}":"sister"}}`,
    );
    const answer = await company.post(`${company.path}/address-book/entry`, entry);
    assertProblem(answer, 400, 'invalid_request');
  }
  assert.deepEqual((await company.get(`${company.path}/address-book`)).body, []);
});

for (const [what, deep] of Object.entries({
  arrays: '['.repeat(200_000) + ']'.repeat(200_000),
  objects: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
})) {
  test(`${what} nested a hundred thousand deep do no harm`, async () => {
    const company = await app.company();
    const ignored = await company.post(`${company.path}/interactions`, `{"type":"phone","unknown":${deep}}`);
    assert.ok([200, 400].includes(ignored.status), ignored.text);
    assertProblem(
      await company.post(`${company.path}/interactions`, `{"type":"phone","notes":${deep}}`),
      400,
      'invalid_request',
    );
    assertProblem(await company.post(`${company.path}/interactions`, deep), 400, 'invalid_request');
    assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  });
}

for (const [what, begin, end] of [
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
] as const) {
  test(`a forbidden character under a hundred thousand ${what} is refused and does no harm`, async () => {
    const company = await app.company();
    const deep = `${begin.repeat(100_000)}"\\u0000"${end.repeat(100_000)}`;
    assertProblem(
      await company.post(`${company.path}/interactions`, `{"type":"phone","unknown":${deep}}`),
      400,
      'invalid_request',
    );
    assert.deepEqual(await interactionsOf(company), []);
  });

  test(`a long number under a hundred thousand ${what} does no harm`, async () => {
    const company = await app.company();
    const deep = `${begin.repeat(100_000)}12345678901234567890${end.repeat(100_000)}`;
    const answer = await company.post(`${company.path}/interactions`, `{"type":"phone","unknown":${deep}}`);
    if (answer.status !== 200) assertProblem(answer, 400, 'invalid_request');
  });
}

const KNOWN_FIELDS = Object.values(specified).flatMap((methods) =>
  Object.values(methods).flatMap((operation) =>
    Object.keys(
      (operation as { requestBody?: { content: Record<string, { schema: { properties: object } }> } }).requestBody
        ?.content['application/json']?.schema.properties ?? {},
    ),
  ),
);

for (const form of formsWithBody.filter(({ template }) => !template.includes('_book'))) {
  test(`${nameOf(form)} answers 200 or 400 whatever its fields hold`, async () => {
    const company = await app.company();
    const path = fill(form.template, await idsOf(company));
    const odd = fc.constantFrom<unknown>(
      ...['9'.repeat(400), '0.00001', '-0', '1e5', '+1', ' 1', '', ' ', '٣', 1e308, 1e21, -0, 5e-324, 0.1 + 0.2],
      ...['2026-02-30 10:00:00', '9999-12-31 23:59:59', '0000-01-01 00:00:00', '2026-03-29 01:30:00', '24:00'],
      ...[
        '2026-01-01T00:00:00+99:99',
        '2026-01-01T00:00:00.123456789Z',
        '0001-01-01T00:00:00+18:00',
        '9999-12-31T23:59:59-18:00',
      ],
      ...['31/12/9999', '29/02/1900', '00/00/0000', 'a@b', `${'a'.repeat(300)}@b.example`, '+', '+44', '0'.repeat(90)],
      ...[
        {},
        [],
        [null],
        [[]],
        [{}],
        null,
        true,
        false,
        { constructor: 1 },
        { '': '' },
        ['', 'a', 'a'],
        [{ rate: {} }],
      ],
    );
    const value = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: character }));
    const changes = fc.dictionary(fc.constantFrom(...new Set(KNOWN_FIELDS)), value, { minKeys: 1, maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const answer = await company.send(form.method, path, { ...bodyOf(form, company), ...changed });
        if (answer.status !== 200) assertProblem(answer, 400, 'invalid_request');
      }),
      { numRuns: 150 },
    );
  });
}

/* ---- sizes ---- */
