import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { caller } from '../harness/http.ts';
import {
  databaseProcess,
  isAlive,
  launch,
  startProcess,
  temporaryDirectory,
  urlOf,
  writeWhileStopping,
} from '../harness/service.ts';
import { until } from '../harness/until.ts';

const data = await temporaryDirectory();
after(data.remove);
const DATA_DIR = data.path;
const demoFile = async () => JSON.parse(await readFile(join(DATA_DIR, 'demo.json'), 'utf8'));

test('wrong settings end the start with one line per fault', async () => {
  const { output, ended } = launch({
    PORT: '99999',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://x:secret@y/z',
    DATA_DIR,
  });
  assert.equal(await ended(), 2);
  assert.equal(output.length, 3, output.join('\n'));
  for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL']) assert.ok(output.some((line) => line.includes(name)));
  assert.ok(!output.join().includes('secret'));
});

test('the first start creates a demonstration company that can be used immediately', async () => {
  const service = await startProcess({ DATA_DIR, LOG_FORMAT: 'pretty' });
  const demo = await demoFile();
  assert.deepEqual(Object.keys(demo).sort(), [
    'advisers',
    'base_url',
    'case_id',
    'custom_tags',
    'customers',
    'docs_url',
    'tags',
    'time_zone',
    'token',
  ]);
  assert.equal((await stat(join(DATA_DIR, 'demo.json'))).mode & 0o777, 0o600);
  assert.equal(demo.base_url, service.url);
  assert.equal(demo.time_zone, 'Europe/London');
  assert.equal(demo.customers.length, 2);
  assert.deepEqual(Object.keys(demo.customers[0]).sort(), [
    'email',
    'first_names',
    'id',
    'last_name',
    'phone',
    'title',
  ]);
  assert.deepEqual(demo.advisers.map((adviser: { video: boolean }) => adviser.video).sort(), [false, true]);
  assert.ok(demo.tags.length > 0 && demo.custom_tags.length > 0);

  const client = caller(demo.base_url, demo.token);
  const path = `/cases/${demo.case_id}`;
  const entry = await client.post(`${path}/address-book/entry`, {
    entity_id: 'person',
    title: 'Ms',
    first_names: 'Jo',
    last_name: 'Doe',
    tags: [demo.tags[0]],
    custom_tags: [demo.custom_tags[0]],
    relationship: { [demo.customers[0].id]: 'sister' },
  });
  assert.equal(entry.status, 200, entry.text);
  for (const { email } of demo.advisers) {
    const booked = await client.post(`${path}/appointments`, {
      adviser_email: email,
      start_time: '2090-01-02 10:00:00',
      end_time: '2090-01-02 11:00:00',
      email_recipient: demo.customers[0].email,
      sms_recipient: demo.customers[0].phone,
    });
    assert.equal(booked.status, 200, booked.text);
  }

  const [, example = ''] = /^ +example +(curl .*?\S)$(?!\n {16})/ms.exec(service.output.join('\n')) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', example], { timeout: 20_000 });
  assert.equal(JSON.parse(stdout).type, 'phone');
  assert.equal(await service.stop(), 0);
  assert.equal(await databaseProcess(DATA_DIR), undefined, 'the database has stopped too');
});

test('a second start finds everything again and keeps the token', async () => {
  const { token, case_id } = await demoFile();
  const service = await startProcess({ DATA_DIR });
  const demo = await demoFile();
  assert.equal(demo.token, token);
  assert.equal(demo.base_url, service.url, 'the file follows the address');
  assert.ok(!service.output.join('\n').includes('demonstration'));
  const list = await caller(service.url, token).get(`/cases/${case_id}/interactions`);
  assert.equal(list.body.length, 1, list.text);
  assert.equal(await service.stop('SIGINT'), 0);
});

