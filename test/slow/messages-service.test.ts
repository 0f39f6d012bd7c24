import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { mailServer, readMail } from '../harness/mail-server.ts';
import { launch, type Settings, startProcess } from '../harness/service.ts';
import { until, within } from '../harness/until.ts';

/** The service as an operator runs it, one process with its own worker and clock. */

const data = await temporaryDataDirectory('started');
const server = await mailServer();
after(async () => {
  await server.close();
  await data.remove();
});
const DATA_DIR = data.path;
const outbox = join(DATA_DIR, 'outbox');

async function serve(settings: Settings) {
  const service = await startProcess({ DATA_DIR, ...settings });
  const demo = JSON.parse(await readFile(join(DATA_DIR, 'demo.json'), 'utf8'));
  const client = caller(service.url, demo.token);
  const book = async () => {
    const answer = await client.post(`/cases/${demo.case_id}/appointments`, {
      adviser_email: demo.advisers[1].email,
      start_time: '2035-06-14 10:00:00',
      end_time: '2035-06-14 11:00:00',
      email_recipient: demo.customers[0].email,
      email_confirmation: true,
      sms_recipient: demo.customers[0].phone,
      sms_confirmation: true,
    });
    assert.equal(answer.status, 200, answer.text);
    return `/cases/${demo.case_id}/appointments/${answer.body.id}`;
  };
  return { ...service, client, book };
}

test('without a mail server confirmations are written to files immediately, and the log says so once', async () => {
  const { url, client, book, output, stop } = await serve({});
  for (let i = 0; i < 2; i++) await book();
  await until(
    async () => (await readdir(outbox).catch(() => [])).filter((name) => !name.endsWith('.new')).length === 4,
  );
  const kinds = (await readdir(outbox)).map((name) => name.slice(name.indexOf('.'))).sort();
  assert.deepEqual(kinds, ['.eml', '.eml', '.sms.json', '.sms.json']);
  assert.equal((await stat(outbox)).mode & 0o777, 0o700);
  await until(async () => (await client.get('/messages?state=sent')).body.length === 4);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^messages_sent_total\{channel="email",kind="confirmation"\} 2$/m);
  assert.match(metrics, /^messages_sent_total\{channel="sms",kind="confirmation"\} 2$/m);
  assert.equal(await stop(), 0);
  assert.equal(output.filter((line) => line.includes('SMTP_URL is not set')).length, 1);
});

test('with a mail server they go there; a stop waits for what is being sent', async () => {
  const settings = { SMTP_URL: server.url, MAIL_FROM: 'records@service.example' };
  const first = await serve(settings);
  const path = await first.book();
  await until(() => server.mails.length === 1);
  const { headers } = readMail(server.mails[0]?.raw ?? '');
  assert.match(headers.from ?? '', /records@service\.example/);
  assert.match(headers['message-id'] ?? '', /@service\.example>$/);

  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  server.onRecipient = () => {
    resolve();
    return { until: new Promise((free) => held.push(() => free(undefined))) };
  };
  assert.equal((await first.client.patch(path, { email_confirmation: true })).status, 200);
  await within(arrived, 'the second mail');
  const stopped = first.stop();
  for (const free of held) free();
  assert.equal(await stopped, 0);
  assert.equal(server.mails.length, 2);
});

test('settings of messages that are wrong, or missing, are named without their secrets', async () => {
  const { output, ended } = launch({
    DATA_DIR,
    SMTP_URL: 'http://user:secret@mail.example',
    MAIL_FROM: 'Sender <a@b.example>',
    SMS_PROVIDER: 'gateway',
    SMS_GATEWAY_HEADERS: '{"Authorization": 5, "x": "secret"}',
    WORKER_CONCURRENCY: '-1',
  });
  assert.equal(await ended(), 2);
  const named = output.map((line) => /case-records: (\w+)/.exec(line)?.[1]).sort();
  assert.deepEqual(named, ['MAIL_FROM', 'SMS_GATEWAY_HEADERS', 'SMS_GATEWAY_URL', 'SMTP_URL', 'WORKER_CONCURRENCY']);
  assert.ok(!output.join().includes('secret'));
});
