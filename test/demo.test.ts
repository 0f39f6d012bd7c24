import assert from 'node:assert/strict';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { NO_TERMINAL } from '../src/cli/terminal.ts';
import { ensureDemo } from '../src/company/demo.ts';
import type { Demo } from '../src/company/demo-file.ts';
import { startApp, type TestApp } from './harness/app.ts';
import { runCommand } from './harness/command-line.ts';
import { caller } from './harness/http.ts';
import { temporaryDirectory, urlOf } from './harness/service.ts';

/** What a start with the bundled database does about the demonstration company and its file. */

type Installation = {
  app: TestApp;
  file: string;
  start(baseUrl?: string): ReturnType<typeof ensureDemo>;
  read(): Promise<Demo>;
  /** The status of a request with the token. */
  status(token: string): Promise<number>;
};

async function install(): Promise<Installation> {
  const data = await temporaryDirectory();
  after(data.remove);
  const app = await startApp();
  const file = join(data.path, 'demo.json');
  return {
    app,
    file,
    start: (baseUrl = app.baseUrl) => ensureDemo(app.db, app.clock.read, { baseUrl, file }),
    read: async () => JSON.parse(await readFile(file, 'utf8')),
    status: async (token) => (await caller(app.baseUrl, token).get('/manage/company')).status,
  };
}

/** The same installation after its first start. */
async function started(): Promise<Installation & { first: Demo }> {
  const installation = await install();
  await installation.start();
  return { ...installation, first: await installation.read() };
}

const WAYS_TO_LOSE: [string, (file: string) => Promise<void>][] = [
  ['is missing', (file) => rm(file)],
  ['is empty', (file) => writeFile(file, '')],
  ['was cut off', async (file) => writeFile(file, (await readFile(file, 'utf8')).slice(0, 100))],
  ['holds no token', (file) => writeFile(file, 'null\n')],
  // A crash between the file and the commit.
  [
    'holds a token that the database never got',
    async (file) => writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), token: 'cr_lost' })),
  ],
];

for (const [how, lose] of WAYS_TO_LOSE) {
  test(`a file that ${how} is made again with a new key, and the old key ends`, async () => {
    const { first, file, start, read, status } = await started();
    await lose(file);
    const { renewed } = await start();
    const second = await read();
    assert.deepEqual(renewed, second);
    assert.notEqual(second.token, first.token);
    const changed = { token: '', docs_url: '' };
    assert.deepEqual({ ...second, ...changed }, { ...first, ...changed });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await status(second.token), 200);
    assert.equal(await status(first.token), 401);
    assert.deepEqual(await start(), { kept: second }, 'the next start has nothing to do');
    assert.deepEqual(await read(), second);
  });
}

test('a file that is whole keeps its token and follows the address', async () => {
  const { first, start, read, status } = await started();
  const moved = await start('http://127.0.0.1:1');
  assert.deepEqual(moved, { kept: await read() });
  const docsUrl = `http://127.0.0.1:1/docs#token=${first.token}&case=${first.case_id}`;
  assert.deepEqual(await read(), { ...first, base_url: 'http://127.0.0.1:1', docs_url: docsUrl });
  assert.equal(await status(first.token), 200);
});

test('a file of another user is left alone', {
  skip: process.getuid?.() === 0 && 'root reads every file',
}, async () => {
  const { first, file, start, status } = await started();
  await chmod(file, 0o000);
  assert.deepEqual(await start(), {});
  assert.equal(await status(first.token), 200);
});

/** Each makes it uncertain that the first company is the demonstration, or says that it is not wanted. */
const DOUBTS: [string, string][] = [
  ['its key was revoked', `UPDATE tokens SET revoked_at = now()`],
  ['its key was given an end', `UPDATE tokens SET expires_at = now() + interval '1 day'`],
  ['its key has another name', `UPDATE tokens SET name = 'Demonstration'`],
  [
    'a credential made its key',
    `UPDATE tokens SET created_by_type = 'key', created_by_id = id, created_by_name = 'another'`,
  ],
  ['it has another name', `UPDATE companies SET name = 'Smith & Partners'`],
  ['its case has another reference', `UPDATE cases SET reference = 'Smith'`],
  ['its case has not its customers', `UPDATE customers SET email = 'another@client.example' WHERE title = 'Mr'`],
  ['it has not its advisers', `UPDATE advisers SET email = 'another@demo.example' WHERE video_provider IS NULL`],
  [
    'another company was there before it',
    `INSERT INTO companies (id, name, created_at, updated_at) VALUES (gen_random_uuid(), 'First', '2020-01-01', now())`,
  ],
];

for (const [why, change] of DOUBTS) {
  test(`a company is left alone if ${why}`, async () => {
    const { app, file, start } = await started();
    await app.sql(change);
    const keys = await app.sql('SELECT id, revoked_at FROM tokens');
    await rm(file);
    assert.deepEqual(await start(), {});
    assert.deepEqual(await app.sql('SELECT id, revoked_at FROM tokens'), keys);
    await assert.rejects(stat(file), { code: 'ENOENT' });
  });
}

test('a new key is recorded in the event log, and so is the end of the old one', async () => {
  const { app, file, start } = await started();
  await rm(file);
  await start();
  const events = await app.sql(`SELECT type FROM events WHERE type LIKE 'api_key.%' ORDER BY position`);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['api_key.created', 'api_key.revoked', 'api_key.created'],
  );
});

test('a demonstration company whose removal was interrupted and repeated stays away', async () => {
  const { app, file, start } = await started();
  const env = { DATABASE_URL: urlOf(app.connection), DATA_DIR: dirname(file) };
  const args = ['company', 'remove', 'demo', '--confirm', 'Demonstration & Partners'];
  const showProgress = (text: string) => {
    if (text.includes('clients')) throw new Error('interrupted');
  };
  assert.match((await runCommand({ env, terminal: { ...NO_TERMINAL, showProgress } }, ...args)).err, /interrupted/);
  assert.equal((await runCommand(env, ...args)).code, 0);
  assert.deepEqual(await start(), {});
  assert.equal((await runCommand(env, 'company', 'list', '--json')).out, '[]');
});

test('a demonstration company that was removed stays away, until a command creates a new one', async () => {
  const { app, first, file, start, status } = await started();
  const env = { DATABASE_URL: urlOf(app.connection), DATA_DIR: dirname(file) };
  const removal = await runCommand(env, 'company', 'remove', 'demo', '--confirm', 'Demonstration & Partners');
  assert.equal(removal.code, 0, removal.err);
  app.clock.advance({ seconds: 3 });
  assert.equal(await status(first.token), 401);
  assert.ok(!(await readFile(file, 'utf8')).includes(first.token));
  assert.deepEqual(await start(), {});
  assert.equal((await runCommand(env, 'company', 'list', '--json')).out, '[]');
  assert.equal((await runCommand(env, 'demo')).code, 0);
  assert.match((await runCommand(env, 'company', 'list')).out, /Demonstration & Partners/);
});
