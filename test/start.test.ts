import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { readConfig } from '../src/config.ts';
import { listenError } from '../src/server/listen-error.ts';
import { prettyLine } from '../src/server/pretty-log.ts';
import { settingsSummary } from '../src/server/start-summary.ts';

/** What an operator reads when the service starts and while it runs. */

const run = promisify(execFile);

test('a server that cannot listen names the setting to change', () => {
  const config = readConfig({ HOST: 'records.example', PORT: '80' });
  const reason = (code: string) => listenError(Object.assign(new Error('listen failed'), { code }), config).message;
  assert.match(reason('EADDRINUSE'), /^Port 80 of records\.example is already in use\..* set PORT /);
  assert.match(reason('EACCES'), /port 80\. Set PORT /);
  assert.match(reason('EADDRNOTAVAIL'), /^records\.example is not an address of this machine\. Set HOST /);
  assert.match(reason('ENOTFOUND'), /^The name records\.example has no known address\. Set HOST /);
  assert.equal(reason('EMFILE'), 'listen failed');
});

test('the summary says what is not set and what that means', () => {
  const { database, email, sms, secrets } = settingsSummary(readConfig({ DATA_DIR: '/data' }));
  assert.equal(database, 'bundled PostgreSQL in /data/postgres');
  assert.equal(email, 'SMTP_URL is not set: written to /data/outbox');
  assert.equal(sms, 'SMS_PROVIDER is outbox: written to /data/outbox');
  assert.match(secrets ?? '', /^SECRETS_KEY is not set: .* cannot be added$/);
});

