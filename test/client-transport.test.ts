import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, mock, test } from 'node:test';
import { CaseRecordsError, createClient } from '../packages/client/src/index.ts';

/** How the client sends a request in Node. What it does when a request fails is in client-retries.test.ts. */

let respond: (response: ServerResponse) => void;
const requests: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string; port: number })[] = [];
const server = createServer(async (request, response) => {
  const { method, url, headers, socket } = request;
  const body = Buffer.concat(await request.toArray()).toString();
  requests.push({ method, url, headers, body, port: socket.remotePort ?? 0 });
  respond(response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close().closeAllConnections());
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`;
const client = createClient({ baseUrl, token: 'secret', retries: 0 });

const NOTES = 'café – 10 € 😀';
const answerNotes = (response: ServerResponse) => response.end(JSON.stringify({ notes: NOTES }));
beforeEach(() => {
  requests.length = 0;
  respond = answerNotes;
});

const create = () => client.createCaseInteraction({ caseId: 'c', body: { type: 'phone', notes: NOTES } });

test('a request has its method, path, headers and body, and nothing of the platform', async () => {
  await create();
  await client.deleteCaseAppointment({ caseId: 'c', appointmentID: 'a', ifMatch: '"1"' });
  const [post, remove] = requests;
  assert.deepEqual([post?.method, post?.url], ['POST', '/prefix/cases/c/interactions']);
  assert.deepEqual(JSON.parse(post?.body ?? ''), { type: 'phone', notes: NOTES });
  assert.equal(post?.headers['content-length'], String(Buffer.byteLength(post?.body ?? '')));
  assert.deepEqual([remove?.method, remove?.url, remove?.body], ['DELETE', '/prefix/cases/c/appointments/a', '']);
  for (const { headers } of requests) {
    const { 'idempotency-key': key, 'if-match': _, 'content-length': __, ...others } = headers;
    assert.match(String(key), /^[0-9a-f-]{36}$/);
    assert.deepEqual(Object.keys(others).sort(), ['authorization', 'connection', 'content-type', 'host']);
  }
  assert.equal(remove?.headers['if-match'], '"1"');
});

test('the host of the base URL may be an IPv6 address, and its path may need encoding', async () => {
  const send = http.request;
  const sent: Record<string, unknown>[] = [];
  // Not every machine has the address ::1.
  const { mock: request } = mock.method(http, 'request', (options: http.RequestOptions, onResponse: () => void) => {
    sent.push({ hostname: options.hostname, port: options.port });
    return send({ ...options, hostname: '127.0.0.1', port: new URL(baseUrl).port }, onResponse);
  });
  const away = createClient({ baseUrl: 'http://[::1]:8080/a b/', token: 'secret', retries: 0 });
  await away.getCaseInteractions({ caseId: 'c', from: '2026-01-01T10:00:00+01:00' }).finally(() => request.restore());
  assert.deepEqual(sent, [{ hostname: '::1', port: '8080' }]);
  assert.equal(requests[0]?.url, '/a%20b/cases/c/interactions?from=2026-01-01T10%3A00%3A00%2B01%3A00');
});

test('calls that follow one another use one connection', async () => {
  for (let i = 0; i < 5; i++) await create();
  assert.equal(new Set(requests.map(({ port }) => port)).size, 1);
});

test('a response that arrives byte by byte is read whole, also within a character', async () => {
  respond = async (response) => {
    response.writeHead(200, { 'content-type': 'application/json', etag: '"7"', 'x-request-id': 'r' });
    for (const byte of Buffer.from(JSON.stringify({ notes: NOTES }))) {
      response.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    response.end();
  };
  const { data, etag, requestId, total } = await create();
  assert.deepEqual([data.notes, etag, requestId, total], [NOTES, '"7"', 'r', undefined]);
});

test('a response that begins and never ends is timed out, and its connection is closed', async () => {
  let closed: Promise<unknown[]> | undefined;
  respond = (response) => {
    closed = once(response, 'close');
    response.write('{"notes":');
  };
  const hasty = createClient({ baseUrl, token: 'secret', retries: 0, timeoutMs: 100 });
  await assert.rejects(hasty.createCaseInteraction({ caseId: 'c', body: { type: 'phone' } }), (error) => {
    return error instanceof CaseRecordsError && error.code === 'timed_out';
  });
  await closed;
});

test('a program that replaces the global fetch gets the requests', async () => {
  const { fetch } = globalThis;
  const urls: string[] = [];
  globalThis.fetch = async (url) => {
    urls.push(String(url));
    return Response.json({ notes: 'replaced' });
  };
  try {
    assert.equal((await create()).data.notes, 'replaced');
  } finally {
    globalThis.fetch = fetch;
  }
  assert.deepEqual(urls, [`${baseUrl}cases/c/interactions`]);
  assert.equal((await create()).data.notes, NOTES);
  assert.equal(requests.length, 1);
});
