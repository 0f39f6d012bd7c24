import { execFileSync } from 'node:child_process';
import { mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ROLE, startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { temporaryDirectory } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosTest, emptyResults, type Results, SkippedError, waitUntil } from './chaos-test.ts';
import { Deployment, kill, processesIn } from './deployment.ts';
import type { HttpResponse } from './http-client.ts';

/**
 * Simulates a power cut: all data that was not synced is lost. The service runs on a separate file system, which is
 * shut down without flushing its journal and mounted again when every process has been killed.
 */

const FILE_SYSTEMS = ['ext4', 'xfs'] as const;
const DISK_BYTES = 512 * 1024 * 1024;
const CALLERS = 8;
const READY_TIMEOUT_S = 60;
const SELECT_SENT = `SELECT id FROM messages WHERE state = 'sent'`;

export const powerCut: ChaosTest = {
  name: 'power-cut',
  description: 'the power fails during the first start, and under a load of writes and messages',
  async run({ seed, short, progress }): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 1 : 20));
    for (let round = 0; round < rounds; round++) {
      const disk = await Disk.create(FILE_SYSTEMS[round % FILE_SYSTEMS.length] as string);
      try {
        progress(
          `round ${round + 1} of ${rounds}, ${disk.kind}: ${results.lost} lost, ${results.faults.length} faults`,
        );
        await cutDuringFirstStart(disk, results, random);
        await cutUnderLoad(disk, results, random);
      } finally {
        await disk.remove();
      }
      results.rounds += 2;
    }
    return results;
  },
};

/** A file system in an image file. */
class Disk {
  readonly kind: string;
  readonly #home: { path: string; remove(): Promise<void> };

  static async create(kind: string): Promise<Disk> {
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
      throw new SkippedError(`needs root, loop mounts, mkfs.${kind} and xfs_io (${(error as Error).message})`);
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

  /** Stops all writes to the disk and discards the data that has not been flushed. */
  powerOff(): void {
    execFileSync('xfs_io', ['-x', '-c', 'shutdown', this.folder], { stdio: 'pipe' });
  }

  async unmount(): Promise<void> {
    await waitUntil('the disk can be unmounted', READY_TIMEOUT_S, () => {
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
      // The disk is not mounted.
    }
    await this.#home.remove();
  }
}

/** Kills every process that uses the disk, then mounts the disk again with the data that had reached it. */
async function recover(disk: Disk, deployment: Deployment): Promise<void> {
  await waitUntil('every process has ended', READY_TIMEOUT_S, async () => {
    const remaining = await processesIn(disk.folder);
    for (const pid of remaining) kill(pid);
    return remaining.length === 0;
  });
  await disk.unmount();
  disk.mount();
  await stat(deployment.dataDir);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** After the next start demo.json must contain a valid token, and no company may exist without its token. */
async function cutDuringFirstStart(disk: Disk, results: Results, random: () => number): Promise<void> {
  const deployment = await Deployment.open({ LOG_LEVEL: 'warn', WORKER_CONCURRENCY: '0' }, join(disk.folder, 'data'));
  try {
    const first = deployment.run('serve');
    await waitUntil('demo.json exists', READY_TIMEOUT_S, () => exists(join(deployment.dataDir, 'demo.json')));
    // The company is committed after its file has been written; then the start is complete.
    await pause(random() * 200);
    disk.powerOff();
    first.child.kill('SIGKILL');
    await first.ended();
    await recover(disk, deployment);
    await deployment.start();
    const client = await deployment.openClient();
    const { case_id } = await deployment.readDemo();
    const answer = await client.send({ method: 'GET', path: `/cases/${case_id}/interactions` });
    results.requests++;
    if (answer.status !== 200) addFault(results, `${disk.kind}: the token of demo.json got ${answer.status}`);
    client.close();
    await deployment.stop();
    // The log is flushed when the service has ended.
    if (deployment.service?.output.some((text) => text.includes('with a new API key'))) {
      results.lost++;
      addFault(results, `${disk.kind}: demo.json was lost, but not its company`);
    }
  } finally {
    await deployment.remove();
  }
}

/**
 * A message that is marked as sent must have its complete file, and acknowledged writes must exist, even if
 * synchronous_commit was turned off for the role of the service after its start.
 */
async function cutUnderLoad(disk: Disk, results: Results, random: () => number): Promise<void> {
  const deployment = await Deployment.open({ LOG_LEVEL: 'fatal' }, join(disk.folder, 'data'));
  try {
    await deployment.start();
    await deployment.sql(`ALTER ROLE ${SERVICE_ROLE} SET synchronous_commit = off`);
    await deployment.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${SERVICE_ROLE}'`);
    const booked = await bookUntilCut(disk, deployment, results, random);
    await recover(disk, deployment);
    const server = await startBundledPostgres({ dataDir: deployment.dataDir, log: () => {} });
    try {
      await checkFiles(disk, deployment, results);
      const stored = new Set((await deployment.sql<{ id: string }>('SELECT id FROM appointments')).map(({ id }) => id));
      results.acknowledged += booked.length;
      const missing = booked.filter((id) => !stored.has(id)).length;
      if (missing > 0) addFault(results, `${disk.kind}: ${missing} of ${booked.length} acknowledged bookings are lost`);
      results.lost += missing;
      await deployment.sql(`ALTER ROLE ${SERVICE_ROLE} RESET synchronous_commit`);
    } finally {
      await server.stop();
    }
  } finally {
    await deployment.remove();
  }
}

async function checkFiles(disk: Disk, deployment: Deployment, results: Results): Promise<void> {
  const outbox = join(deployment.dataDir, 'outbox');
  const files = await readdir(outbox).catch(() => []);
  const sent = await deployment.sql<{ id: string }>(SELECT_SENT);
  results.acknowledged += sent.length;
  if (sent.length === 0) addFault(results, `${disk.kind}: no message was sent before the power failed`);
  let missing = 0;
  for (const { id } of sent) {
    const name = files.find((file) => file.includes(id) && !file.endsWith('.new'));
    if (name === undefined) missing++;
    else if ((await stat(join(outbox, name))).size === 0) results.halfWritten++;
  }
  if (missing > 0)
    addFault(results, `${disk.kind}: ${missing} of ${sent.length} messages that are marked as sent are lost`);
  results.lost += missing;
}

/** Books appointments until the power is cut. Returns the acknowledged ones. */
async function bookUntilCut(
  disk: Disk,
  deployment: Deployment,
  results: Results,
  random: () => number,
): Promise<string[]> {
  const demo = await deployment.readDemo();
  const client = await deployment.openClient(CALLERS);
  const booked: string[] = [];
  let isCut = false;
  const book = async () => {
    while (!isCut) {
      const body = {
        adviser_email: demo.advisers[1]?.email,
        start_time: '2090-01-02 10:00:00',
        end_time: '2090-01-02 11:00:00',
        email_recipient: demo.customers[0]?.email,
        email_confirmation: true,
        sms_recipient: demo.customers[0]?.phone,
        sms_confirmation: true,
      };
      const answer = await client.send({ method: 'POST', path: `/cases/${demo.case_id}/appointments`, body });
      results.requests++;
      if (answer.status === 200) booked.push(JSON.parse((answer as HttpResponse).text).id);
    }
  };
  const callers = Array.from({ length: CALLERS }, book);
  await waitUntil('messages are sent', READY_TIMEOUT_S, async () => (await deployment.sql(SELECT_SENT)).length > 20);
  await pause(random() * 2_000);
  disk.powerOff();
  isCut = true;
  deployment.service?.child.kill('SIGKILL');
  await Promise.all(callers);
  client.close();
  return booked;
}
