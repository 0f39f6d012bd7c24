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
}

const MOST_AHEAD = 16;
const settled = () => new Promise(setImmediate);

function pipelines(size: number, ahead = MOST_AHEAD) {
  const servers: Server[] = [];
  const lanes = new Pipelines({
    size,
    ahead,
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
  const { lanes, servers, ask, fill, names } = pipelines(1);
  fill(MOST_AHEAD);
  await settled();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const tired = assert.rejects(
    ask('tired'),
    (error: unknown) => error instanceof CodedError && error.code === 'unavailable',
  );
  t.mock.timers.tick(3_000);
  ask('patient');
  t.mock.timers.tick(2_000);
  await tired;
  assert.equal(lanes.counts.waiting, 1);
  servers[0]?.sent[0]?.answer();
  await settled();
  assert.ok(names().includes('patient') && !names().includes('tired'));
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
