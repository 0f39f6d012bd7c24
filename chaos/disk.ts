import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../test/harness/service.ts';
import type { Answered } from './exchange.ts';
import { type Figures, fault, noFigures, type Proof, Skipped, until } from './proof.ts';
import { processesIn, Site } from './site.ts';

/** No room under the database, and under the outbox: what was acknowledged stays, what was refused changes nothing. */

const DATABASE_MB = 220;
const OUTBOX_KB = 256;
const ROOM_LEFT_BYTES = 3 * 1024 * 1024;
const ITEMS = 100;

/** Bytes without order: the database presses together what it can. */
const bigInvoice = (invoice_number: string) => ({
  invoice_number,
  sender_id: '0b6ff6ea-3b8e-4d0e-9e5c-1a8f6b1f3c77',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  sub_total: 200,
  total: 240,
  items: Array.from({ length: ITEMS }, () => ({
    description: randomBytes(140).toString('base64'),
    quantity: '1',
    rate: '2',
    amount: '2.40',
  })),
});
const MOST_WRITES = 2_000;
const RETRY_S = 60;

export const disk: Proof = {
  name: 'disk',
  about: 'the disk is full under the database, then under the outbox',
  async run({ progress }): Promise<Figures> {
    const figures = noFigures();
    const home = await temporaryDirectory();
    const mounts: string[] = [];
    const mount = async (path: string, size: string) => {
      await mkdir(path, { recursive: true });
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path], { stdio: 'pipe' });
      } catch {
        throw new Skipped('a small file system cannot be mounted here; it takes root and mount');
      }
      mounts.push(path);
    };
    try {
      const dataDir = join(home.path, 'data');
      await mount(dataDir, `${DATABASE_MB}m`);
      await mount(join(dataDir, 'outbox'), `${OUTBOX_KB}k`);
      const site = await Site.open({ LOG_LEVEL: 'fatal' }, dataDir);
      try {
        await site.start();
        await underDatabase(site, figures, progress);
        await underOutbox(site, figures, progress);
        const code = await site.stop();
        if (code !== 0) fault(figures, `the service ended with ${code}`);
        if ((await processesIn(dataDir)).length > 0) fault(figures, 'database processes are left');
      } finally {
        await site.remove();
      }
    } finally {
      for (const path of mounts.reverse()) execFileSync('umount', ['-l', path]);
      await home.remove();
    }
    return figures;
  },
};

async function underDatabase(site: Site, figures: Figures, progress: (text: string) => void): Promise<void> {
  const demo = await site.demo();
  const line = await site.line(4);
  const path = `/cases/${demo.case_id}/invoices`;
  const ballast = join(site.dataDir, 'ballast');
  const { bavail, bsize } = await statfs(site.dataDir);
  await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - ROOM_LEFT_BYTES)));
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const unknown: string[] = [];
  const write = async (n: number) => {
    const stamp = `d-${n}`;
    const answer = await line.send({ method: 'POST', path, body: bigInvoice(stamp) });
    figures.requests++;
    if (answer.status === 200) acknowledged.push(stamp);
    // A connection that broke in the middle: nobody can know.
    else if (answer.status === 0 || answer.status === 503) unknown.push(stamp);
    else {
      refused.push(stamp);
      if (answer.status !== 500) fault(figures, `a full disk: ${(answer as Answered).text}`);
    }
    return answer.status;
  };
  const statuses = new Map<number, number>();
  let n = 0;
  for (let failures = 0; failures < 30 && n < MOST_WRITES; n++) {
    progress(`no room: ${acknowledged.length} writes acknowledged, ${refused.length} refused`);
    const status = await write(n);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200) failures++;
    if (status === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (refused.length + unknown.length === 0) fault(figures, 'the disk did not become full');
  const ended = site.service?.child.exitCode !== null;
  await rm(ballast);
  // As a supervisor does, where the database could not go on.
  if (ended) await site.start();
  await until('it writes again when there is room', 30, async () => {
    if (site.service?.child.exitCode !== null) await site.start();
    return (await write(n++)) === 200;
  });
  const rows = await site.sql<{ stamp: string; items: number }>(
    `SELECT invoice_number AS stamp, (SELECT count(*)::int FROM invoice_items WHERE invoice_id = v.id) AS items FROM invoices v`,
  );
  const there = rows.map(({ stamp }) => stamp);
  const logged = await site.sql<{ n: number }>(`SELECT count(*)::int AS n FROM events WHERE type = 'invoice.created'`);
  figures.lost += acknowledged.filter((stamp) => !there.includes(stamp)).length;
  figures.halfWritten += refused.filter((stamp) => there.includes(stamp)).length;
  figures.twice += there.length - new Set(there).size;
  figures.halfWritten += Math.abs((logged[0]?.n ?? 0) - there.length);
  figures.halfWritten += rows.filter(({ items }) => items !== ITEMS).length;
  figures.acknowledged += acknowledged.length;
  figures.rounds++;
  const shown = [...statuses].map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ');
  figures.notes.push(
    `full under the database: ${shown}; the service ${ended ? 'had to be started again' : 'stayed up'}`,
  );
  line.close();
}

