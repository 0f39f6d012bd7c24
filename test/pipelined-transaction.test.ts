import assert from 'node:assert/strict';
import { beforeEach, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type OnBatch, PipelinedPool } from '../src/kernel/database/pipelined-pool.ts';
import { read, write } from '../src/kernel/sql/statement.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { startApp } from './harness/app.ts';
import { blocked, untilBlocked } from './harness/overlap.ts';
import { testQuery } from './harness/query.ts';

/** Short concurrent statements share a transaction, and each gets the result that it would get alone. */

const app = await startApp();
await app.sql(`
  CREATE TABLE notes (shelf int NOT NULL, place int NOT NULL, text text NOT NULL CHECK (text <> 'no'), xact xid8 NOT NULL,
                      written serial, PRIMARY KEY (shelf, place));
  CREATE SEQUENCE tries;
  GRANT ALL ON notes, tries, notes_written_seq TO ${SERVICE_ROLE}`);

const { db } = app;
const CONNECTIONS = 8;
const LIST_CONNECTIONS = 4;

/** The inputs `company_id` and `case_id` are the key of a record: here the shelf and the place of a note. */
const KEY_INPUTS = { company_id: 'int', case_id: 'int' } as const;
const note = (shelf: number, place: number, text: string) => ({ company_id: shelf, case_id: place, text });

const insertNote = write('notes.write', {
  inputs: { ...KEY_INPUTS, text: 'text' },
  sql: (input) => `
    INSERT INTO notes SELECT ${input.company_id}, ${input.case_id}, ${input.text}, pg_current_xact_id()
     WHERE ${input.text} <> 'no' OR nextval('tries') > 0 RETURNING text || ' on ' || shelf || ', ' || place`,
});
const updateNote = write('notes.overwrite', {
  inputs: { ...KEY_INPUTS, text: 'text' },
  sql: (input) => `
    UPDATE notes SET text = ${input.text}, xact = pg_current_xact_id()
     WHERE shelf = ${input.company_id} AND place = ${input.case_id} RETURNING text`,
});

const piped = (more: pg.ClientConfig) =>
  new pg.Client({ ...app.connection, ...more, pipeline: true } as pg.ClientConfig);
/** An advisory lock that is held until `release` is called. */
async function heldLock(lock: number) {
  const client = new pg.Client(app.connection);
  await client.connect();
  await client.query('SELECT pg_advisory_lock($1)', [lock]);
  let released: Promise<void> | undefined;
  return {
    release: () => {
      released ??= client.end();
      return released;
    },
  };
}
const put = (place: number, text = `note ${place}`) => db.queryJson(insertNote(note(1, place, text)));
const places = (count: number) => Array.from({ length: count }, (_, i) => i);
const rows = () => app.sql<{ place: number; text: string; xact: string }>('SELECT * FROM notes ORDER BY place');

/** A statement that is not prepared is sent singly, so one statement per connection prepares it on each of them. */
const prepare = (ask: (place: number) => Promise<unknown>) => Promise.all(places(CONNECTIONS).map(ask));

beforeEach(async () => {
  for (const one of [insertNote, updateNote]) await prepare((place) => db.queryJson(one(note(10, place, 'x'))));
  await app.sql('DELETE FROM notes');
});

test('concurrent statements are committed together, and each gets its own answer', async () => {
  const answers = await Promise.all(places(20).map((place) => put(place)));
  assert.deepEqual(
    answers,
    places(20).map((place) => `note ${place} on 1, ${place}`),
  );
  const written = await rows();
  assert.equal(written.length, 20);
  const commits = new Set(written.map(({ xact }) => xact)).size;
  assert.equal(commits, 3);
});

test('at most eight statements share a commit', async () => {
  await Promise.all(places(30).map((place) => put(place)));
  const sizes = Map.groupBy(await rows(), ({ xact }) => xact)
    .values()
    .map(({ length }) => length);
  assert.equal(Math.max(...sizes), 8);
});

test('a single statement has its own commit', async () => {
  await put(1);
  await put(2);
  assert.equal(new Set((await rows()).map(({ xact }) => xact)).size, 2);
});

test('two concurrent statements do not wait for each other while nothing else is in flight', async () => {
  await Promise.all([put(1), put(2)]);
  assert.equal(new Set((await rows()).map(({ xact }) => xact)).size, 2);
});

test('the statements of a commit visit their records in one order, however they were sent', async () => {
  await Promise.all(places(8).map((place) => put(7 - place)));
  const written = await app.sql<{ place: number; xact: string }>('SELECT place, xact FROM notes ORDER BY written');
  const shared = Map.groupBy(written, ({ xact }) => xact)
    .values()
    .find(({ length }) => length > 2);
  assert.deepEqual(
    shared?.map(({ place }) => place),
    [0, 1, 2, 3, 4, 5, 7],
  );
});

