import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type pg from 'pg';
import { PipelinedPool } from '../src/kernel/database/pipelined-pool.ts';
import type { PipelinedTransaction } from '../src/kernel/database/pipelined-transaction.ts';
import { UnavailableError } from '../src/kernel/errors.ts';
import { testQuery } from './harness/query.ts';

/** Which connection a statement gets, and when. The test's own server answers on command. */

type Sent = { name: string; answer: (error?: Error) => void };

class Server extends EventEmitter {
  readonly sent: Sent[] = [];
  readonly connection = { stream: { destroy: (error: Error) => this.#destroyed(error) } };
  /** Does not close when it is asked to. */
  deaf = false;
  destroyed = false;
  #ending = false;
  connect = async () => {};
  /** Like `pg`: statements in flight are answered first. */
  end = async () => {
    this.#ending = true;
    this.#goodbye();
  };
  query = (
    asked: { name: string } & Partial<Pick<PipelinedTransaction, 'callback'>>,
    done: (error: Error | null, result?: unknown) => void = (error) => asked.callback?.(error, error ? undefined : []),
  ) => {
    const answer = (error?: Error) => {
      this.sent.splice(this.sent.indexOf(one), 1);
      done(error ?? null, { rows: [] });
      this.#goodbye();
    };
    const one = { name: asked.name, answer };
    this.sent.push(one);
  };

  #goodbye(): void {
    if (this.#ending && !this.deaf && this.sent.length === 0) this.emit('end');
  }

  /** Like `pg`: all statements in flight end with it. */
  #destroyed(error: Error): void {
    this.destroyed = true;
    for (const { answer } of [...this.sent]) answer(error);
    this.emit('error', error);
    this.emit('end');
  }
}

const MOST_AHEAD = 16;
const SILENCE_MS = 20_000;
const settled = () => new Promise(setImmediate);
const silent = { message: 'Connection terminated: the server is silent.' };
const isUnavailable = (error: unknown) => error instanceof UnavailableError;

function pipelines(size: number, ahead = MOST_AHEAD, connect?: () => Promise<void>) {
  const servers: Server[] = [];
  const lanes = new PipelinedPool({
    size,
    maxInFlight: ahead,
    responseTimeoutMs: SILENCE_MS,
    onError: () => {},
    connect: () => {
      const server = new Server();
      if (connect) server.connect = connect;
      servers.push(server);
      return server as unknown as pg.Client;
    },
  });
  const ask = (name: string) => {
    const asked = lanes.queryRows(testQuery(name, ''));
    // Some tests leave statements waiting. The pool refuses these seconds later, when the test has ended.
    asked.catch(() => {});
    return asked;
  };
  const fill = (count: number) => Array.from({ length: count }, (_, i) => ask(`first ${i}`));
  const names = () => servers.flatMap(({ sent }) => sent.map(({ name }) => name));
  return { lanes, servers, ask, fill, names };
}

test('a connection is opened for each statement up to the limit, and then the least busy is used', async () => {
  const { servers, fill } = pipelines(2);
  fill(6);
  await settled();
  assert.deepEqual(
    servers.map(({ sent }) => sent.length),
    [3, 3],
  );
});

test('if every connection is full, a statement goes to the one that answers first', async () => {
  const { lanes, servers, ask, fill } = pipelines(2, 3);
  fill(6);
  ask('waits');
  await settled();
  const sent = () => servers.map(({ sent }) => sent.length);
  assert.deepEqual(sent(), [3, 3]);
  assert.equal(lanes.counts.waiting, 1);
  servers[1]?.sent[0]?.answer();
  await settled();
  assert.deepEqual(sent(), [3, 3]);
  assert.equal(servers[1]?.sent.at(-1)?.name, 'waits');
});

test('a waiting statement without others of its kind goes singly', async () => {
  const { lanes, servers, ask, names } = pipelines(1, 1);
  ask('first');
  await settled();
  for (const name of ['a', 'b', 'c']) ask(name);
  servers[0]?.sent[0]?.answer();
  await settled();
  assert.deepEqual([names(), lanes.counts.waiting], [['a'], 2]);
});

test('first come, first served: waiting statements go before later ones, in order', async () => {
  const { lanes, servers, ask, fill } = pipelines(1);
  const broken = fill(MOST_AHEAD).map((one) => assert.rejects(one));
  await settled();
  for (const name of ['a', 'b', 'c']) ask(name);
  assert.equal(lanes.counts.waiting, 3);
  const [server] = servers as [Server];
  // Now a connection has room, but no waiting statement has been told.
  server.emit('end');
  ask('late');
  for (const { answer } of [...server.sent]) answer(new Error('Connection terminated unexpectedly'));
  await Promise.all(broken);
  await settled();
  assert.deepEqual(
    servers.slice(1).map(({ sent }) => sent.map(({ name }) => name)),
    [['a', 'b', 'c', 'late']],
  );
});

test('a statement that has waited too long is refused, and those behind it lose nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { lanes, servers, ask, fill, names } = pipelines(1);
  fill(MOST_AHEAD);
  await settled();
  const tired = ['tired', 'tired too'].map((name) => assert.rejects(ask(name), isUnavailable));
  t.mock.timers.tick(3_000);
  ask('patient');
  t.mock.timers.tick(2_000);
  assert.equal(lanes.counts.waiting, 3);
  t.mock.timers.tick(500);
  await Promise.all(tired);
  assert.equal(lanes.counts.waiting, 1);
  servers[0]?.sent[0]?.answer();
  await settled();
  assert.ok(names().includes('patient') && !names().includes('tired'));
});

