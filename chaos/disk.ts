import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../test/harness/service.ts';
import { addFault, type ChaosTest, emptyResults, type Results, SkippedError, waitUntil } from './chaos-test.ts';
import { Deployment, processesIn } from './deployment.ts';
import type { HttpResponse } from './http-client.ts';

/** The disk of the database is full, then that of the outbox. Acknowledged writes must stay, refused ones must not. */

const DATABASE_MB = 220;
const OUTBOX_KB = 256;
const FREE_BYTES = 3 * 1024 * 1024;
const ITEMS_PER_INVOICE = 100;

/** The texts are random, because the database compresses long values. */
const bigInvoice = (invoice_number: string) => ({
  invoice_number,
  sender_id: '0b6ff6ea-3b8e-4d0e-9e5c-1a8f6b1f3c77',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  sub_total: 200,
  total: 240,
  items: Array.from({ length: ITEMS_PER_INVOICE }, () => ({
    description: randomBytes(140).toString('base64'),
    quantity: '1',
    rate: '2',
    amount: '2.40',
  })),
});
const MAX_WRITES = 2_000;
const RETRY_TIMEOUT_S = 60;

export const disk: ChaosTest = {
  name: 'disk',
  description: 'the disk of the database is full, then that of the outbox',
  async run({ progress }): Promise<Results> {
    const results = emptyResults();
    const home = await temporaryDirectory();
    const mounts: string[] = [];
    const mount = async (path: string, size: string) => {
      await mkdir(path, { recursive: true });
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path], { stdio: 'pipe' });
      } catch {
        throw new SkippedError('mounting a small file system needs root and mount');
      }
      mounts.push(path);
    };
    try {
      const dataDir = join(home.path, 'data');
      await mount(dataDir, `${DATABASE_MB}m`);
      await mount(join(dataDir, 'outbox'), `${OUTBOX_KB}k`);
      const deployment = await Deployment.open({ LOG_LEVEL: 'fatal' }, dataDir);
      try {
        await deployment.start();
        await fillDatabaseDisk(deployment, results, progress);
        await fillOutboxDisk(deployment, results, progress);
        const code = await deployment.stop();
        if (code !== 0) addFault(results, `the service ended with exit code ${code}`);
        if ((await processesIn(dataDir)).length > 0) addFault(results, 'database processes are still running');
      } finally {
        await deployment.remove();
      }
    } finally {
      for (const path of mounts.reverse()) execFileSync('umount', ['-l', path]);
      await home.remove();
    }
    return results;
  },
};

