import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertProblem } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import type { Answer, Caller, Headers } from './harness/http.ts';
import { document, specified } from './harness/openapi.ts';

const app = await startApp();

// Failed attempts are counted per minute, and every test here comes from the same address.
beforeEach(() => app.clock.advance({ minutes: 1 }));

const MEBIBYTE = 1_048_576;
type Ids = Record<string, string>;
type Form = { method: string; template: string; takesBody: boolean };

const documented: Form[] = Object.entries(specified).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => ({
    method: method.toUpperCase(),
    template,
    takesBody: method === 'post' || method === 'patch',
  })),
);
const deleteByPost: Form = {
  method: 'POST',
  template: '/cases/{caseId}/appointments/{appointmentID}',
  takesBody: false,
};
const forms = [...documented, deleteByPost];
const formsWithBody = documented.filter(({ takesBody }) => takesBody);
const recordNameOf = ({ template }: Form) => /\{(?!caseId)(\w+)\}/.exec(template)?.[1];
const nameOf = (form: Form) => `${form.method} ${form.template}${form === deleteByPost ? ' (empty)' : ''}`;
const fill = (template: string, ids: Ids) => template.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? '');

const BODIES: Record<string, (company: TestCompany) => Record<string, unknown>> = {
  'address-book': () => PERSON,
  interactions: () => ({ type: 'phone' }),
  invoices: (company) =>
    invoiceBody({
      sender_id: company.companyId,
      items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
    }),
  appointments: (company) => booking(company),
};

function bodyOf({ template, takesBody }: Form, company: TestCompany): Record<string, unknown> | undefined {
  return takesBody ? BODIES[(template.split('/')[3] ?? '').replace('_', '-')]?.(company) : undefined;
}

async function idsOf(company: TestCompany): Promise<Ids> {
  const make = async (path: string, resource: string): Promise<string> => {
    const answer = await company.post(`${company.path}/${path}`, BODIES[resource]?.(company));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.id;
  };
  return {
    caseId: company.caseId,
    entryID: await make('address-book/entry', 'address-book'),
    interactionId: await make('interactions', 'interactions'),
    invoiceId: await make('invoices', 'invoices'),
    appointmentID: await make('appointments', 'appointments'),
  };
}

async function recordsOf(company: TestCompany): Promise<Record<string, unknown>> {
  const held: Record<string, unknown> = {};
  for (const table of [
    'people',
    'addresses',
    'interactions',
    'invoices',
    'invoice_items',
    'appointments',
    'messages',
  ]) {
    held[table] = await app.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [company.companyId]);
  }
  return held;
}

const interactionsOf = async (company: TestCompany) => (await company.get(`${company.path}/interactions`)).body;

function assertFaultList(answer: Answer, ...faults: string[]): void {
  assertProblem(answer, 400, 'invalid_request');
  const told = answer.body.errors.map(({ field, code }: { field: string; code: string }) => `${field}: ${code}`);
  assert.deepEqual(told, faults, answer.text);
}

type Raw = Answer & { all: string };

/** Bytes as they are over a socket of their own, until the other side closes it. `finish` ends our side first. */
function raw(bytes: string | Uint8Array, finish = false): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.baseUrl);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (bytes: Buffer) => chunks.push(bytes));
    socket.on('error', reject);
    socket.on('close', (failed) => failed || resolve(parse(Buffer.concat(chunks).toString('utf8'))));
    socket.write(bytes);
    if (finish) socket.end();
  });
}

function parse(all: string): Raw {
  const answer = all.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const text = Buffer.from(answer.slice(end + 4))
    .subarray(0, Number(headers['content-length'] ?? Infinity))
    .toString();
  const body = /json/.test(headers['content-type'] ?? '') ? JSON.parse(text) : undefined;
  return { all, status: Number(first.split(' ')[1]), headers, text, body };
}