async function underOutbox(site: Site, figures: Figures, progress: (text: string) => void): Promise<void> {
  const demo = await site.demo();
  const line = await site.line();
  const outbox = join(site.dataDir, 'outbox');
  await until('the outbox is there', 10, () => readdir(outbox).then(() => true));
  const ballast = join(outbox, 'ballast');
  // The last of it as the disk gives it.
  await writeFile(ballast, Buffer.alloc(OUTBOX_KB * 1024)).catch(() => {});
  const made = [];
  for (let i = 0; i < 10; i++) {
    const body = {
      adviser_email: demo.advisers[1]?.email,
      start_time: '2090-01-02 10:00:00',
      end_time: '2090-01-02 11:00:00',
      email_recipient: demo.customers[0]?.email,
      email_confirmation: true,
    };
    const answer = await line.send({ method: 'POST', path: `/cases/${demo.case_id}/appointments`, body });
    figures.requests++;
    if (answer.status !== 200) fault(figures, `booking with a full outbox: ${JSON.stringify(answer)}`);
    else made.push(answer);
  }
  figures.acknowledged += made.length;
  const failed = `SELECT count(*)::int AS n FROM messages WHERE kind = 'confirmation' AND attempts > 0 AND state = 'scheduled'`;
  progress('no room in the outbox');
  await until(
    'the sending was tried in vain',
    30,
    async () => (await site.sql<{ n: number }>(failed))[0]?.n === 10,
  ).catch((error) => fault(figures, error.message));
  await rm(ballast);
  progress('room again: waiting for the next attempt');
  const left = `SELECT count(*)::int AS n FROM messages WHERE kind = 'confirmation' AND state <> 'sent'`;
  await until(
    'every message was written',
    RETRY_S,
    async () => (await site.sql<{ n: number }>(left))[0]?.n === 0,
  ).catch((error) => fault(figures, error.message));
  const files = await readdir(outbox);
  const sizes = await Promise.all(files.map(async (name) => ({ name, size: (await stat(join(outbox, name))).size })));
  const sent = await site.sql<{ id: string }>(`SELECT id FROM messages WHERE kind = 'confirmation' AND state = 'sent'`);
  figures.lost += sent.filter(({ id }) => !sizes.some(({ name, size }) => name.includes(id) && size > 0)).length;
  const partial = files.filter((name) => name.endsWith('.new')).length;
  figures.halfWritten += partial;
  if (partial > 0) fault(figures, `${partial} files in the outbox are half written`);
  figures.rounds++;
  figures.notes.push(`full under the outbox: ${made.length} messages waited, and went out when there was room`);
  line.close();
}
