import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_ROLE, startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import type { Settings } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { Disk } from './cut-disk.ts';
import { commandOf, Deployment, kill, processesIn } from './deployment.ts';
import type { HttpResponse } from './http-client.ts';

/**
 * Simulates a power cut: all data that was not synced is lost. The service runs on a separate file system, which is
 * shut down without flushing its journal and mounted again when every process has been killed.
 */

const FILE_SYSTEMS = ['ext4', 'xfs'] as const;
const CALLERS = 8;
const READY_TIMEOUT_S = 60;
const MAX_RECOVERY_MS = 60;
const SELECT_SENT = `SELECT id FROM messages WHERE state = 'sent'`;
/** Loaded into the service of the control run. */
const UNSAFE_COMMITS = new URL('unsafe-commits.mjs', import.meta.url).href;

export const powerCut: ChaosTest = {
  name: 'power-cut',
  description: 'the power fails during the first start, under a load of writes and messages, and during the recovery',
  async run({ seed, short, progress }): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 1 : 25));
    let recoveriesCut = 0;
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}: ${results.lost} lost, ${results.faults.length} faults`);
      await withDisk(round, async (disk) => {
        await cutDuringFirstStart(disk, results, random);
        recoveriesCut += await cutUnderLoad(disk, results, random, { cutsRecovery: true });
      });
      results.rounds += 2;
    }
    results.notes.push(`${recoveriesCut} of ${rounds} recoveries were cut as well`);
    await seeLosses(short ? 1 : 4, results, random, progress);
    return results;
  },
};

/** The control run: if commits do not wait for the disk, this test must see that writes are lost. */
async function seeLosses(
  rounds: number,
  results: Results,
  random: () => number,
  progress: (text: string) => void,
): Promise<void> {
  const control = emptyResults();
  for (let round = 0; round < rounds; round++) {
    progress(`control round ${round + 1} of ${rounds}: ${control.lost} lost`);
    await withDisk(round, (disk) => cutUnderLoad(disk, control, random, { hasUnsafeCommits: true }));
  }
  results.notes.push(`control run without synchronous_commit: ${control.lost} of ${control.acknowledged} lost`);
  if (control.lost === 0) addFault(results, 'the control run without synchronous_commit lost nothing');
}

async function withDisk(round: number, work: (disk: Disk) => Promise<unknown>): Promise<void> {
  const disk = await Disk.create(FILE_SYSTEMS[round % FILE_SYSTEMS.length] as string);
  try {
    await work(disk);
  } finally {
    await disk.remove();
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
 * synchronous_commit was turned off for the role of the service after its start. Returns the number of recoveries that
 * were cut too.
 */
async function cutUnderLoad(
  disk: Disk,
  results: Results,
  random: () => number,
  { hasUnsafeCommits = false, cutsRecovery = false }: { hasUnsafeCommits?: boolean; cutsRecovery?: boolean },
): Promise<number> {
  const settings: Settings = hasUnsafeCommits ? { NODE_OPTIONS: `--import=${UNSAFE_COMMITS}` } : {};
  const deployment = await Deployment.open({ LOG_LEVEL: 'fatal', ...settings }, join(disk.folder, 'data'));
  try {
    await deployment.start();
    await deployment.sql(`ALTER ROLE ${SERVICE_ROLE} SET synchronous_commit = off`);
    if (hasUnsafeCommits) {
      // Every 200 ms by default: a slow machine commits so little in that time that a round may lose nothing.
      await deployment.sql(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
      await deployment.sql('SELECT pg_reload_conf()');
    }
    await deployment.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${SERVICE_ROLE}'`);
    const booked = await bookUntilCut(disk, deployment, results, random);
    await recover(disk, deployment);
    const recoveriesCut = cutsRecovery && (await cutDuringRecovery(disk, deployment, random)) ? 1 : 0;
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
    return recoveriesCut;
  } finally {
    await deployment.remove();
  }
}

/** Returns whether the database was still recovering when the power failed again. */
async function cutDuringRecovery(disk: Disk, deployment: Deployment, random: () => number): Promise<boolean> {
  const second = deployment.run('serve');
  await waitUntil('the recovery has begun', READY_TIMEOUT_S, () => isRecovering(disk));
  await pause(random() * MAX_RECOVERY_MS);
  const isCut = await isRecovering(disk);
  disk.powerOff();
  second.child.kill('SIGKILL');
  await second.ended();
  await recover(disk, deployment);
  return isCut;
}

async function isRecovering(disk: Disk): Promise<boolean> {
  const commands = await Promise.all((await processesIn(disk.folder)).map(commandOf));
  return commands.some((command) => /^postgres: .*startup/.test(command));
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
