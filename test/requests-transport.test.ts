import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertProblem } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { document, specified } from './harness/openapi.ts';
import {
  app,
  assertFaultList,
  BODIES,
  bodyOf,
  chunk,
  fill,
  forms,
  head,
  idsOf,
  interactionsOf,
  LAST_CHUNK,
  nameOf,
  raw,
  recordNameOf,
  recordsOf,
} from './harness/requests.ts';

/* ---- how a body comes ---- */

test('a body in chunks is read, even if a chunk ends inside a character', async () => {
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
  ...['/nothing', '/index.html', '/.env', '/__proto__', '/constructor', '/v1/healthz'],
  ...['/cases/§/', '/cases/§/nothing', '/cases/§/Interactions', '/Cases/§/interactions'],
  ...['/cases/§/address-book/', '/cases/§/addressbook', '/cases/§/address-book/§', '/cases/§/invoices/§/items'],
  ...['/cases/§/interactions/§/', '/cases/§/appointments/§/§', '/cases/§/interactions;v=1'],
]) {
  test(`there is nothing at ${path}, with any credentials`, async () => {
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
    for (const address of [start, `${start}?x=1`]) {
      const answer = await raw(head(company, 'GET', address));
      assert.equal(answer.status, 200, answer.all);
      assert.doesNotMatch(answer.all, /evil/);
    }
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

test('Content-Encoding is checked after the credentials, the scope and the Content-Type, and only if there is a body', async () => {
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

test('an unknown expectation is answered in the common form', async () => {
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
