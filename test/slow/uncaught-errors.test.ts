import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { childrenOf, commandOf } from '../../chaos/deployment.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { databaseProcess, isAlive, type Running, startProcess } from '../harness/service.ts';
import { until, within } from '../harness/until.ts';

/** An uncaught error ends the process in an orderly way, and another process replaces it. */

const data = await temporaryDataDirectory('started');
after(data.remove);
const THROWING = new URL('../harness/throwing.mjs', import.meta.url).pathname;
const settings = { DATA_DIR: data.path, NODE_OPTIONS: `--import=${THROWING}` };

/** Also if a test has failed in the middle. */
async function start(more: Record<string, string> = {}): Promise<Running> {
  const service = await startProcess({ ...settings, ...more });
  after(() => service.stop('SIGKILL'));
  return service;
}

async function demo() {
  const { base_url, token, case_id } = JSON.parse(await readFile(join(data.path, 'demo.json'), 'utf8'));
  return { ...caller(base_url, token), path: `/cases/${case_id}/interactions`, base_url, token };
}

/** A lock that keeps writes of interactions waiting until it is released. */
async function lock(): Promise<pg.Client> {
  const client = new pg.Client({ host: join(data.path, 'postgres'), user: 'postgres', database: 'case_records' });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN; LOCK TABLE interactions IN SHARE MODE');
  return client;
}

const waitingWrites = async (client: pg.Client): Promise<number> =>
  (await client.query(`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`)).rows[0].n;

const toldOf = ({ output }: Running) => output.filter((line) => line.includes('uncaught error'));

for (const [what, signal] of [
  ['an exception', 'SIGUSR2'],
  ['a rejected promise', 'SIGPWR'],
] as const) {
  test(`after ${what} requests in flight are answered, the database is stopped and the exit code is 1`, async () => {
    const service = await start();
    const { path, token } = await demo();
    const locked = await lock();
    const body = JSON.stringify({ type: 'phone' });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const write = request(service.url + path, { method: 'POST', headers }).end(body);
    await until(async () => (await waitingWrites(locked)) > 0);
    const answered = within(once(write, 'response'), 'the answer');
    service.child.kill(signal);
    await until(() => toldOf(service).length > 0);
    await locked.query('ROLLBACK');
    const [response] = await answered;
    assert.equal(response.statusCode, 200);
    response.resume();
    await locked.end();
    await service.ended();
    assert.equal(service.child.exitCode, 1);
    assert.equal(await databaseProcess(data.path), undefined);
    const [line = ''] = toldOf(service);
    assert.match(JSON.parse(line).stack, /Error: injected\n\s+at .*throwing/);
  });
}

test('a request whose answer does not come is answered 500 before the process ends', async () => {
  const service = await start();
  const company = await demo();
  const locked = await lock();
  const answer = company.post(company.path, { type: 'phone' });
  await until(async () => (await waitingWrites(locked)) > 0);
  service.child.kill('SIGUSR2');
  const { status, body } = await answer;
  assert.deepEqual([status, body.code], [500, 'internal']);
  await locked.end();
  await service.ended();
  assert.equal(service.child.exitCode, 1);
  assert.equal(await databaseProcess(data.path), undefined);
});

test('of two processes the other serves, and a new one comes in place of the one that failed', async () => {
  const service = await start({ WEB_CONCURRENCY: '2' });
  const company = await demo();
  const processes = async () => {
    const children = await childrenOf(service.child.pid as number);
    const commands = await Promise.all(children.map(commandOf));
    return children.filter((_, i) => commands[i]?.includes('web-process'));
  };
  const [first = 0, second = 0] = await processes();
  process.kill(first, 'SIGUSR2');
  let cut = 0;
  await until(async () => {
    // Each request has its own connection. A server that closes also closes a connection that it has just accepted and
    // not read from yet, so the one request that meets this moment may be cut.
    const outcome = await company.get(company.path).then(
      ({ status }) => status,
      ({ code }) => code,
    );
    if (outcome === 'ECONNRESET') cut++;
    else assert.equal(outcome, 200);
    const now = await processes();
    return now.length === 2 && !now.includes(first);
  });
  assert.ok(cut <= 1, `${cut} requests were cut`);
  assert.ok(isAlive(second));
  assert.equal(toldOf(service).length, 1);
  assert.equal(await service.stop(), 0);
});