test('a value that cannot be sent ends its connection, but neither the process nor later statements', async () => {
  const endless: unknown[] = [];
  endless.push({ endless });
  const asked = [put(1), put(2), db.queryJson(insertNote(note(1, 3, endless[0] as string))), put(4)];
  assert.equal((await Promise.allSettled(asked))[2]?.status, 'rejected');
  assert.equal(await put(5), 'note 5 on 1, 5');
});

const count = read('notes.count', {
  inputs: { ...KEY_INPUTS, word: 'text', list: 'text[]' },
  batch: true,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}
    SELECT input.nth, ${input.word} || cardinality(${input.list}) || ${input.company_id} || ${input.case_id}
      FROM input WHERE ${input.word} <> 'nothing'`,
});
const counting = (place: number, word: string, list: string[]) =>
  db.queryJson(count({ company_id: 1, case_id: place, word, list }));

test('a batch gives each request its own answer, or none', async () => {
  await prepare((place) => counting(place, 'x', []));
  for (let round = 0; round < 3; round++) {
    const asked = places(40).map((place) =>
      counting(place, place % 5 === 0 ? 'nothing' : `word ${place}: `, places(place % 4).map(String)),
    );
    assert.deepEqual(
      await Promise.all(asked),
      places(40).map((place) => (place % 5 === 0 ? undefined : `word ${place}: ${place % 4}1${place}`)),
    );
  }
});

test('a value that cannot be sent fails its batch, but nothing that comes later', async () => {
  const endless: unknown[] = [];
  endless.push({ endless });
  await prepare((place) => counting(place, 'x', []));
  const asked = places(20).map((place) => counting(place, 'x', place === 9 ? (endless as string[]) : []));
  assert.equal((await Promise.allSettled(asked))[9]?.status, 'rejected');
  assert.deepEqual(
    await Promise.all(places(20).map((place) => counting(place, 'x', []))),
    places(20).map((place) => `x01${place}`),
  );
});

test('no row and null are distinguished', async () => {
  await put(1);
  const empty = read('notes.empty', {
    inputs: KEY_INPUTS,
    sql: (input) =>
      `SELECT nullif(text, text) FROM notes WHERE shelf = ${input.company_id} AND place = ${input.case_id}`,
  });
  for (let i = 0; i < 2; i++) {
    const asked = places(8).map((place) => db.queryJson(empty({ company_id: 1, case_id: place })));
    assert.deepEqual(await Promise.all(asked), [undefined, null, ...Array(6).fill(undefined)]);
  }
});

test('a statement that fails gets its error, and the others are written once each', async () => {
  await put(5);
  const answers = await Promise.allSettled(places(8).map((place) => put(place, place === 3 ? 'no' : `note ${place}`)));
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'rejected' ? answer.reason.constraint : answer.value)),
    places(8).map((place) => {
      if (place === 5) return 'notes_pkey';
      return place === 3 ? 'notes_text_check' : `note ${place} on 1, ${place}`;
    }),
  );
  assert.equal((await rows()).length, 7);
  // The statement that failed in the batch was not retried singly.
  const [tries] = await app.sql<{ last_value: string }>('SELECT last_value FROM tries');
  assert.equal(Number(tries?.last_value), 1);
});

test('two statements that change the same record are written one after the other', async () => {
  await put(1);
  await Promise.all(places(16).map((i) => db.queryJson(updateNote(note(1, 1, `change ${i}`)))));
  assert.match((await rows())[0]?.text ?? '', /^change \d+$/);
});

/** Another client with an open transaction. */
async function other(t: { after(work: () => Promise<void>): void }): Promise<pg.Client> {
  const client = new pg.Client(app.connection);
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN');
  return client;
}

test('after a deadlock with another client all statements are retried and written', async (t) => {
  for (const place of places(8)) await put(place);
  const client = await other(t);
  await client.query('SELECT 1 FROM notes WHERE place = 7 FOR UPDATE');
  const changes = Promise.all(places(8).map((place) => db.queryJson(updateNote(note(1, place, 'changed')))));
  await untilBlocked(app);
  // The blocked statements have waited longer, so they detect the deadlock.
  await client.query('SELECT 1 FROM notes ORDER BY place FOR UPDATE');
  await client.query('COMMIT');
  await changes;
  assert.deepEqual(
    (await rows()).map(({ text }) => text),
    Array(8).fill('changed'),
  );
});

const insertNotes = write('notes.write_batch', {
  inputs: { ...KEY_INPUTS, text: 'text' },
  batch: true,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, written AS (
      INSERT INTO notes SELECT ${input.company_id}, ${input.case_id}, ${input.text}, pg_current_xact_id()
        FROM input WHERE ${input.text} <> 'no' OR nextval('tries') > 0 RETURNING *)
    SELECT input.nth, w.text || ' on ' || w.shelf || ', ' || w.place
      FROM input JOIN written w ON w.shelf = ${input.company_id} AND w.place = ${input.case_id}`,
});

