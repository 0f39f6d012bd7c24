import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { findBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { openReceiver, verified } from '../harness/receiver.ts';
import { startProcess } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** The service as an operator runs it, one process with its own worker and clock. */

const data = await temporaryDataDirectory('started');
const receiver = await openReceiver();
after(async () => {
  await receiver.close();
  await data.remove();
});
const DATA_DIR = data.path;

test('a write is delivered immediately; a failing endpoint causes a mail', async (t) => {
  const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
  const service = await startProcess({ DATA_DIR, SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' });
  t.after(() => service.stop());
  const demo = JSON.parse(await readFile(join(DATA_DIR, 'demo.json'), 'utf8'));
  const client = caller(service.url, demo.token);
  const made = await client.post('/webhooks/endpoints', { url: receiver.url, types: ['interaction.*'] });
  assert.equal(made.status, 200, made.text);
  const write = () => client.post(`/cases/${demo.case_id}/interactions`, { type: 'phone', notes: 'by webhook' });
  await write();
  await until(() => receiver.received.length === 1);
  const [received] = receiver.received;
  assert.ok(received);
  await verified(received, [made.body.secret], Temporal.Now.instant());
  assert.equal(received.event.after.notes, 'by webhook');
  await until(async () => /^webhooks_ended_total\{outcome="delivered"\} 1$/m.test(await metrics()));

  // Simulates three days: its attempts are moved into the past.
  await client.patch('/manage/company', { contact_email: 'it@firm.example' });
  receiver.onEvent = () => ({ status: 500 });
  await write();
  await until(() => receiver.received.length === 2);
  const connection = await findBundledPostgres(DATA_DIR);
  assert.ok(connection);
  const database = new pg.Client(connection);
  await database.connect();
  await until(async () => {
    await database.query(
      `UPDATE webhook_deliveries SET ended_at = now() - interval '5 days' WHERE state = 'delivered'`,
    );
    await database.query(
      `UPDATE webhook_deliveries SET lease_until = NULL, first_attempt_at = now() - interval '4 days', attempts = 10
        WHERE state = 'waiting' AND lease_by IS NULL`,
    );
    await client.post(`/webhooks/endpoints/${made.body.id}/ping`);
    return (await client.get(`/webhooks/endpoints/${made.body.id}`)).body.state === 'failing';
  });
  await database.end();
  const outbox = join(DATA_DIR, 'outbox');
  const mails = async () => (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.eml'));
  await until(async () => (await mails()).length === 1);
  const mail = await readFile(join(outbox, (await mails())[0] ?? ''), 'utf8');
  assert.match(mail, /^To: it@firm\.example\r$/m);
  assert.match(mail, /^Subject: A webhook endpoint is failing: 127\.0\.0\.1/m);
  assert.equal(await service.stop(), 0, service.output.join('\n'));

  async function metrics(): Promise<string> {
    return (await fetch(`${service.url}/metrics`)).text();
  }
});