function head(
  company: TestCompany,
  method: string,
  path: string,
  headers: Record<string, string | number> = {},
): string {
  const lines = Object.entries({
    Host: 'localhost',
    Authorization: `Bearer ${company.token}`,
    'Content-Type': 'application/json',
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const chunk = (bytes: Uint8Array | string) =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`),
    Buffer.from(bytes as string),
    Buffer.from('\r\n'),
  ]);
/** Any letter but NUL; fast-check's own unit `binary` takes seconds to build. */
const codePoint = fc
  .oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

const LAST_CHUNK = '0\r\n\r\n';

/* ---- the order of judgement ---- */

type Request = { method: string; path: string; caller: Caller; headers: Headers; body: unknown };
type Judgement = {
  name: string;
  commit: (request: Request, company: TestCompany) => void;
  expect: (answer: Answer) => void;
};

const NARROW = new WeakMap<TestCompany, Caller>();

const judgements: Judgement[] = [
  {
    name: 'route',
    commit: (request) => {
      request.path = `/nothing${request.path}`;
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
  {
    name: 'method',
    commit: (request) => {
      request.method = 'PUT';
    },
    expect: (answer) => assertProblem(answer, 405, 'method_not_allowed'),
  },
  {
    name: 'credentials',
    commit: (request) => {
      request.headers.authorization = undefined;
    },
    expect: (answer) => assertProblem(answer, 401, 'invalid_token'),
  },
  {
    name: 'scope',
    commit: (request, company) => {
      request.caller = NARROW.get(company) ?? request.caller;
    },
    expect: (answer) => assertProblem(answer, 403, 'insufficient_scope'),
  },
  {
    name: 'Content-Type',
    commit: (request) => {
      request.headers['content-type'] = 'text/plain';
    },
    expect: (answer) => assertFaultList(answer, 'Content-Type: not_allowed'),
  },
  {
    name: 'case',
    commit: (request, company) => {
      request.path = request.path.replace(company.caseId, randomUUID());
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
  {
    name: 'record',
    commit: (request) => {
      request.path = request.path.replace(/[0-9a-f-]{36}$/, randomUUID());
    },
    expect: (answer) => assertProblem(answer, 404, 'not_found'),
  },
];

const tooLarge: Judgement = {
  name: 'body of more than 1 MiB',
  commit: (request) => {
    request.body = '{}'.padEnd(MEBIBYTE + 1);
  },
  expect: (answer) => assertProblem(answer, 413, 'body_too_large'),
};

const bodyFaults: Judgement[] = [
  {
    name: 'malformed body',
    commit: (request) => {
      request.body = '{"type":';
    },
    expect: (answer) => assertFaultList(answer, 'body: format'),
  },
  {
    name: 'body that is no object',
    commit: (request) => {
      request.body = '[]';
    },
    expect: (answer) => assertFaultList(answer, 'body: type'),
  },
  {
    name: 'field of a wrong type',
    commit: (request) => {
      request.body = { ...(request.body as object), title: [], type: [], total: [], start_time: [] };
    },
    expect: (answer) => assertProblem(answer, 400, 'invalid_request'),
  },
  tooLarge,
];

for (const form of forms) {
  const single = form.takesBody ? bodyFaults : [];
  const ordered = judgements.filter(({ name }) => name !== 'record' || recordNameOf(form));

  test(`${nameOf(form)} judges route, method, credentials, scope, Content-Type, path and body in this order`, async () => {
    const company = await app.company();
    const ids = await idsOf(company);
    NARROW.set(company, await company.withScopes());
    const before = await recordsOf(company);
    const judge = async (...faults: Judgement[]) => {
      const request: Request = {
        method: form.method,
        path: fill(form.template, ids),
        caller: company,
        headers: {},
        body: bodyOf(form, company),
      };
      for (const fault of faults) fault.commit(request, company);
      const answer = await request.caller.send(request.method, request.path, request.body, request.headers);
      try {
        faults[0]?.expect(answer);
      } catch (cause) {
        assert.fail(`${faults.map(({ name }) => name).join(' before ')}: ${(cause as Error).message}`);
      }
    };
    for (const [i, first] of ordered.entries()) {
      await judge(first);
      for (const second of [...ordered.slice(i + 1), ...single]) {
        if (second !== tooLarge || !['route', 'method'].includes(first.name)) await judge(first, second);
      }
      app.clock.advance({ minutes: 1 });
    }
    for (const fault of single) await judge(fault);
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('an unknown route is 404 and a wrong method 405, however large the body', async () => {
  const company = await app.company();
  const body = '{}'.padEnd(MEBIBYTE + 1);
  assertProblem(await company.post('/nothing', body), 404, 'not_found');
  assertProblem(await company.send('PUT', `${company.path}/interactions`, body), 405, 'method_not_allowed');
});

test('a revoked token without the scope is judged as revoked', async () => {
  const company = await app.company();
  const narrow = await company.withScopes();
  await app.sql('UPDATE tokens SET revoked_at = created_at WHERE company_id = $1', [company.companyId]);
  assertProblem(await narrow.get(`${company.path}/interactions`), 401, 'invalid_token');
});

/* ---- Content-Type ---- */

for (const form of forms) {
  test(`${nameOf(form)} is refused without Content-Type: application/json`, async () => {
    const company = await app.company();
    const path = fill(form.template, await idsOf(company));
    const before = await recordsOf(company);
    for (const type of [undefined, 'text/plain']) {
      const answer = await company.send(form.method, path, bodyOf(form, company), { 'content-type': type });
      assertFaultList(answer, 'Content-Type: not_allowed');
      assert.match(answer.body.detail, /Content-Type/);
      assert.match(answer.body.errors[0].message, /Content-Type/);
    }
    assert.deepEqual(await recordsOf(company), before);
  });
}

for (const type of [
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
  'Application/JSON',
  'APPLICATION/JSON; CHARSET=UTF-8',
  'application/json; profile=x; charset=utf-8',
]) {
  test(`"${type}" is application/json`, async () => {
    const company = await app.company();
    const created = await company.post(`${company.path}/interactions`, { type: 'phone' }, { 'content-type': type });
    assert.equal(created.status, 200, created.text);
    const listed = await company.get(`${company.path}/interactions`, { 'content-type': type });
    assert.equal(listed.status, 200, listed.text);
  });
}

for (const type of [
  ...[
    '',
    'json',
    'text/json',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    'application/x-json',
  ],
  ...['application/merge-patch+json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '*/*'],
  ...['application/jso', 'xapplication/json', 'text/plain; application/json', 'application/json, text/plain'],
]) {
  test(`"${type}" is not application/json`, async () => {
    const company = await app.company();
    const headers = { 'content-type': type };
    assertFaultList(
      await company.post(`${company.path}/interactions`, { type: 'phone' }, headers),
      'Content-Type: not_allowed',
    );
    assertFaultList(await company.get(`${company.path}/interactions`, headers), 'Content-Type: not_allowed');
    assert.deepEqual(await interactionsOf(company), []);
  });
}

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

test('an empty body is refused by every operation that takes one, but for the POST that then deletes', async () => {
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
  test(`text is asked for, so ${what} is refused with the field named`, async () => {
    const company = await app.company();
    const answer = await company.post(`${company.path}/interactions`, { type: 'phone', notes: value });
    assertFaultList(answer, `notes: ${fault}`);
    assert.deepEqual(await interactionsOf(company), []);
  });
}

test('all faults of a body are told at once', async () => {
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
  test(`${what} is not UTF-8 and is refused, in a field and in what nobody reads`, async () => {
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
    fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 100 }), async (text) => {
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
    const value = fc.oneof(odd, fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: codePoint }));
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

test('a body of exactly 1 MiB is read', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/interactions`, '{"type":"phone"}'.padEnd(MEBIBYTE));
  assert.equal(answer.status, 200, answer.text);
});