test('the summary names servers and no user or password', () => {
  const config = readConfig({
    DATABASE_URL: 'postgresql://owner:hidden@db.example:6432/client%20records?sslmode=require',
    SMTP_URL: 'smtps://sender:hidden@mail.example:465',
    SMS_PROVIDER: 'gateway',
    SMS_GATEWAY_URL: 'https://sms.example/?key=hidden',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  assert.deepEqual(settingsSummary(config), {
    database: 'client records on db.example:6432',
    email: 'by mail.example:465',
    sms: 'by gateway',
  });
  const socket = readConfig({ DATABASE_URL: 'postgresql:///records?host=/run/postgresql&user=hidden' });
  assert.equal(settingsSummary(socket).database, 'records on /run/postgresql');
  const malformed = readConfig({ DATABASE_URL: 'postgresql://db.example/db%zz' });
  assert.equal(settingsSummary(malformed).database, 'db%zz on db.example');
});

test('LOG_FORMAT takes its two values', () => {
  assert.deepEqual([readConfig({}).LOG_FORMAT, readConfig({ LOG_FORMAT: 'json' }).LOG_FORMAT], [undefined, 'json']);
  assert.throws(() => readConfig({ LOG_FORMAT: 'xml' }), /LOG_FORMAT must be one of pretty, json/);
});

const TIME = '2026-07-01T09:30:00.124Z';
const LOCAL = new Date(TIME).toTimeString().slice(0, 8);
/** The line without colours, which depend on the terminal that runs the test. */
const pretty = (entry: object) =>
  stripVTControlCharacters(prettyLine(`${JSON.stringify({ level: 30, time: TIME, ...entry })}\n`));

test('a request is one readable line; its identifiers are shown if it failed', () => {
  const request = { method: 'POST', route: '/cases/:caseId/interactions', reqId: 'id-1', ms: 2.5, company: 'c-1' };
  assert.equal(
    pretty({ ...request, status: 200, msg: 'request' }),
    `${LOCAL}.124 INFO  200 POST /cases/:caseId/interactions 2.5 ms\n`,
  );
  assert.equal(
    pretty({ ...request, status: 401, company: null, ip: '203.0.113.5', msg: 'request' }),
    `${LOCAL}.124 INFO  401 POST /cases/:caseId/interactions 2.5 ms reqId=id-1 ip=203.0.113.5\n`,
  );
});

test('fields follow the message, then the stack of an error and the rows of a summary', () => {
  assert.equal(pretty({ level: 40, count: 2, of: ['a', 'b'], msg: 'late' }), `${LOCAL}.124 WARN  late count=2 of=2\n`);
  assert.equal(
    pretty({ level: 50, err: { message: 'x', stack: 'Error: x\n    at y' }, msg: 'failed' }),
    `${LOCAL}.124 ERROR failed\n      Error: x\n          at y\n`,
  );
  assert.equal(
    pretty({ summary: { email: 'one\ntwo', sms: 'three' }, msg: 'ready' }),
    `${LOCAL}.124 INFO  ready\n      email  one\n             two\n      sms    three\n`,
  );
});

test('text of strangers cannot control the terminal or begin a line of its own', () => {
  const hostile = 'x\u001b[2J\u0007\u202e\r\n12:00:00 INFO  forged';
  for (const entry of [{ msg: hostile }, { msg: 'sent', reason: hostile }]) {
    const line = prettyLine(`${JSON.stringify({ level: 30, time: TIME, ...entry })}\n`);
    assert.ok(line.includes('x\\u001b[2J\\u0007\\u202e\\u000d\\u000a12:00:00'), JSON.stringify(line));
    assert.equal(line.split('\n').length, 2);
  }
});

const LOG = new URL('../src/server/log.ts', import.meta.url).href;
const SCRIPT = `
  const { openLog, logStart } = await import(${JSON.stringify(LOG)});
  const log = openLog({ LOG_LEVEL: 'error', LOG_FORMAT: process.env.LOG_FORMAT });
  log.info('quiet');
  logStart(log, 'ready', { pages: 'here' });`;

const SUMMARY = new URL('../src/server/start-summary.ts', import.meta.url).href;
const CONFIG = new URL('../src/config.ts', import.meta.url).href;
const START_SCRIPT = `
  const { openLog } = await import(${JSON.stringify(LOG)});
  const { logServiceStart } = await import(${JSON.stringify(SUMMARY)});
  const { readConfig } = await import(${JSON.stringify(CONFIG)});
  const { LOG_FORMAT, IS_NEW } = process.env;
  const config = readConfig({ LOG_FORMAT, DATA_DIR: '/data', PUBLIC_URL: 'https://company.example/records' });
  const demo = { token: 'cr_secret', case_id: 'case-1', isNew: IS_NEW !== 'false' };
  logServiceStart(openLog(config), config, { url: 'http://127.0.0.1:8080', demo });`;

/** The output of a process that logs, on a pipe or on a terminal. `redirection` is that of a shell. */
async function output(
  env: Record<string, string>,
  terminal: boolean,
  script = SCRIPT,
  redirection = '',
): Promise<string> {
  // Variables such as CI and NO_COLOR change the colours, so the process gets none of the test's own, except PATH.
  const options = { env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env }, timeout: 60_000 };
  const args = ['--input-type=module', '-e', script];
  if (!terminal) return (await run(process.execPath, args, options)).stdout;
  const quoted = [process.execPath, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return (await run('script', ['-qec', `${quoted} ${redirection}`, '/dev/null'], options)).stdout;
}

test('a pipe gets JSON, with the line of the start at any level', async () => {
  const { summary, msg } = JSON.parse(await output({}, false));
  assert.deepEqual([msg, summary], ['ready', { pages: 'here' }]);
  assert.match(await output({ LOG_FORMAT: 'pretty' }, false), /^[\d:.]{12} INFO {2}ready\n {6}pages {2}here\n$/);
});

test('a terminal gets readable lines, in colours unless NO_COLOR is set', { skip: await withoutScript() }, async () => {
  const coloured = await output({}, true);
  assert.ok(coloured.includes('\u001b['), coloured);
  assert.match(stripVTControlCharacters(coloured), /INFO {2}ready/);
  assert.match(await output({ NO_COLOR: '1' }, true), /^[\d:.]{12} INFO {2}ready\r?\n {6}pages {2}here\r?\n$/);
  assert.equal(JSON.parse(await output({ LOG_FORMAT: 'json' }, true)).msg, 'ready');
});

test('on a terminal the rows of a summary fit, except what is copied as a whole', () => {
  const secrets = 'SECRETS_KEY is not set: Zoom accounts and webhooks cannot be added';
  const command = `curl -H 'Content-Type: application/json' -d '{"type": "phone", "notes": "First call"}' \\\n  url`;
  const { stdout } = process;
  const { columns } = stdout;
  try {
    stdout.columns = 50;
    assert.equal(
      pretty({ msg: 'Ready', summary: { secrets, example: command } }),
      `${LOCAL}.124 INFO  Ready
      secrets  SECRETS_KEY is not set: Zoom
               accounts and webhooks cannot be
               added
      example  ${command.replace('\n', `\n${' '.repeat(15)}`)}
`,
    );
  } finally {
    stdout.columns = columns;
  }
});

test('the line of the start has the addresses, and no token on a pipe', async () => {
  const { msg, summary } = JSON.parse(await output({}, false, START_SCRIPT));
  assert.equal(msg, 'Case Records listens on http://127.0.0.1:8080');
  assert.deepEqual(
    [summary.address, summary.pages, summary.example],
    ['https://company.example/records', 'https://company.example/records/docs', undefined],
  );
  assert.match(summary.demo, /^A demonstration company was created\. Its token is in \/data\/demo\.json\n/);
  assert.equal(JSON.parse(await output({ IS_NEW: 'false' }, false, START_SCRIPT)).summary.demo, undefined);
  const piped = await output({ LOG_FORMAT: 'pretty' }, false, START_SCRIPT);
  assert.ok(piped.includes('-X POST http://127.0.0.1:8080/cases/case-1/') && !piped.includes('cr_secret'), piped);
});

test('a terminal gets the token once: at the first start, if a person can type', {
  skip: await withoutScript(),
}, async () => {
  const shown = await output({ NO_COLOR: '1' }, true, START_SCRIPT);
  assert.match(shown, /pages +https:\/\/company\.example\/records\/docs#token=cr_secret&case=case-1\r?\n/);
  const later = await output({ NO_COLOR: '1', IS_NEW: 'false' }, true, START_SCRIPT);
  const withoutInput = await output({ NO_COLOR: '1' }, true, START_SCRIPT, '</dev/null');
  for (const text of [later, withoutInput]) {
    assert.match(text, /pages +https:\/\/company\.example\/records\/docs\r?\n/);
    assert.ok(text.includes(`node -p 'require("/data/demo.json").docs_url'`) && !text.includes('cr_secret'), text);
  }
  assert.ok(!(await output({ LOG_FORMAT: 'json' }, true, START_SCRIPT)).includes('cr_secret'));
});

async function withoutScript(): Promise<string | false> {
  const found = await run('script', ['--version']).catch(() => undefined);
  return found?.stdout.includes('util-linux') ? false : 'there is no program "script" of util-linux to make a terminal';
}