test('closing: statements in flight are answered first; waiting and new ones are refused immediately', {
  timeout: 10_000,
}, async () => {
  const { lanes, servers, ask, fill } = pipelines(1);
  const first = fill(MOST_AHEAD);
  await settled();
  const waiting = assert.rejects(ask('waits'), isUnavailable);
  const closed = lanes.close();
  await waiting;
  await assert.rejects(ask('late'), isUnavailable);
  for (const { answer } of [...(servers[0] as Server).sent]) answer();
  await Promise.all([...first, closed]);
});

test('closing: statements that wait for a connection to open are refused', { timeout: 10_000 }, async () => {
  const { lanes, ask } = pipelines(1, MOST_AHEAD, () => new Promise(() => {}));
  const asked = assert.rejects(ask('early'), { message: 'Connection terminated before it was open.' });
  await lanes.close();
  await asked;
});

test('closing: a connection that gets nothing more is waited for, and no longer than any other', {
  timeout: 10_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { lanes, servers, ask } = pipelines(1);
  const [first, second] = [ask('first'), ask('second')];
  await settled();
  servers[0]?.sent[0]?.answer(new Error('Connection terminated by the test'));
  await assert.rejects(first);
  const closed = lanes.close();
  await settled();
  t.mock.timers.tick(SILENCE_MS + 500);
  await assert.rejects(second, silent);
  await closed;
});

test('a connection that does not end when it is told to is abandoned after five seconds', {
  timeout: 10_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { lanes, servers, ask } = pipelines(1);
  const next = async (error?: Error) => {
    const asked = ask('one');
    await settled();
    const server = servers.at(-1) as Server;
    server.deaf = true;
    server.sent[0]?.answer(error);
    await (error ? assert.rejects(asked) : asked);
    return server;
  };
  const broken = await next(new Error('Connection terminated by the test'));
  const idle = await next();
  t.mock.timers.tick(5_000);
  assert.ok(!broken.destroyed);
  t.mock.timers.tick(500);
  assert.ok(broken.destroyed && !idle.destroyed);
  const closed = lanes.close();
  t.mock.timers.tick(5_500);
  await closed;
  assert.ok(idle.destroyed);
});

test('any error that ends a connection fails all statements of its commit, and nothing is sent again', async () => {
  const { lanes, servers } = pipelines(1);
  const put = (value: number) => lanes.queryRow(testQuery('put', '', [value]));
  const first = put(0);
  await settled();
  const [server] = servers as [Server];
  server.sent[0]?.answer();
  await first;
  const odd = new TypeError('not an error of the database');
  const asked = [1, 2, 3].map((value) => assert.rejects(put(value), odd));
  await settled();
  assert.equal(server.sent.length, 1);
  server.sent[0]?.answer(odd);
  await Promise.all(asked);
  await settled();
  assert.equal(server.sent.length, 0);
});

test('a connection that leaves a statement unanswered for too long is closed, even if it gets no more statements, and no other is', {
  timeout: 10_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { servers, ask } = pipelines(2);
  const [first, second, third] = [ask('first'), ask('second'), ask('third')];
  await settled();
  const [one, other] = servers as [Server, Server];
  t.mock.timers.tick(SILENCE_MS - 500);
  // The remaining statements did not cause the time-out, and their own time starts later.
  one.sent[0]?.answer(new Error('Connection terminated by the test'));
  await assert.rejects(first);
  other.sent[0]?.answer();
  await second;
  const fourth = ask('fourth');
  await settled();
  const ended = assert.rejects(third, silent);
  t.mock.timers.tick(1_000);
  await ended;
  t.mock.timers.tick(SILENCE_MS - 1_000);
  assert.deepEqual(
    servers.flatMap(({ sent }) => sent.map(({ name }) => name)),
    ['fourth'],
  );
  const last = assert.rejects(fourth, silent);
  t.mock.timers.tick(1_000);
  await last;
});

test('the time of each begins when it is sent, not with those ahead of it or behind it', {
  timeout: 10_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { servers, ask } = pipelines(1);
  const [first] = [ask('first'), await settled()];
  t.mock.timers.tick(SILENCE_MS / 2);
  const second = ask('second');
  await settled();
  const [server] = servers as [Server];
  server.sent[0]?.answer();
  await first;
  t.mock.timers.tick(SILENCE_MS / 2 - 1_000);
  const third = ask('third');
  await settled();
  t.mock.timers.tick(SILENCE_MS / 2 + 1_000);
  assert.ok(!server.destroyed);
  const both = [second, third].map((one) => assert.rejects(one, silent));
  t.mock.timers.tick(500);
  await Promise.all(both);
});

test('if a connection breaks, waiting statements go to a new one', async () => {
  const { servers, ask, fill } = pipelines(1);
  const broken = fill(MOST_AHEAD).map((one) => assert.rejects(one));
  await settled();
  const waiting = ask('waits');
  const [server] = servers as [Server];
  for (const { answer } of [...server.sent]) answer(new Error('Connection terminated unexpectedly'));
  await Promise.all(broken);
  assert.equal(servers.length, 2);
  assert.deepEqual(
    servers[1]?.sent.map(({ name }) => name),
    ['waits'],
  );
  servers[1]?.sent[0]?.answer();
  await waiting;
});
