import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { majorOf, SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { digestOf, fetchOldRelease, openOldDatabase, startOldDatabase } from '../test/harness/old-database.ts';
import { launch, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosOptions, type ChaosTest, emptyResults, type Results, SkippedError } from './chaos-test.ts';
import { Deployment, kill, processesIn } from './deployment.ts';
import { WriteLoad } from './write-load.ts';

/**
 * An upgrade from an older major version of PostgreSQL is killed at a random moment, in every third round together with
 * both database servers. A start must then refuse and name the command, or serve everything; and the upgrade, run again,
 * must end with every table as it was.
 */

const OLD_MAJOR = '17';
const LOAD_MS = 3_000;
const SHORT_LOAD_MS = 1_000;
const REFUSAL = /case-records upgrade/;

export const upgrade: ChaosTest = {
  name: 'upgrade',
  description: 'an upgrade to another major version of PostgreSQL is killed',
  async run({ seed, short, progress }: ChaosOptions): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const rounds = Number(process.env.ROUNDS ?? (short ? 1 : 20));
    const home = await temporaryDirectory();
    const original = join(home.path, 'original');
    const dataDir = join(home.path, 'data');
    try {
      await promisify(execFile)('mkdir', [original]);
      const release = await fetchOldRelease(home.path, OLD_MAJOR);
      if (typeof release === 'string') throw new SkippedError(release);
      progress('filling the old database');
      const old = await startOldDatabase(original, release);
      await setUpDatabase({ owner: old.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
      const loadMs = short ? SHORT_LOAD_MS : LOAD_MS;
      await fill(original, urlOf({ ...old.connection, user: SERVICE_ROLE }), results, random, loadMs);
      const expected = await digestOf(old.connection);
      await old.stop();

      const run = (command: string) => launch({ DATA_DIR: dataDir }, command, ...flagsOf(command, release.folder));
      const outcomes = { refused: 0, served: 0 };
      let seconds = 2;
      // The first round of the complete form measures the duration, without a kill.
      for (let round = short ? 1 : 0; round <= rounds; round++) {
        await promisify(execFile)('cp', ['-a', original, dataDir]);
        let hasServed = false;
        if (round > 0) {
          progress(`round ${round} of ${rounds}, ${JSON.stringify(outcomes)}`);
          const killed = run('upgrade');
          await pause(random() * seconds * 1_000);
          killed.child.kill('SIGKILL');
          await killed.ended();
          if (round % 3 === 0) for (const pid of await processesIn(dataDir)) kill(pid);
          if ((await majorOf(join(dataDir, 'postgres'))) !== OLD_MAJOR) await checkUpgraded(dataDir, expected, results);
          const outcome = await startAfterKill(dataDir, results);
          outcomes[outcome]++;
          hasServed = outcome === 'served';
        }
        const startedAt = performance.now();
        const whole = run('upgrade');
        if ((await whole.ended()) !== 0) addFault(results, `the upgrade failed: ${whole.output.join('\n')}`);
        if (round === 0) seconds = (performance.now() - startedAt) / 1_000;
        // A service that has started does its work: then the moved data have been compared before.
        if (!hasServed) await checkUpgraded(dataDir, expected, results);
        const left = await processesIn(dataDir);
        if (left.length > 0) addFault(results, `${left.length} processes are left`);
        if (round === rounds) {
          const kept = await openOldDatabase(dataDir, join(dataDir, `postgres.old-${OLD_MAJOR}`), release);
          if ((await digestOf(kept.connection)) !== expected) addFault(results, 'the kept database has changed');
          await kept.stop();
        }
        await rm(dataDir, { recursive: true });
        results.rounds++;
      }
      results.notes.push(
        `${rounds} kills in the first ${seconds.toFixed(1)} s of an upgrade: ${outcomes.refused} times the next start named the ` +
          `command, ${outcomes.served} times it served the moved data`,
      );
    } finally {
      for (const pid of await processesIn(home.path)) kill(pid);
      await home.remove();
    }
    return results;
  },
};

const flagsOf = (command: string, folder: string): string[] =>
  command === 'upgrade' ? ['--old-programs', folder] : [];

/** Writes of all kinds by a service on the old database. */
async function fill(
  dataDir: string,
  url: string,
  results: Results,
  random: () => number,
  loadMs: number,
): Promise<void> {
  const deployment = await Deployment.open({ DATABASE_URL: url, WORKER_CONCURRENCY: '4' }, dataDir);
  try {
    await deployment.start();
    await deployment.run('demo').ended();
    const client = await deployment.openClient();
    const load = new WriteLoad(client, await deployment.readDemo(), results, random, 'u-');
    load.start(6);
    await pause(loadMs);
    await load.stop();
    client.close();
  } finally {
    await deployment.stop();
  }
}

/** What an operator sees who starts the service instead of running the upgrade again. */
async function startAfterKill(dataDir: string, results: Results): Promise<'refused' | 'served'> {
  const deployment = await Deployment.open({}, dataDir);
  try {
    await deployment.start();
    const client = await deployment.openClient();
    const ready = await client.send({ method: 'GET', path: '/readyz' });
    if (ready.status !== 200) addFault(results, `after a kill /readyz was ${ready.status}`);
    client.close();
    return 'served';
  } catch (error) {
    if (!REFUSAL.test((error as Error).message)) addFault(results, `the start said: ${(error as Error).message}`);
    return 'refused';
  } finally {
    await deployment.stop();
  }
}

async function checkUpgraded(dataDir: string, expected: string, results: Results): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith('postgres') && !name.includes('.log'));
  if (names.join(' ') !== `postgres postgres.old-${OLD_MAJOR}`) addFault(results, `the folders are ${names.join(' ')}`);
  const server = await openOldDatabase(dataDir, join(dataDir, 'postgres'));
  try {
    if ((await digestOf(server.connection)) !== expected) {
      results.lost++;
      addFault(results, 'the moved data differ');
    }
  } finally {
    await server.stop();
  }
}
