import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { readConfig } from '../src/config.ts';
import { startApp } from './harness/app.ts';
import { blocked } from './harness/overlap.ts';
import { until } from './harness/until.ts';

/** What an overloaded process refuses. */

const app = await startApp({ maxConcurrentRequests: 2, maxConnections: 20 });
const company = await app.company();
const path = `${company.path}/interactions`;

async function waiting(count: number): Promise<void> {
  await until(async () => (await blocked(app)).length === count);
}

/** Blocks every write of an interaction until `work` is done. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const client = new pg.Client(app.connection);
  await client.connect();
  await client.query('BEGIN; LOCK TABLE interactions IN SHARE MODE');
  try {
    await work();
  } finally {
    await client.query('ROLLBACK');
    await client.end();
  }
}

test('requests above the limit are refused with 503 and Retry-After, and change nothing; afterwards all is as before', async () => {
  let under: Promise<{ status: number }>[] = [];
  await whileLocked(async () => {
    under = [company.post(path, { type: 'phone' }), company.post(path, { type: 'phone' })];
    await waiting(2);
    for (const refused of [await company.post(path, { type: 'email' }), await company.get(path)]) {
      assert.deepEqual([refused.status, refused.body.code, refused.headers['retry-after']], [503, 'unavailable', '1']);
    }
    for (const watched of ['/healthz', '/readyz', '/metrics']) {
      assert.equal((await app.anonymous.get(watched)).status, 200, watched);
    }
  });
  for (const { status } of await Promise.all(under)) assert.equal(status, 200);
  for (let i = 0; i < 5; i++) assert.equal((await company.get(path)).body.length, 2);
});

test('a request that is refused or aborted takes no slot', async () => {
  for (let i = 0; i < 5; i++) assert.equal((await company.post(path, '{')).status, 400);
  for (let i = 0; i < 5; i++) assert.equal((await company.get('/cases/none/interactions')).status, 404);
  await whileLocked(async () => {
    const { hostname, port } = new URL(app.baseUrl);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${company.token}\r\nContent-Type: application/json`;
    for (let i = 0; i < 2; i++) {
      const socket = connect(Number(port), hostname);
      socket.write(`${head}\r\nContent-Length: 16\r\n\r\n{"type":"phone"}`);
      await waiting(i + 1);
      socket.destroy();
    }
  });
  await until(async () => (await company.get(path)).status === 200);
});

test('a body that arrives slowly takes no slot', async () => {
  const { hostname, port } = new URL(app.baseUrl);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${company.token}\r\nContent-Type: application/json`;
  const slow: Socket[] = [];
  for (let i = 0; i < 5; i++) {
    const socket = connect(Number(port), hostname);
    socket.write(`${head}\r\nContent-Length: 16\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    slow.push(socket);
  }
  assert.equal((await company.get(path)).status, 200);
  for (const socket of slow) socket.destroy();
});

test('connections beyond their limit are closed', async () => {
  const { hostname, port } = new URL(app.baseUrl);
  const sockets = Array.from({ length: 40 }, () => connect(Number(port), hostname));
  const outcomes = sockets.map((socket) => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const ended = once(socket, 'close').then(() => 'closed');
    const answered = once(socket, 'data').then(() => 'answered');
    // A connection that is closed may report an error.
    return Promise.race([answered, ended]).catch(() => 'closed');
  });
  const closed = (await Promise.all(outcomes)).filter((outcome) => outcome === 'closed').length;
  assert.ok(closed >= 20 && closed < 40, `${closed} were closed`);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await company.get(path).catch(() => undefined))?.status === 200);
});

test('concurrent requests for the metrics ask the database once', async () => {
  const { onStatement } = app.db;
  let asked = 0;
  app.db.onStatement = (name, seconds) => {
    if (name === 'messages.due') asked++;
    onStatement(name, seconds);
  };
  const { hostname, port } = new URL(app.baseUrl);
  const socket = connect(Number(port), hostname);
  // All requests are read before the first is answered.
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
  let answers = '';
  while (answers.split('HTTP/1.1 200').length < 11) answers += (await once(socket, 'data')).toString();
  socket.destroy();
  app.db.onStatement = onStatement;
  assert.equal(asked, 1);
});

test('there are limits by default', () => {
  const { MAX_CONCURRENT_REQUESTS, MAX_CONNECTIONS } = readConfig({});
  assert.deepEqual([MAX_CONCURRENT_REQUESTS, MAX_CONNECTIONS], [200, 5000]);
});
