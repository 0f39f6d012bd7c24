import { execFileSync } from 'node:child_process';
import { mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ROLE, startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { temporaryDirectory } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import type { Answered } from './exchange.ts';
import { type Figures, fault, noFigures, type Proof, Skipped, until } from './proof.ts';
import { kill, processesIn, Site } from './site.ts';

/**
 * The power fails: everything that was not synced is gone. A file system of its own is shut down under the service
 * without writing its log, and mounted again when every process is dead.
 */

const FILE_SYSTEMS = ['ext4', 'xfs'] as const;
const DISK_BYTES = 512 * 1024 * 1024;
const LANES = 8;
const READY_S = 60;
const SENT = `SELECT id FROM messages WHERE state = 'sent'`;

export const powerCut: Proof = {
  name: 'power-cut',
  about: 'the power fails during the first start, and under writes and messages',
  async run({ seed, short, progress }): Promise<Figures> {
    const figures = noFigures();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 2 : 20));
    for (let round = 0; round < rounds; round++) {
      const disk = await Disk.make(FILE_SYSTEMS[round % FILE_SYSTEMS.length] as string);
      try {
        progress(
          `round ${round + 1} of ${rounds}, ${disk.kind}: ${figures.lost} lost, ${figures.faults.length} faults`,
        );
        await duringFirstStart(disk, figures, random);
        await underLoad(disk, figures, random);
      } finally {
        await disk.remove();
      }
      figures.rounds += 2;
    }
    return figures;
  },
};

/** A file with a file system in it. */
class Disk {
  readonly kind: string;
  readonly #home: { path: string; remove(): Promise<void> };

