import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import pino from 'pino';
import { Evictions } from '../../src/http/plugins/evictions.ts';
import { UnreadResponses } from '../../src/http/plugins/unread-responses.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { document } from '../harness/openapi.ts';
import { until, within } from '../harness/until.ts';

/** Memory that callers can make the process hold: unfinished bodies, unread answers, pipelined requests. */

const KIB = 1024;
const MAX_UNFINISHED = 512 * KIB;
const MAX_UNREAD = 1024 * KIB;
const app = await startApp();
const small = await startApp({ maxUnfinishedBytes: MAX_UNFINISHED, maxUnreadBytes: MAX_UNREAD });

type Peer = { socket: Socket; received: () => string; ended: Promise<unknown> };
const peers: Peer[] = [];
after(() => peers.forEach(({ socket }) => void socket.destroy()));

function peer({ baseUrl }: TestApp, ...parts: (string | Buffer)[]): Peer {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  for (const part of parts) socket.write(part);
  const one = { socket, received: () => received, ended: once(socket, 'close').catch(() => {}) };
  peers.push(one);
  return one;
}

const metric = async ({ anonymous }: TestApp, name: string): Promise<number> =>
  Number(
    new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec((await anonymous.get('/metrics')).text)?.[1],
  );
const EVICTED = 'http_connections_evicted_total';

/* ---- before authentication ---- */

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.keys(operations)
    .filter((method) => METHODS.includes(method))
    .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'x') })),
);
const PUBLIC_GETS = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'];