for (const [how, one] of [
  ['', insertNote],
  [', also not for the statements of a batch', insertNotes],
] as const) {
  test(`after the connection breaks the outcome is unknown, and nothing is written a second time${how}`, async (t) => {
    const ask = (place: number) => db.queryJson(one(note(1, place, `note ${place}`)));
    await prepare((place) => db.queryJson(one(note(30, place, 'x'))));
    await app.sql('DELETE FROM notes');
    const client = await other(t);
    await client.query(`INSERT INTO notes VALUES (1, 7, 'other', pg_current_xact_id())`);
    const writes = Promise.allSettled(places(8).map(ask));
    await untilBlocked(app);
    const [waiting] = await blocked(app);
    const before = await rows();
    await app.sql('SELECT pg_terminate_backend($1)', [waiting?.pid]);
    await client.query('ROLLBACK');
    const answers = await writes;
    const refused = answers.filter(({ status }) => status === 'rejected');
    assert.ok(refused.length > 1, 'those that shared the commit');
    for (const { reason } of refused as PromiseRejectedResult[]) assert.equal(reason.code, 'unavailable');
    assert.equal((await rows()).length, 8 - refused.length);
    assert.ok(before.length <= 8 - refused.length);
    assert.equal(await ask(20), 'note 20 on 1, 20', 'and the next one finds another connection');
  });
}