  static async make(kind: string): Promise<Disk> {
    const disk = new Disk(kind, await temporaryDirectory());
    try {
      await writeFile(disk.#image, '');
      await truncate(disk.#image, DISK_BYTES);
      await mkdir(disk.folder);
      execFileSync(`mkfs.${kind}`, ['-q', disk.#image], { stdio: 'pipe' });
      disk.mount();
      execFileSync('xfs_io', ['-V'], { stdio: 'pipe' });
    } catch (error) {
      await disk.remove();
      throw new Skipped(`it takes root, loop mounts, mkfs.${kind} and xfs_io (${(error as Error).message})`);
    }
    return disk;
  }

  private constructor(kind: string, home: { path: string; remove(): Promise<void> }) {
    this.kind = kind;
    this.#home = home;
  }

  get folder(): string {
    return join(this.#home.path, 'mounted');
  }

  get #image(): string {
    return join(this.#home.path, 'image');
  }

  mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.folder], { stdio: 'pipe' });
  }

  /** Nothing more reaches the disk, and what waits in memory is forgotten. */
  cut(): void {
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', this.folder], { stdio: 'pipe' });
  }

  async unmount(): Promise<void> {
    await until('the disk can be unmounted', READY_S, () => {
      try {
        execFileSync('umount', [this.folder], { stdio: 'pipe' });
        return true;
      } catch {
        return false;
      }
    });
  }

  async remove(): Promise<void> {
    try {
      execFileSync('umount', ['-l', this.folder], { stdio: 'pipe' });
    } catch {
      // It is not mounted.
    }
    await this.#home.remove();
  }
}

/** Ends every process of a disk that was cut, and brings the disk back with what had reached it. */
async function recover(disk: Disk, site: Site): Promise<void> {
  await until('every process has ended', READY_S, async () => {
    const left = await processesIn(disk.folder);
    for (const pid of left) kill(pid);
    return left.length === 0;
  });
  await disk.unmount();
  disk.mount();
  await stat(site.dataDir);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** After the next start the file has a token that works, and no company was left without its token. */
async function duringFirstStart(disk: Disk, figures: Figures, random: () => number): Promise<void> {
  const site = await Site.open({ LOG_LEVEL: 'warn', WORKER_CONCURRENCY: '0' }, join(disk.folder, 'data'));
  try {
    const first = site.run('serve');
    await until('demo.json is there', READY_S, () => isThere(join(site.dataDir, 'demo.json')));
    // The company is committed after its file, and then the start is complete.
    await pause(random() * 200);
    disk.cut();
    first.child.kill('SIGKILL');
    await first.ended;
    await recover(disk, site);
    await site.start();
    const line = await site.line();
    const { case_id } = await site.demo();
    const answer = await line.send({ method: 'GET', path: `/cases/${case_id}/interactions` });
    figures.requests++;
    if (answer.status !== 200) fault(figures, `${disk.kind}: the token of demo.json got ${answer.status}`);
    line.close();
    await site.stop();
    // The log is complete only now.
    if (site.service?.output.some((text) => text.includes('it has a new key'))) {
      figures.lost++;
      fault(figures, `${disk.kind}: demo.json was lost, and its company was not`);
    }
  } finally {
    await site.remove();
  }
}

/**
 * A message that counts as sent has its file, whole, and an acknowledged write is there: also if the role of the service
 * was told, after the start, that it need not wait for the disk.
 */
async function underLoad(disk: Disk, figures: Figures, random: () => number): Promise<void> {
  const site = await Site.open({ LOG_LEVEL: 'fatal' }, join(disk.folder, 'data'));
  try {
    await site.start();
    await site.sql(`ALTER ROLE ${SERVICE_ROLE} SET synchronous_commit = off`);
    await site.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${SERVICE_ROLE}'`);
    const booked = await bookUntilCut(disk, site, figures, random);
    await recover(disk, site);
    const server = await startBundledPostgres({ dataDir: site.dataDir, log: () => {} });
    try {
      await checkFiles(disk, site, figures);
      const there = new Set((await site.sql<{ id: string }>('SELECT id FROM appointments')).map(({ id }) => id));
      figures.acknowledged += booked.length;
      const missing = booked.filter((id) => !there.has(id)).length;
      if (missing > 0) fault(figures, `${disk.kind}: ${missing} of ${booked.length} acknowledged bookings are lost`);
      figures.lost += missing;
      await site.sql(`ALTER ROLE ${SERVICE_ROLE} RESET synchronous_commit`);
    } finally {
      await server.stop();
    }
  } finally {
    await site.remove();
  }
}

async function checkFiles(disk: Disk, site: Site, figures: Figures): Promise<void> {
  const outbox = join(site.dataDir, 'outbox');
  const files = await readdir(outbox).catch(() => []);
  const sent = await site.sql<{ id: string }>(SENT);
  figures.acknowledged += sent.length;
  if (sent.length === 0) fault(figures, `${disk.kind}: no message was sent before the power failed`);
  let missing = 0;
  for (const { id } of sent) {
    const name = files.find((file) => file.includes(id) && !file.endsWith('.new'));
    if (name === undefined) missing++;
    else if ((await stat(join(outbox, name))).size === 0) figures.halfWritten++;
  }
  if (missing > 0) fault(figures, `${disk.kind}: ${missing} of ${sent.length} messages that count as sent are lost`);
  figures.lost += missing;
}

/** Returns the bookings that were acknowledged. */
async function bookUntilCut(disk: Disk, site: Site, figures: Figures, random: () => number): Promise<string[]> {
  const demo = await site.demo();
  const line = await site.line(LANES);
  const booked: string[] = [];
  let cut = false;
  const lane = async () => {
    while (!cut) {
      const body = {
        adviser_email: demo.advisers[1]?.email,
        start_time: '2090-01-02 10:00:00',
        end_time: '2090-01-02 11:00:00',
        email_recipient: demo.customers[0]?.email,
        email_confirmation: true,
        sms_recipient: demo.customers[0]?.phone,
        sms_confirmation: true,
      };
      const answer = await line.send({ method: 'POST', path: `/cases/${demo.case_id}/appointments`, body });
      figures.requests++;
      if (answer.status === 200) booked.push(JSON.parse((answer as Answered).text).id);
    }
  };
  const lanes = Array.from({ length: LANES }, lane);
  await until('messages go out', READY_S, async () => (await site.sql(SENT)).length > 20);
  await pause(random() * 2_000);
  disk.cut();
  cut = true;
  site.service?.child.kill('SIGKILL');
  await Promise.all(lanes);
  line.close();
  return booked;
}