test('no body is waited for without credentials, on any route', async () => {
  assert.ok(routes.length > 100);
  const unfinished = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 15000\r\n\r\n{';
  const waitsForBody = ['/oauth/token', '/oauth/revoke'];
  for (const { method, path } of routes.filter(({ path }) => !waitsForBody.includes(path))) {
    const { socket, received } = peer(app, `${method} ${path} HTTP/1.1\r\n${unfinished}`);
    await until(() => received() !== '');
    // People sign in from pages of the service only.
    assert.match(received(), /^HTTP\/1\.1 (401|403|429) /, `${method} ${path}`);
    socket.destroy();
  }
  for (const path of PUBLIC_GETS) {
    const { socket, received } = peer(app, `GET ${path} HTTP/1.1\r\n${unfinished}`);
    await until(() => received() !== '');
    assert.match(received(), /^HTTP\/1\.1 200 /, path);
    socket.destroy();
  }
  assert.equal(await metric(app, 'http_unfinished_request_bytes'), 0);
});

/* ---- unfinished bodies ---- */

const tokenRequest = (length: number | string) =>
  `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${
    typeof length === 'number' ? `Content-Length: ${length}` : 'Transfer-Encoding: chunked'
  }\r\n\r\n`;

test('unfinished bodies together hold no more than their limit: the slowest are answered 503 and closed', async () => {
  const slow = Array.from({ length: 100 }, () => peer(small, tokenRequest(16 * KIB), Buffer.alloc(8 * KIB, ' ')));
  await until(async () => (await metric(small, `${EVICTED}{reason="unfinished_request"}`)) > 0);
  await until(() => slow.filter(({ received }) => received() !== '').length >= 20);
  assert.ok((await metric(small, 'http_unfinished_request_bytes')) <= MAX_UNFINISHED);
  for (const { received, ended } of slow.filter(({ received }) => received() !== '')) {
    await within(ended, 'the end of the connection');
    assert.match(received(), /^HTTP\/1\.1 503 /);
    assert.match(received(), /\r\nretry-after: 1\r\n/i);
    assert.match(received(), /"code":"unavailable"/);
  }
  // Other callers are served meanwhile, with bodies in one piece and in several.
  const company = await small.company();
  assert.equal((await company.post(`${company.path}/interactions`, { type: 'phone' })).status, 200);
  const notes = 'x'.repeat(255);
  const large = JSON.stringify({ type: 'phone', notes, unknown: 'x'.repeat(200 * KIB) });
  const made = await company.post(`${company.path}/interactions`, large);
  assert.deepEqual([made.status, made.body.notes], [200, notes]);
  for (const { socket } of slow) socket.destroy();
  await until(async () => (await metric(small, 'http_unfinished_request_bytes')) === 0);
});

test('of unfinished bodies those that come slowly are given up before one that comes fast', async () => {
  const company = await small.company();
  const slow = Array.from({ length: 20 }, () => peer(small, tokenRequest(16 * KIB), Buffer.alloc(8 * KIB, ' ')));
  // Each holds as much as it has announced.
  await until(async () => (await metric(small, 'http_unfinished_request_bytes')) === slow.length * 16 * KIB);
  const before = await metric(small, `${EVICTED}{reason="unfinished_request"}`);
  const body = JSON.stringify({ type: 'phone', unknown: 'x'.repeat(300 * KIB) });
  assert.equal((await company.post(`${company.path}/interactions`, body)).status, 200);
  assert.ok((await metric(small, `${EVICTED}{reason="unfinished_request"}`)) > before);
  assert.ok(slow.some(({ received }) => received().startsWith('HTTP/1.1 503 ')));
});

/* ---- unread answers ---- */

test('unread answers together hold no more than their limit: the slowest readers are cut off', async () => {
  const slow = Array.from({ length: 20 }, () => {
    const one = peer(small, 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
    one.socket.pause();
    return one;
  });
  await until(async () => (await metric(small, `${EVICTED}{reason="unread_response"}`)) >= 15);
  await until(async () => (await metric(small, 'http_unread_response_bytes')) <= MAX_UNREAD);
  assert.equal((await small.anonymous.get('/openapi.json')).status, 200);
  for (const { socket } of slow) socket.destroy();
});

test('an answer of many megabytes is read whole by a peer that reads, however small the limit', async () => {
  const company = await small.company();
  await small.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, sender, recipient, happened_at, created_at, updated_at)
     SELECT company_id, id, gen_random_uuid(), 'phone', repeat('long ', 200), '', '', now(), now(), now()
       FROM cases, generate_series(1, 3000) WHERE id = $1`,
    [company.caseId],
  );
  const { status, body } = await company.get(`${company.path}/interactions`);
  assert.deepEqual([status, body.length], [200, 3_000]);
});

/* ---- pipelined requests ---- */

test('a connection may have 32 requests in flight; one more is answered 503 and ends it', async () => {
  const request = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
  const allowed = peer(app, request.repeat(32));
  await until(() => allowed.received().split('HTTP/1.1 200').length === 33);
  const before = await metric(app, `${EVICTED}{reason="pipelined_requests"}`);
  const { received, ended } = peer(app, request.repeat(500));
  await within(ended, 'the end of the connection');
  const statuses = [...received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual(statuses, [...Array(32).fill('200'), '503']);
  assert.match(received(), /"code":"unavailable"/);
  assert.equal(await metric(app, `${EVICTED}{reason="pipelined_requests"}`), before + 1);
});

test('a peer that takes nothing of its answer for the longest time is cut off, however little it holds', () => {
  const evictions = new Evictions(pino({ level: 'silent' }));
  const answers = new UnreadResponses(evictions, 1_000, -1);
  const peer = (writableLength: number) => {
    const socket = Object.assign(new EventEmitter(), {
      writableLength,
      bytesWritten: 10,
      destroyed: false,
      resetAndDestroy: () => Object.assign(socket, { destroyed: true }),
    });
    answers.track(socket as unknown as Socket);
    return socket;
  };
  const [stalled, idle] = [peer(10), peer(0)];
  answers.sweep();
  answers.stop();
  assert.deepEqual([stalled.destroyed, idle.destroyed], [true, false]);
  assert.equal(evictions.counts.unread_response, 1);
});

test('a further request does not show that a peer has read what the kernel holds for it', () => {
  const answers = new UnreadResponses(new Evictions(pino({ level: 'silent' })), 1_000_000);
  const socket = Object.assign(new EventEmitter(), { writableLength: 0, bytesWritten: 0 }) as unknown as Socket;
  answers.track(socket);
  answers.countPublicResponse(socket, 5_000);
  answers.admit({ socket } as IncomingMessage, { writableFinished: true } as ServerResponse);
  assert.equal(answers.bytes, 5_000);
  answers.countPublicResponse(socket, 5_000);
  assert.equal(answers.bytes, 10_000);
  socket.emit('close');
  assert.equal(answers.bytes, 0);
  answers.stop();
});
