import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { startApp } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import { commandOutput, runCommand } from './harness/command-line.ts';
import { temporaryDirectory, urlOf } from './harness/service.ts';

/** The messages of a company on the command line. */

const home = await temporaryDirectory();
after(home.remove);
const app = await startApp();
const company = await app.company();
const env = { DATABASE_URL: urlOf(app.connection), DATA_DIR: join(home.path, 'unused') };
const print = (...args: string[]) => commandOutput(env, 'template', ...args);
const TEXT = 'On {{start}}\n{{location}} {{join_url}}';

test('texts are listed, set, shown with their line breaks, and reset', async () => {
  assert.match(
    await print('list'),
    /^MESSAGE +OWN +SUBJECT[\s\S]*\nreminder +Reminder: your appointment on \{\{start}}/,
  );
  const set = await print('set', 'reminder', '--subject', 'See you', '--email-text', TEXT);
  assert.ok(
    set.startsWith(`subject (your own):\nSee you\n\nemail_text (your own):\n${TEXT}\n\nsms_text (default):\n`),
    set,
  );
  assert.match(await print('list'), /\nreminder +subject, email_text +See you +2/);
  assert.equal(await print('show', 'reminder'), set);
  assert.equal(await print('show', 'reminder', '--only', 'email_text'), TEXT);
  assert.deepEqual(JSON.parse(await print('show', 'reminder', '--json')).own, ['subject', 'email_text']);
  assert.match(await print('set', 'reminder', '--subject', ''), /^subject \(default\):\nReminder:/);
  assert.match(await print('reset', 'reminder'), /email_text \(default\):/);
  const [{ actor }] = await ok(company.get('/events?types=message_template.reset'));
  assert.equal(actor.type, 'operator');
});

test('a fault names its flag, line and column', async () => {
  const { code, err } = await runCommand(env, 'template', 'set', 'reminder', '--sms-text', `${TEXT}\n{{nobody}}`);
  assert.equal(code, 3);
  assert.match(err, /--sms-text.*line 3, column 1: there is no field nobody/);
  assert.match((await runCommand(env, 'template', 'show', 'reminders')).err, /no such message/);
});

test('a preview reads as the client reads it, and a test is queued and listed', async () => {
  const { id } = await ok(company.post(`${company.path}/appointments`, booking(company, { location: 'Room 5' })));
  const key = ['--case-id', company.caseId, '--appointment-id', id];
  const preview = await print('preview', 'reminder', '--subject', 'See you', '--sms-text', TEXT, ...key);
  assert.match(preview, /^Subject: See you\n\nHello,\n\nThis is a reminder[\s\S]*\nWhere: Room 5\n/);
  assert.match(preview, /\nSMS \(1 segment\):\nOn Wednesday 10 June 2026, 10:00\nRoom 5$/);
  assert.match(await print('tests'), /^CREATED_AT/);
  const queued = await print('test', 'reminder', '--email', 'me@smith.example', '--phone', '07400 123456');
  assert.match(queued, /email +me@smith\.example +scheduled\n.*sms +\+447400123456 +scheduled/);
  assert.match(await print('tests', '--per-page', '1'), /^CREATED_AT.*\n.*reminder +sms[^\n]*$/);
});

test('the fields are listed, and the page about own words has the same', async () => {
  const fields: { field: string; description: string }[] = JSON.parse(await print('fields', '--json'));
  const page = await readFile(new URL('../docs/templates.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('\n## Fields\n');
  const rows = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, field, description]) => ({
      field,
      description,
    }),
  );
  assert.deepEqual(
    rows,
    fields.map(({ field, description }) => ({ field, description })),
  );
});

test('a text is read from standard input, with its line breaks', async () => {
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const args = [main, 'template', 'preview', 'reminder', '--email-text', '-', '--only', 'email_text'];
  const running = promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  running.child.stdin?.end(`${TEXT}\n`);
  const { stdout } = await running;
  assert.match(stdout, /^On Monday 29 June 2026, 14:30\n1 High Street/);
});
