import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type pg from 'pg';
import { CodedError } from '../src/kernel/errors.ts';
import { Pipelines } from '../src/kernel/pipelines.ts';

/** Who gets which connection, and when. The server is the test's: it answers when it is told to. */

type Sent = { name: string; answer: (error?: Error) => void };

class Server extends EventEmitter {
  readonly sent: Sent[] = [];
  readonly connection = { stream: { destroy: (error: Error) => this.#destroyed(error) } };
  connect = async () => {};
  end = async () => {};
  query = ({ name }: { name: string }, done: (error: Error | null, result?: unknown) => void) => {
    const answer = (error?: Error) => {
      this.sent.splice(this.sent.indexOf(one), 1);
      done(error ?? null, { rows: [] });
    };
    const one = { name, answer };
    this.sent.push(one);
  };

  /** As `pg` does: all that is under way ends with it. */
  #destroyed(error: Error): void {
    for (const { answer } of [...this.sent]) answer(error);
    this.emit('error', error);
    this.emit('end');
  }
}

const MOST_AHEAD = 16;
const SILENCE_MS = 20_000;
const settled = () => new Promise(setImmediate);
const isUnavailable = (error: unknown) => error instanceof CodedError && error.code === 'unavailable';

function pipelines(size: number, ahead = MOST_AHEAD) {
  const servers: Server[] = [];
  const lanes = new Pipelines({
    size,
    ahead,
    silenceMs: SILENCE_MS,
    onError: () => {},
    connect: () => {
      const server = new Server();
      servers.push(server);
      return server as unknown as pg.Client;
    },
  });
  const ask = (name: string) => lanes.query({ name, text: '', values: [] });
  const fill = (count: number) => Array.from({ length: count }, (_, i) => ask(`first ${i}`));
  const names = () => servers.flatMap(({ sent }) => sent.map(({ name }) => name));
  return { lanes, servers, ask, fill, names };
}

test('a connection is opened for each until there are as many as there may be, and then the least busy is taken', async () => {
  const { servers, fill } = pipelines(2);
  fill(6);
  await settled();
  assert.deepEqual(
    servers.map(({ sent }) => sent.length),
    [3, 3],
  );
});

test('who finds every connection with as many ahead as there may be goes to the one that answers first', async () => {
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

test('who waits goes with others: with as many as each connection would get of them, and no more than eight', async () => {
  const { lanes, servers, ask, fill } = pipelines(2, 1);
  fill(2);
  await settled();
  for (let i = 0; i < 20; i++) ask(`waits ${i}`);
  const waiting = () => lanes.counts.waiting;
  const [first, second] = servers as [Server, Server];
  first.sent[0]?.answer();
  await settled();
  assert.deepEqual([first.sent.length, second.sent.length, waiting()], [8, 1, 12]);
  second.sent[0]?.answer();
  await settled();
  assert.deepEqual([first.sent.length, second.sent.length, waiting()], [8, 6, 6]);
  assert.deepEqual(
    [...first.sent, ...second.sent].map(({ name }) => name),
    Array.from({ length: 14 }, (_, i) => `waits ${i}`),
  );
  while (first.sent.length + second.sent.length > 0) {
    for (const { answer } of [...first.sent, ...second.sent]) answer();
    await settled();
  }
  assert.equal(waiting(), 0);
});

test('first come, first served: whoever waits goes before whoever comes later, in the order of coming', async () => {
  const { lanes, servers, ask, fill } = pipelines(1);
  const broken = fill(MOST_AHEAD).map((one) => assert.rejects(one));
  await settled();
  for (const name of ['a', 'b', 'c']) ask(name);
  assert.equal(lanes.counts.waiting, 3);
  const [server] = servers as [Server];
  // Now there is room for a connection, and nobody who waits has been told of it yet.
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

test('whoever has waited too long is refused, and those behind it have lost nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { lanes, servers, ask, fill, names } = pipelines(1);
  fill(MOST_AHEAD);
  await settled();
  const tired = assert.rejects(ask('tired'), isUnavailable);
  t.mock.timers.tick(3_000);
  ask('patient');
  t.mock.timers.tick(2_000);
  assert.equal(lanes.counts.waiting, 2);
  t.mock.timers.tick(500);
  await tired;
  assert.equal(lanes.counts.waiting, 1);
  servers[0]?.sent[0]?.answer();
  await settled();
  assert.ok(names().includes('patient') && !names().includes('tired'));
});

test('whoever waits when the connections are closed is told so at once', { timeout: 10_000 }, async () => {
  const { lanes, ask, fill } = pipelines(1);
  fill(MOST_AHEAD);
  await settled();
  const waiting = assert.rejects(ask('waits'), isUnavailable);
  await lanes.close();
  await waiting;
  await assert.rejects(ask('late'), isUnavailable);
});

const silent = { message: 'Connection terminated: the server is silent.' };

test('a connection that leaves one unanswered for too long goes, also where it gets nothing more, and no other', {
  timeout: 10_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { servers, ask } = pipelines(2);
  const [first, second, third] = [ask('first'), ask('second'), ask('third')];
  await settled();
  const [one, other] = servers as [Server, Server];
  t.mock.timers.tick(SILENCE_MS - 500);
  // Those that are left are not the first one's fault, and their own time has not begun with it.
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

test('the time of each begins when it is sent, and not with those ahead of it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { servers, ask } = pipelines(1);
  const [first] = [ask('first'), await settled()];
  t.mock.timers.tick(SILENCE_MS / 2);
  const second = ask('second');
  await settled();
  const [server] = servers as [Server];
  server.sent[0]?.answer();
  await first;
  t.mock.timers.tick(SILENCE_MS / 2 + 1_000);
  server.sent[0]?.answer();
  await second;
});

test('where a connection breaks, those who wait go to a new one', async () => {
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