const whoReads = read('notes.reader', {
  inputs: { ...KEY_INPUTS, lock: 'int' },
  pool: 'list',
  batch: true,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}
    SELECT input.nth, pg_backend_pid()::text FROM input
     WHERE ${input.company_id} + ${input.case_id} + ${input.lock} > 0`,
});

test('concurrent lists are spread over the connections for lists, and share a statement if one has several', async (t) => {
  const readers = async (count: number) => {
    const pids = await Promise.all(
      places(count).map((place) => db.queryJson(whoReads({ company_id: 1, case_id: place, lock: 0 }))),
    );
    return [...Map.groupBy(pids, (pid) => pid).values()].map(({ length }) => length);
  };
  await readers(LIST_CONNECTIONS);
  const shared = t.mock.method(db, 'onBatch');
  assert.deepEqual(await readers(LIST_CONNECTIONS), Array(LIST_CONNECTIONS).fill(1));
  assert.deepEqual(await readers(LIST_CONNECTIONS * 2), Array(LIST_CONNECTIONS).fill(2));
  assert.equal(shared.mock.callCount(), 0, 'two are two statements');
  assert.deepEqual(await readers(LIST_CONNECTIONS * 3), Array(LIST_CONNECTIONS).fill(3));
  assert.deepEqual(
    shared.mock.calls.map((call) => call.arguments),
    Array(LIST_CONNECTIONS).fill(['notes.reader', 3, true]),
  );
});

function narrow(t: TestContext, onBatch: OnBatch = () => {}) {
  const lanes = new PipelinedPool({
    size: 1,
    maxInFlight: 4,
    responseTimeoutMs: 20_000,
    onError: () => {},
    onBatch: onBatch,
    connect: () => piped({}),
  });
  t.after(() => lanes.close());
  return lanes;
}

const waiting = read('notes.waiting', {
  inputs: { ...KEY_INPUTS, lock: 'int' },
  pool: 'list',
  batch: true,
  // More than the server buffers before it sends.
  fromInput: (input, inputTable) => `
    WITH ${inputTable}
    SELECT input.nth, l.sum FROM input CROSS JOIN LATERAL (
      SELECT (${input.company_id} + ${input.case_id})::text || repeat(' ', 20000) AS sum
        FROM pg_advisory_xact_lock_shared(${input.lock})) l`,
});

for (const [others, how] of [
  [0, 'and two have a statement each'],
  [1, 'also where they share a statement'],
] as const) {
  const name = `a list is answered when it has been read, and not when the next one on its connection has, ${how}`;
  test(name, { timeout: 20_000 }, async (t) => {
    // Released first if the test fails, because the connection closes only after it has answered.
    const holder = await heldLock(2);
    t.after(holder.release);
    const lanes = narrow(t);
    const ask = async (place: number, lock: number) =>
      (await lanes.queryRow(waiting({ company_id: 1, case_id: place, lock })))?.at(-1)?.trim();
    await ask(0, 1);
    const first = [1, 2].slice(0, 1 + others).map((place) => ask(place, 1));
    const last = ask(5, 2);
    assert.deepEqual(await Promise.all(first), ['2', '3'].slice(0, 1 + others));
    await holder.release();
    assert.equal(await last, '6');
  });
}

test('waiting statements of one kind go together, in equal shares and at most eight; others go singly', async (t) => {
  const holders = [await heldLock(1), await heldLock(2)];
  const told: unknown[] = [];
  const lanes = new PipelinedPool({
    size: 2,
    maxInFlight: 1,
    responseTimeoutMs: 20_000,
    onError: () => {},
    onBatch: (...one) => told.push(one),
    connect: () => piped({}),
  });
  t.after(() => lanes.close());
  const order: number[] = [];
  const ask = async (place: number, lock: number) => {
    const sum = (await lanes.queryRow(waiting({ company_id: 1, case_id: place, lock })))?.at(-1)?.trim();
    order.push(place);
    return sum;
  };
  const search = async (place: number) => {
    await lanes.queryRows(testQuery('search', 'SELECT $1::int', [place]));
    order.push(place);
  };
  const first = [ask(0, 1), ask(1, 2)];
  await pause(0);
  const others = [ask(2, 3), search(3), search(4), ...places(18).map((place) => ask(5 + place, 3))];
  // From now on only the first connection has room: 21 wait, then 13 and 12 (the searches, which go singly), 11, 5, 2.
  await holders[0]?.release();
  await Promise.all([first[0], ...others]);
  await holders[1]?.release();
  await first[1];
  assert.deepEqual(
    told,
    [8, 6, 3].map((count) => ['notes.waiting', count, true]),
  );
  assert.deepEqual(new Set(order.slice(1, 9)), new Set([2, ...places(7).map((place) => 5 + place)]));
  assert.deepEqual([order[0], order[9], order[10]], [0, 3, 4]);
});

test('the statements of a failed batch do not hold the slots that they need to be retried singly', async (t) => {
  const told: unknown[] = [];
  const lanes = narrow(t, (...one) => told.push(one));
  const parts = read('notes.parts', {
    inputs: { ...KEY_INPUTS, divisor: 'int' },
    batch: true,
    fromInput: (input, inputTable) => `
      WITH ${inputTable}
      SELECT input.nth, (${input.company_id} * ${input.case_id} / ${input.divisor})::text FROM input`,
  });
  const divide = (by: number[]) =>
    Promise.allSettled(by.map((one, i) => lanes.queryRow(parts({ company_id: 12, case_id: i, divisor: one }))));
  await divide([1]);
  const [first, second, ...others] = await divide([1, 0, 2, 3]);
  assert.equal(second?.status === 'rejected' && second.reason.code, '22012');
  assert.deepEqual(
    [first, ...others].map((one) => one?.status === 'fulfilled' && one.value?.at(-1)),
    ['0', '12', '12'],
  );
  assert.deepEqual(told, [['notes.parts', 4, false]]);
});

test('when the server is silent, all statements of a commit fail, and a single one too', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const silent = new PipelinedPool({
    size: 1,
    maxInFlight: 16,
    responseTimeoutMs: 20_000,
    onError: () => {},
    connect: () => piped({}),
  });
  const ask = (seconds: number) =>
    silent.queryRow(testQuery('nap', `SELECT 'awake' FROM pg_sleep($1)`, [seconds])).then((row) => row?.[0]);
  const outcomes = async (asked: Promise<unknown>[], ms: number) => {
    // Sent, and not answered yet.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    t.mock.timers.tick(ms);
    return (await Promise.allSettled(asked)).map((one) =>
      one.status === 'fulfilled' ? one.value : one.reason.message,
    );
  };
  const silence = 'Connection terminated: the server is silent.';
  assert.deepEqual(await outcomes([ask(0)], 0), ['awake']);
  assert.deepEqual(await outcomes([ask(30)], 20_500), [silence]);
  assert.deepEqual(await outcomes([ask(0)], 0), ['awake']);
  assert.deepEqual(await outcomes([ask(0.5)], 20_000), ['awake']);
  assert.deepEqual(await outcomes([ask(0), ask(30), ask(0)], 20_500), [silence, silence, silence]);
  await silent.close();
});