test('a port in use and an address of another machine end the start with a line that names the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    for (const WEB_CONCURRENCY of ['1', '2']) {
      const taken = launch({ DATA_DIR, PORT: String(port), WEB_CONCURRENCY, LOG_LEVEL: 'error' });
      assert.equal(await taken.ended(), 1);
      assert.deepEqual(taken.output, [
        `case-records: Port ${port} of 127.0.0.1 is already in use. Stop the program that uses it, or set PORT to another port.`,
      ]);
    }
  } finally {
    other.close();
  }
  const absent = launch({ DATA_DIR, HOST: '192.0.2.1', LOG_LEVEL: 'error' });
  assert.equal(await absent.ended(), 1);
  assert.match(absent.output.join('\n'), /^case-records: 192\.0\.2\.1 is not an address of this machine\. Set HOST/);
});

test('a second service on the same data is refused with a line that names the first', async () => {
  const first = await startProcess({ DATA_DIR });
  const second = launch({ DATA_DIR });
  assert.equal(await second.ended(), 1);
  assert.equal(second.output.length, 1, second.output.join('\n'));
  assert.match(second.output[0] ?? '', new RegExp(`\\b${first.child.pid}\\b`));
  assert.equal(await first.stop(), 0);
});

test('a request that is in progress when the signal comes is answered before the service ends', async () => {
  const { token, case_id } = await demoFile();
  const service = await startProcess({ DATA_DIR });
  assert.equal(await writeWhileStopping(service, `/cases/${case_id}/interactions`, token), 200);
  assert.equal(await service.stop(), 0);
});

test('after SIGKILL the next start takes over the database that was left running', async () => {
  const { token, case_id } = await demoFile();
  const killed = await startProcess({ DATA_DIR });
  const kept = await caller(killed.url, token).post(`/cases/${case_id}/interactions`, { type: 'email' });
  await killed.stop('SIGKILL');
  assert.notEqual(await databaseProcess(DATA_DIR), undefined);
  const next = await startProcess({ DATA_DIR });
  const list = await caller(next.url, token).get(`/cases/${case_id}/interactions`);
  assert.ok(list.body.some((interaction: { id: string }) => interaction.id === kept.body.id));
  assert.equal(await next.stop(), 0);
  assert.equal(await databaseProcess(DATA_DIR), undefined);
});

test('a service that loses its parent stops, and its database with it', async () => {
  const main = new URL('../../src/main.ts', import.meta.url).pathname;
  const parent = spawn('sh', ['-c', `"${process.execPath}" "${main}" serve & echo $!; wait`], {
    env: { ...process.env, DATA_DIR, PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface(parent.stdout).on('line', (line) => lines.push(line));
  await until(() => lines.some((line) => line.includes('listens on')));
  const pid = Number(lines[0]);
  assert.ok(isAlive(pid));
  parent.kill('SIGKILL');
  await until(() => !isAlive(pid));
  assert.equal(await databaseProcess(DATA_DIR), undefined);
});

test('with DATABASE_URL nothing is made by itself', async () => {
  const server = await startBundledPostgres({ dataDir: join(DATA_DIR, 'other'), log: () => {} });
  try {
    const service = await startProcess({ DATABASE_URL: urlOf(server.connection), DATA_DIR: join(DATA_DIR, 'unused') });
    assert.equal((await caller(service.url).get('/readyz')).status, 200);
    assert.equal(await service.stop(), 0);
    await assert.rejects(stat(join(DATA_DIR, 'unused')));
    const client = new pg.Client(server.connection);
    await client.connect();
    assert.deepEqual((await client.query('SELECT * FROM companies')).rows, []);
    await client.end();
    assert.ok(isAlive(server.pid), "a database that is not the service's own goes on");
  } finally {
    await server.stop();
  }
});

test('a server that runs with fsync off is refused', async () => {
  const server = JSON.parse(process.env.TEST_POSTGRES ?? '');
  const { output, ended } = launch({ DATABASE_URL: urlOf({ ...server, database: 'template' }), DATA_DIR });
  assert.equal(await ended(), 1);
  assert.match(output.join('\n'), /fsync/);
});

test('a database that cannot be reached ends the start with one line', async () => {
  const { output, ended } = launch({ DATABASE_URL: 'postgresql://unknown:hidden@127.0.0.1:9/none', DATA_DIR });
  assert.equal(await ended(), 1);
  assert.equal(output.length, 1, output.join('\n'));
  assert.match(output[0] ?? '', /database cannot be reached/);
  assert.ok(!output.join().includes('hidden'));
});