async function fillDatabaseDisk(
  deployment: Deployment,
  results: Results,
  progress: (text: string) => void,
): Promise<void> {
  const demo = await deployment.readDemo();
  const client = await deployment.openClient(4);
  const path = `/cases/${demo.case_id}/invoices`;
  const ballast = join(deployment.dataDir, 'ballast');
  const { bavail, bsize } = await statfs(deployment.dataDir);
  await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - FREE_BYTES)));
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const unknown: string[] = [];
  const write = async (n: number) => {
    const stamp = `d-${n}`;
    const answer = await client.send({ method: 'POST', path, body: bigInvoice(stamp) });
    results.requests++;
    if (answer.status === 200) acknowledged.push(stamp);
    // Without a response, or with 503, the write may or may not have been performed.
    else if (answer.status === 0 || answer.status === 503) unknown.push(stamp);
    else {
      refused.push(stamp);
      if (answer.status !== 500) addFault(results, `full disk: ${(answer as HttpResponse).text}`);
    }
    return answer.status;
  };
  const statuses = new Map<number, number>();
  let n = 0;
  for (let failures = 0; failures < 30 && n < MAX_WRITES; n++) {
    progress(`full disk: ${acknowledged.length} writes acknowledged, ${refused.length} refused`);
    const status = await write(n);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200) failures++;
    if (status === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (refused.length + unknown.length === 0) addFault(results, 'the disk did not become full');
  const ended = deployment.service?.child.exitCode !== null;
  await rm(ballast);
  // If the database could not continue, the service has ended and is restarted, as a supervisor does.
  if (ended) await deployment.start();
  await waitUntil('writes succeed again when there is space', 30, async () => {
    if (deployment.service?.child.exitCode !== null) await deployment.start();
    return (await write(n++)) === 200;
  });
  const rows = await deployment.sql<{ stamp: string; items: number }>(
    `SELECT invoice_number AS stamp, (SELECT count(*)::int FROM invoice_items WHERE invoice_id = v.id) AS items
       FROM invoices v`,
  );
  const stored = rows.map(({ stamp }) => stamp);
  const logged = await deployment.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM events WHERE type = 'invoice.created'`,
  );
  results.lost += acknowledged.filter((stamp) => !stored.includes(stamp)).length;
  results.halfWritten += refused.filter((stamp) => stored.includes(stamp)).length;
  results.duplicated += stored.length - new Set(stored).size;
  results.halfWritten += Math.abs((logged[0]?.n ?? 0) - stored.length);
  results.halfWritten += rows.filter(({ items }) => items !== ITEMS_PER_INVOICE).length;
  results.acknowledged += acknowledged.length;
  results.rounds++;
  const statusText = [...statuses].map(([status, count]) => `${count} × ${status || 'no response'}`).join(', ');
  results.notes.push(`full database disk: ${statusText}; the service ${ended ? 'had to be restarted' : 'stayed up'}`);
  client.close();
}

async function fillOutboxDisk(
  deployment: Deployment,
  results: Results,
  progress: (text: string) => void,
): Promise<void> {
  const demo = await deployment.readDemo();
  const client = await deployment.openClient();
  const outbox = join(deployment.dataDir, 'outbox');
  await waitUntil('the outbox exists', 10, () => readdir(outbox).then(() => true));
  const ballast = join(outbox, 'ballast');
  // The file is larger than the disk, so the write fails when the disk is full.
  await writeFile(ballast, Buffer.alloc(OUTBOX_KB * 1024)).catch(() => {});
  const booked = [];
  for (let i = 0; i < 10; i++) {
    const body = {
      adviser_email: demo.advisers[1]?.email,
      start_time: '2090-01-02 10:00:00',
      end_time: '2090-01-02 11:00:00',
      email_recipient: demo.customers[0]?.email,
      email_confirmation: true,
    };
    const answer = await client.send({ method: 'POST', path: `/cases/${demo.case_id}/appointments`, body });
    results.requests++;
    if (answer.status !== 200) addFault(results, `booking with a full outbox: ${JSON.stringify(answer)}`);
    else booked.push(answer);
  }
  results.acknowledged += booked.length;
  const selectFailed = `SELECT count(*)::int AS n FROM messages
    WHERE kind = 'confirmation' AND attempts > 0 AND state = 'scheduled'`;
  progress('the outbox is full');
  await waitUntil(
    'every message has failed once',
    30,
    async () => (await deployment.sql<{ n: number }>(selectFailed))[0]?.n === 10,
  ).catch((error) => addFault(results, error.message));
  await rm(ballast);
  progress('space again: waiting for the next attempt');
  const selectUnsent = `SELECT count(*)::int AS n FROM messages WHERE kind = 'confirmation' AND state <> 'sent'`;
  await waitUntil(
    'every message is written',
    RETRY_TIMEOUT_S,
    async () => (await deployment.sql<{ n: number }>(selectUnsent))[0]?.n === 0,
  ).catch((error) => addFault(results, error.message));
  const files = await readdir(outbox);
  const sizes = await Promise.all(files.map(async (name) => ({ name, size: (await stat(join(outbox, name))).size })));
  const sent = await deployment.sql<{ id: string }>(
    `SELECT id FROM messages WHERE kind = 'confirmation' AND state = 'sent'`,
  );
  results.lost += sent.filter(({ id }) => !sizes.some(({ name, size }) => name.includes(id) && size > 0)).length;
  const partial = files.filter((name) => name.endsWith('.new')).length;
  results.halfWritten += partial;
  if (partial > 0) addFault(results, `${partial} files in the outbox are half written`);
  results.rounds++;
  results.notes.push(`full outbox: ${booked.length} messages waited and were written when there was space`);
  client.close();
}