test('the size of a body is counted in bytes, not in letters', async () => {
  const company = await app.company();
  const frame = '{"type":"phone","unknown":""}';
  const room = MEBIBYTE - frame.length;
  const filled = frame.replace('""', `"${'😀'.repeat(Math.floor(room / 4))}${'x'.repeat(room % 4)}"`);
  assert.equal(Buffer.byteLength(filled), MEBIBYTE);
  assert.equal((await company.post(`${company.path}/interactions`, filled)).status, 200);
  assertProblem(await company.post(`${company.path}/interactions`, `${filled} `), 413, 'body_too_large');
});

for (const form of formsWithBody) {
  test(`${nameOf(form)} refuses a body of one byte more than 1 MiB`, async () => {
    const company = await app.company();
    const path = fill(form.template, await idsOf(company));
    const before = await recordsOf(company);
    const body = JSON.stringify(bodyOf(form, company)).padEnd(MEBIBYTE + 1);
    assertProblem(await company.send(form.method, path, body), 413, 'body_too_large');
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('a DELETE with a body of more than 1 MiB deletes nothing, and is 404 for an appointment that never was', async () => {
  const company = await app.company();
  const { appointmentID } = await idsOf(company);
  const path = `${company.path}/appointments`;
  const before = await recordsOf(company);
  const body = '{}'.padEnd(MEBIBYTE + 1);
  assertProblem(await company.send('DELETE', `${path}/${appointmentID}`, body), 413, 'body_too_large');
  assertProblem(await company.send('DELETE', `${path}/${randomUUID()}`, body), 404, 'not_found');
  assert.deepEqual(await recordsOf(company), before);
});

test('a body that is too large for an unknown case is 404, and without a token 401', async () => {
  const body = '{"type":"phone"}'.padEnd(MEBIBYTE + 1);
  const company = await app.company();
  assertProblem(await company.post(`/cases/${randomUUID()}/interactions`, body), 404, 'not_found');
  assertProblem(await app.anonymous.post(`${company.path}/interactions`, body), 401, 'invalid_token');
});

type Secured = Record<string, { security?: Record<string, string[]>[] }>;

for (const [template, methods] of Object.entries(document.paths as unknown as Record<string, Secured>)) {
  for (const [method, { security }] of Object.entries(methods)) {
    if (method === 'get' || !template.includes('{')) continue;
    test(`${method.toUpperCase()} ${template} of what never was is 404, however large the body`, async () => {
      const caller = await (await app.company()).withScopes(...(security?.[0]?.bearer ?? []));
      const path = template.replaceAll(/\{\w+\}/g, randomUUID());
      assertProblem(await caller.send(method.toUpperCase(), path, '{}'.padEnd(MEBIBYTE + 1)), 404, 'not_found');
    });
  }
}

test('what takes no body does nothing when one comes that is too large', async () => {
  const company = await app.company();
  const [adviser] = (await company.get('/manage/advisers')).body;
  const [key] = (await company.get('/manage/keys')).body;
  const client = (await company.post('/manage/clients', { name: 'site', scopes: ['manage'] })).body;
  const customer = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
  const state = () =>
    Promise.all(
      ['advisers', 'customers', 'clients', 'tokens', 'custom_tags', 'messages'].map((table) =>
        app.sql(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${table} t WHERE company_id = $1`, [
          company.companyId,
        ]),
      ),
    );
  const before = await state();
  for (const [method, path] of [
    ['DELETE', `/manage/advisers/${adviser.id}`],
    ['DELETE', customer],
    ['DELETE', '/manage/custom-tags/vip-client'],
    ['DELETE', `/manage/keys/${key.id}`],
    ['POST', `/manage/clients/${client.id}/rotate`],
    ['POST', `/manage/clients/${client.id}/disable`],
    ['POST', `/manage/clients/${client.id}/enable`],
  ] as const) {
    assertProblem(await company.send(method, path, '{}'.padEnd(MEBIBYTE + 1)), 413, 'body_too_large');
    assert.deepEqual(await state(), before, path);
  }
});

test('a length of many gigabytes is refused before a byte of it has come', async () => {
  const company = await app.company();
  const path = `${company.path}/interactions`;
  assertProblem(await raw(head(company, 'POST', path, { 'Content-Length': 99_999_999_999 })), 413, 'body_too_large');
});

test('a body in chunks is refused at the same size', async () => {
  const company = await app.company();
  const send = (size: number) => {
    const body = Buffer.from('{"type":"phone"}'.padEnd(size));
    const start = head(company, 'POST', `${company.path}/interactions`, { 'Transfer-Encoding': 'chunked' });
    return raw(
      Buffer.concat([
        Buffer.from(start),
        chunk(body.subarray(0, 1000)),
        chunk(body.subarray(1000)),
        Buffer.from(LAST_CHUNK),
      ]),
    );
  };
  assert.equal((await send(MEBIBYTE)).status, 200);
  assertProblem(await send(MEBIBYTE + 1), 413, 'body_too_large');
  assert.equal((await interactionsOf(company)).length, 1);
});

test('at most a hundred faults are listed', async () => {
  const company = await app.company();
  const items = (count: number) => ({ ...BODIES.invoices?.(company), items: Array(count).fill({}) });
  for (const [count, listed] of [
    [25, 100],
    [26, 100],
    [1000, 100],
  ] as const) {
    const answer = await company.post(`${company.path}/invoices`, items(count));
    assertProblem(answer, 400, 'invalid_request');
    assert.equal(answer.body.errors.length, listed);
    assert.equal(answer.body.errors[0].field, 'items[0].description');
  }
});

test('a hundred thousand bad items are answered at once with too_many', async () => {
  const company = await app.company();
  for (const item of [{}, null, 1]) {
    const body = { ...BODIES.invoices?.(company), items: Array(100_000).fill(item) };
    const begin = process.cpuUsage();
    assertFaultList(await company.post(`${company.path}/invoices`, body), 'items: too_many');
    assert.ok(process.cpuUsage(begin).user < 2_000_000, 'within two seconds of work');
  }
});

test('a hundred thousand forbidden characters are answered at once', async () => {
  const company = await app.company();
  const begin = process.cpuUsage();
  const answer = await company.post(`${company.path}/interactions`, {
    type: 'phone',
    unknown: Array(100_000).fill('\0'),
  });
  assertProblem(answer, 400, 'invalid_request');
  assert.equal(answer.body.errors.length, 100);
  assert.ok(process.cpuUsage(begin).user < 2_000_000, 'within two seconds of work');
});

/* ---- how a body comes ---- */

test('a body in chunks is read, even where a chunk ends inside a letter', async () => {
  const company = await app.company();
  const body = Buffer.from('{"type":"phone","notes":"😀"}');
  const start = head(company, 'POST', `${company.path}/interactions`, { 'Transfer-Encoding': 'chunked' });
  const chunks = [...body].map((byte) => chunk(Uint8Array.of(byte)));
  const answer = await raw(Buffer.concat([Buffer.from(start), ...chunks, Buffer.from(LAST_CHUNK)]));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.notes, '😀');
});

test('a client that waits to be told to go on is told so', async () => {
  const company = await app.company();
  const headers = { Expect: '100-continue', 'Content-Length': 16 };
  const answer = await raw(`${head(company, 'POST', `${company.path}/interactions`, headers)}{"type":"phone"}`);
  assert.match(answer.all, /^HTTP\/1\.1 100 Continue/);
  assert.equal(answer.status, 200, answer.text);
});

test('a body longer than its Content-Length is cut there, and the rest is no request', async () => {
  const company = await app.company();
  const start = head(company, 'POST', `${company.path}/interactions`, { 'Content-Length': 10 });
  const answer = await raw(`${start}{"type":"phone"}`);
  assertProblem(answer, 400, 'invalid_request');
  assert.deepEqual(await interactionsOf(company), []);
});

test('a body shorter than its Content-Length is never taken for the whole', async () => {
  const company = await app.company();
  const start = head(company, 'POST', `${company.path}/interactions`, { 'Content-Length': 100 });
  const answer = await raw(`${start}{"type":"phone"}`, true);
  assertProblem(answer, 400, 'invalid_request');
  assert.deepEqual(await interactionsOf(company), []);
});

for (const [what, headers, body] of [
  ['whose length is announced', { 'Content-Length': 20 }, ''],
  ['of which half came', { 'Content-Length': 20 }, '{"notes":'],
  ['in chunks', { 'Transfer-Encoding': 'chunked' }, ''],
] as const) {
  test(`a POST to an appointment with a body ${what} that breaks off deletes nothing`, async () => {
    const company = await app.company();
    const { appointmentID } = await idsOf(company);
    const path = `${company.path}/appointments/${appointmentID}`;
    const before = await recordsOf(company);
    await raw(head(company, 'POST', path, headers) + body, true);
    assert.equal((await company.patch(path, { notes: 'still there' })).status, 200);
    assert.notDeepEqual(await recordsOf(company), before);
  });
}

for (const [what, headers, body] of [
  ['without a length', {}, ''],
  ['with a length of 0', { 'Content-Length': 0 }, ''],
  ['in no chunks', { 'Transfer-Encoding': 'chunked' }, LAST_CHUNK],
] as const) {
  test(`a POST to an appointment with no body, ${what}, deletes it`, async () => {
    const company = await app.company();
    const { appointmentID = '' } = await idsOf(company);
    const path = `${company.path}/appointments/${appointmentID}`;
    const answer = await raw(head(company, 'POST', path, headers) + body);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body).sort(), ['deleted_at', 'id']);
    assertProblem(await company.patch(path, {}), 404, 'not_found');
  });
}

for (const body of [' ', '\n', 'null', '[]', '""', '{']) {
  test(`a POST to an appointment with the body ${JSON.stringify(body)} deletes nothing`, async () => {
    const company = await app.company();
    const { appointmentID } = await idsOf(company);
    const path = `${company.path}/appointments/${appointmentID}`;
    const before = await recordsOf(company);
    assertProblem(await company.post(path, body), 400, 'invalid_request');
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('a POST to an appointment with {} updates it and deletes nothing', async () => {
  const company = await app.company();
  const { appointmentID } = await idsOf(company);
  const answer = await company.post(`${company.path}/appointments/${appointmentID}`, {});
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.deleted_at, null);
});

for (const [what, headers, body] of [
  ['two lengths', 'Content-Length: 16\r\nContent-Length: 15\r\n', '{"type":"phone"}'],
  ['a length and chunks', 'Content-Length: 16\r\nTransfer-Encoding: chunked\r\n', LAST_CHUNK],
  ['a negative length', 'Content-Length: -1\r\n', '{}'],
  ['a length that is no number', 'Content-Length: many\r\n', '{}'],
  ['a chunk without a size', 'Transfer-Encoding: chunked\r\n', 'many\r\n{}\r\n0\r\n\r\n'],
] as const) {
  test(`a request with ${what} is refused`, async () => {
    const company = await app.company();
    const start = head(company, 'POST', `${company.path}/interactions`).replace(/\r\n$/, '');
    assertProblem(await raw(`${start}${headers}\r\n${body}`), 400, 'invalid_request');
    assert.deepEqual(await interactionsOf(company), []);
  });
}

/* ---- routes and methods ---- */

for (const path of [
  ...['/', '/cases', '/cases/', '/nothing', '/favicon.ico', '/.env', '/__proto__', '/constructor', '/v1/healthz'],
  ...['/cases/§', '/cases/§/', '/cases/§/nothing', '/cases/§/Interactions', '/Cases/§/interactions'],
  ...['/cases/§/address-book/', '/cases/§/addressbook', '/cases/§/address-book/§', '/cases/§/invoices/§/items'],
  ...['/cases/§/interactions/§/', '/cases/§/appointments/§/§', '/cases/§/interactions;v=1'],
]) {
  test(`there is nothing at ${path}, for nobody`, async () => {
    const company = await app.company();
    const address = path.replaceAll('§', company.caseId);
    assertProblem(await company.get(address), 404, 'not_found');
    assertProblem(await app.anonymous.get(address), 404, 'not_found');
    assertProblem(await company.post(address, {}), 404, 'not_found');
  });
}

for (const [template, methods] of [
  ...Object.keys(specified).map((path) => [path, Object.keys(document.paths[path] ?? {})] as const),
  ...['/healthz', '/readyz', '/metrics', '/openapi.json'].map((path) => [path, ['get']] as const),
]) {
  const served = methods.map((method) => method.toUpperCase());

  test(`${template} takes ${served.join(', ')} and tells so to any other method`, async () => {
    const company = await app.company();
    const path = fill(template, await idsOf(company));
    const before = await recordsOf(company);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter(
      (m) => !served.includes(m),
    )) {
      for (const caller of [company, app.anonymous]) {
        const answer = await caller.send(method, path);
        assertProblem(answer, 405, 'method_not_allowed');
        const allowed = String(answer.headers.allow)
          .split(', ')
          .filter((name) => name !== 'HEAD');
        assert.deepEqual(allowed.sort(), [...served].sort());
      }
    }
    assert.deepEqual(await recordsOf(company), before);
  });
}

/* ---- identifiers in the path ---- */

for (const [what, odd] of Object.entries<(id: string) => string>({
  'a word': () => 'nothing',
  'a number': () => '1',
  'the nil UUID': () => '00000000-0000-0000-0000-000000000000',
  'a UUID cut short': (id) => id.slice(0, -1),
  'a UUID with a letter more': (id) => `${id}0`,
  'a UUID without its dashes': (id) => id.replaceAll('-', ''),
  'a UUID in braces': (id) => `%7B${id}%7D`,
  'a UUID as a URN': (id) => `urn:uuid:${id}`,
  'a UUID with a blank before it': (id) => `%20${id}`,
  'a UUID with a line end after it': (id) => `${id}%0A`,
  'a UUID with NUL after it': (id) => `${id}%00`,
  'a UUID with a letter that is no hex digit': (id) => `g${id.slice(1)}`,
  'a NUL': () => '%00',
  'an encoded slash': () => 'a%2Fb',
  'a way up': () => '..%2F..%2Fetc',
  'an encoded question mark': (id) => `${id}%3Fx`,
  SQL: () => `'%20OR%20'1'='1`,
  'an emoji': () => encodeURIComponent('😀'),
  'the name of a member of every object': () => '__proto__',
  'a percent sign that encodes nothing': () => '%zz',
  'a percent sign alone': () => '%',
  'broken UTF-8': () => '%C3%28',
  'a hundred letters': () => 'x'.repeat(100),
  'a hundred and one letters': () => 'x'.repeat(101),
  'five thousand letters': () => 'x'.repeat(5000),
})) {
  test(`${what} identifies nothing: 404`, async () => {
    const company = await app.company();
    const ids = await idsOf(company);
    const before = await recordsOf(company);
    for (const form of forms) {
      for (const name of ['caseId', recordNameOf(form)].filter((param) => param !== undefined)) {
        const path = fill(form.template, { ...ids, [name]: odd(ids[name] ?? '') });
        const answer = await company.send(form.method, path, bodyOf(form, company));
        assertProblem(answer, 404, 'not_found');
      }
    }
    assert.deepEqual(await recordsOf(company), before);
  });
}

for (const form of forms) {
  test(`${nameOf(form)} finds its records by identifiers in upper case`, async () => {
    const company = await app.company();
    const ids = await idsOf(company);
    const upper = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, id.toUpperCase()]));
    const answer = await company.send(form.method, fill(form.template, upper), bodyOf(form, company));
    assert.equal(answer.status, 200, answer.text);
    const record = recordNameOf(form);
    if (record) assert.equal(answer.body.id, ids[record]);
  });
}

test('a record that was made under a case in upper case names the case as it is', async () => {
  const company = await app.company();
  const answer = await company.post(`/cases/${company.caseId.toUpperCase()}/interactions`, { type: 'phone' });
  assert.equal(answer.body.customer_case_id, company.caseId);
  assert.equal((await interactionsOf(company))[0].id, answer.body.id);
});

test('an identifier may be written in percent signs', async () => {
  const company = await app.company();
  const encoded = [...company.caseId].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  assert.equal((await company.get(`/cases/${encoded}/interactions`)).status, 200);
});

test('a query string that an operation does not know is ignored', async () => {
  const company = await app.company();
  for (const query of [
    '?x=1',
    '?caseId=nothing',
    '?__proto__=1&a[b]=c',
    '?%00',
    '?x=%zz',
    '?',
    `?${'x'.repeat(5000)}`,
  ]) {
    const answer = await company.get(`${company.path}/interactions${query}`);
    assert.equal(answer.status, 200, answer.text);
  }
});

/* ---- X-Request-Id ---- */

for (const id of [
  'b3f1c2d4-1111-4222-8333-abcdefabcdef',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  '01J9ZQ4T6X7Y8W9V0ABCDEFGHJ',
  'order-2026.06.01_0001',
]) {
  test(`the request id ${id} is given back, on success and on refusal`, async () => {
    const company = await app.company();
    const headers = { 'x-request-id': id };
    assert.equal((await company.get(`${company.path}/interactions`, headers)).headers['x-request-id'], id);
    const refused = await company.post(`${company.path}/interactions`, {}, headers);
    assertProblem(refused, 400, 'invalid_request');
    assert.equal(refused.body.request_id, id);
    assert.equal((await app.anonymous.get('/nothing', headers)).body.request_id, id);
  });
}

for (const id of [
  ...[
    '',
    ' ',
    'two words here',
    '"quoted-request-id"',
    '<script>alert(1)</script>',
    'request{id}value',
    'réquest-identifier',
  ],
  ...['request\tidentifier', `\${jndi:ldap://x}`, 'a,b,c,d,e,f,g,h', 'x'.repeat(1000)],
]) {
  test(`the request id ${JSON.stringify(id.slice(0, 40))} is replaced`, async () => {
    const company = await app.company();
    const answer = await company.post(`${company.path}/interactions`, {}, { 'x-request-id': id });
    assertProblem(answer, 400, 'invalid_request');
    assert.notEqual(answer.body.request_id, id);
    assert.match(answer.body.request_id, /^[0-9a-zA-Z-]{16,64}$/);
  });
}

test('requests without an id get one each', async () => {
  const company = await app.company();
  const ids = new Set<unknown>();
  for (let i = 0; i < 20; i++) ids.add((await company.get(`${company.path}/interactions`)).headers['x-request-id']);
  assert.equal(ids.size, 20);
});

/* ---- what is not HTTP ---- */

for (const [what, bytes] of Object.entries({
  words: 'HELLO?\r\n\r\n',
  'the greeting of TLS': Buffer.from('16030100c8010000c40303', 'hex'),
  'bytes by chance': Buffer.from('00ff10fe7f8001', 'hex'),
  'a version of HTTP that is none': 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n',
  'a method that is none': 'FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'a header without a name': 'GET /healthz HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n',
  'a control character in a header': 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Odd: a\u0001b\r\n\r\n',
  'the start of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
})) {
  test(`${what} instead of a request: 400 in the common form`, async () => {
    const answer = await raw(bytes);
    assertProblem(answer, 400, 'invalid_request');
    assert.equal((await app.anonymous.get('/healthz')).status, 200);
  });
}

for (const [what, request] of Object.entries({
  'a header of 100 KB': `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`,
  'an address of 100 KB': `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
})) {
  test(`${what} is refused in the common form`, async () => {
    const answer = await raw(request);
    assertProblem(answer, 431, 'invalid_request');
  });
}

test('a request without Host is refused in the common form', async () => {
  assertProblem(await raw('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'), 400, 'invalid_request');
});

for (const [what, hosts, code] of [
  ['two Host headers', 'Host: a\r\nHost: b\r\n', 'too_many'],
  ['the same Host twice, in another letter case', 'Host: a\r\nHOST: a\r\n', 'too_many'],
  ['a Host with a path', 'Host: a/b\r\n', 'format'],
  ['a Host with a user', 'Host: user@a\r\n', 'format'],
  ['a Host with a blank', 'Host: a b\r\n', 'format'],
  ['a Host with a port that is no number', 'Host: a:b\r\n', 'format'],
  ['a Host with an open bracket', 'Host: [::1\r\n', 'format'],
  ['two hosts in one header', 'Host: a, b\r\n', 'format'],
] as const) {
  test(`a request with ${what} is refused with the field named`, async () => {
    for (const path of ['/healthz', '/nothing', '/events']) {
      assertFaultList(await raw(`GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`), `Host: ${code}`);
    }
  });
}

for (const host of ['localhost', 'LOCALHOST:8080', 'records.firm.example.', '127.0.0.1:80', '[::1]:8080', '', 'a_b']) {
  test(`"${host}" is a Host`, async () => {
    assert.equal((await raw(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status, 200);
  });
}

for (const start of ['http://evil.example', 'https://evil.example:8443', 'HTTP://user@evil.example']) {
  test(`an address that begins with ${start} is answered, and its host is not repeated`, async () => {
    const company = await app.company();
    for (const path of ['/manage/cases?per_page=1', '/events', `${company.path}/interactions?per_page=1&page=1`]) {
      const answer = await raw(head(company, 'GET', start + path));
      assert.equal(answer.status, 200, answer.all);
      assert.match(String(answer.headers.link), /^<\//, path);
      assert.doesNotMatch(answer.all, /evil/);
    }
    assertProblem(await raw(head(company, 'GET', start)), 404, 'not_found');
    assertProblem(await raw(head(company, 'GET', `${start}?x=1`)), 404, 'not_found');
  });
}

/* ---- Content-Encoding ---- */

for (const encoding of ['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'unknown']) {
  test(`a body with Content-Encoding: ${encoding} is refused with 415 and does nothing`, async () => {
    const company = await app.company();
    const headers = { 'content-encoding': encoding };
    const answer = await company.post(`${company.path}/interactions`, { type: 'phone' }, headers);
    assertProblem(answer, 415, 'unsupported_media_type');
    assert.equal(answer.headers['accept-encoding'], 'identity');
    assertProblem(await company.post('/manage/cases', { reference: 'x' }, headers), 415, 'unsupported_media_type');
    assertProblem(await app.anonymous.post('/oauth/token', {}, headers), 415, 'unsupported_media_type');
    assert.deepEqual(await interactionsOf(company), []);
  });
}

test('Content-Encoding is judged after the credentials, the scope and the Content-Type, and only where there is a body', async () => {
  const company = await app.company();
  const headers = { 'content-encoding': 'gzip' };
  const path = `${company.path}/interactions`;
  assertProblem(await app.anonymous.post(path, { type: 'phone' }, headers), 401, 'invalid_token');
  const narrow = await company.withScopes('invoices:read');
  assertProblem(await narrow.post(path, { type: 'phone' }, headers), 403, 'insufficient_scope');
  const typed = { ...headers, 'content-type': 'text/plain' };
  assertFaultList(await company.post(path, { type: 'phone' }, typed), 'Content-Type: not_allowed');
  assertProblem(await company.post('/cases/none/interactions', {}, headers), 415, 'unsupported_media_type');
  assert.equal((await company.get(path, headers)).status, 200);
  assert.equal((await company.post(path, { type: 'phone' }, { 'content-encoding': 'Identity' })).status, 200);
});

test('an expectation that nobody knows is answered in the common form', async () => {
  const answer = await raw('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n');
  assert.ok(answer.headers['x-request-id'], answer.all);
  if (answer.status !== 200) assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
});

/* ---- faults of the service ---- */

const INSIDE =
  /relation|column|constraint|sql|postgres|insert|select|interactions|invoices|people|appointments|\bat \b|\.ts/i;

for (const [table, resource, method] of [
  ['interactions', 'interactions', 'GET'],
  ['interactions', 'interactions', 'POST'],
  ['invoices', 'invoices', 'GET'],
  ['people', 'address-book', 'GET'],
  ['appointments', 'appointments', 'POST'],
] as const) {
  test(`a 500 of ${method} ${resource} says nothing of the inside, and passes with its cause`, async () => {
    const company = await app.company();
    const call = () =>
      company.send(method, `${company.path}/${resource}`, method === 'POST' ? BODIES[resource]?.(company) : undefined);
    await app.sql(`ALTER TABLE ${table} RENAME TO taken_away`);
    let answer: Answer;
    try {
      answer = await call();
    } finally {
      await app.sql(`ALTER TABLE taken_away RENAME TO ${table}`);
    }
    assertProblem(answer, 500, 'internal');
    assert.doesNotMatch(answer.text.replace(answer.body.request_id, ''), INSIDE);
    assert.equal((await call()).status, 200);
  });
}

test('a 500 while writing leaves nothing behind', async () => {
  const company = await app.company();
  const before = await recordsOf(company);
  await app.sql('ALTER TABLE invoice_items ADD CONSTRAINT in_the_way CHECK (false) NOT VALID');
  let answer: Answer;
  try {
    answer = await company.post(`${company.path}/invoices`, BODIES.invoices?.(company));
  } finally {
    await app.sql('ALTER TABLE invoice_items DROP CONSTRAINT in_the_way');
  }
  assertProblem(answer, 500, 'internal');
  assert.doesNotMatch(answer.text.replace(answer.body.request_id, ''), /in_the_way|constraint|invoice|check/i);
  assert.deepEqual(await recordsOf(company), before);
});

for (const [what, value, code] of [
  ['null', null, 'required'],
  ['a number', 5, 'type'],
  ['a list', ['phone'], 'type'],
  ['another word', 'Phone', 'not_allowed'],
] as const) {
  test(`${what} for a field that takes a few words is one fault and not two`, async () => {
    const company = await app.company();
    const requests: [string, object, string][] = [
      [`${company.path}/interactions`, { type: value }, 'type'],
      [
        `${company.path}/address-book/entry`,
        { entity_id: value, title: '', first_names: '', last_name: '' },
        'entity_id',
      ],
      ['/manage/keys', { name: 'x', scopes: ['manage', value] }, 'scopes[1]'],
    ];
    for (const [path, body, field] of requests) {
      const { errors } = (await company.post(path, body)).body;
      assert.deepEqual(
        errors.map((fault: { field: string; code: string }) => [fault.field, fault.code]),
        [[field, code]],
      );
    }
  });
}
