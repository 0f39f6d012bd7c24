import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { draftName } from '../src/backup/backup-folder.ts';
import { ARCHIVE } from '../src/backup/manifest.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { makeDataDirectory } from '../test/harness/data-directory.ts';
import { type Settings, temporaryDirectory } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosOptions, type ChaosTest, emptyResults, type Results } from './chaos-test.ts';
import { Deployment, kill, processesIn } from './deployment.ts';
import { compareWrites, TimedLoad, type TimedWrite } from './timed-load.ts';

/**
 * Backups are made while many callers write, and killed. Then the database is restored to random times and compared
 * with the log of acknowledged writes: nothing from before may be missing, and nothing from after may be there.
 */

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;

type Plan = {
  writers: number;
  /** How long each writer waits between two writes. */
  thinkMs: number;
  seededRows: number;
  paceRounds: number;
  restores: number;
  kills: number;
};

type Ended = { code: number | null; output: string };

/** PACE_ROUNDS, RESTORES and KILLS in the environment change the numbers. */
const FULL: Plan = { writers: 32, thinkMs: 0, seededRows: 600_000, paceRounds: 10, restores: 10, kills: 20 };
const SHORT: Plan = { writers: 32, thinkMs: 100, seededRows: 0, paceRounds: 0, restores: 1, kills: 0 };
const PACE_MS = 4_000;
const SETTLE_MS = 300;
const MIN_PACE = 0.9;

export const backup: ChaosTest = {
  name: 'backup',
  description: 'backups under load and restores to random times, both killed at random moments',
  async run({ seed, short, progress }: ChaosOptions): Promise<Results> {
    const results = emptyResults();
    const { PACE_ROUNDS, RESTORES, KILLS } = process.env;
    const defaults = short ? SHORT : FULL;
    const plan = {
      ...defaults,
      paceRounds: Number(PACE_ROUNDS ?? defaults.paceRounds),
      restores: Number(RESTORES ?? defaults.restores),
      kills: Number(KILLS ?? defaults.kills),
    };
    const random = randomFrom(seed);
    // A blank in the path must not matter.
    const home = await temporaryDirectory();
    const folder = join(home.path, 'the backups');
    const dataDir = join(home.path, 'the data');
    await makeDataDirectory('started', dataDir);
    const settings = { BACKUP_DIR: folder, BACKUP_SCHEDULE: 'off', WORKER_CONCURRENCY: '0' };
    const deployment = await Deployment.open(settings, dataDir);
    try {
      await deployment.start();
      const demo = await deployment.readDemo();
      const client = await deployment.openClient();
      if (plan.seededRows > 0) await seedInteractions(deployment, plan.seededRows, progress);
      const load = new TimedLoad(client, demo, results, plan.thinkMs);
      load.start(plan.writers);
      await pause(1_000);
      const environment = { DATA_DIR: dataDir, BACKUP_DIR: folder };
      progress('the first backup');
      const first = await run(environment, ['backup', 'create', folder]);
      if (first.code !== 0) throw new Error(first.output);
      const from = Date.now();
      await measurePace(plan, load, environment, folder, results, progress);
      if (plan.kills > 0) await killBackups(plan, random, environment, folder, results, progress);
      await pause(short ? 2_000 : 10_000);
      const until = Date.now() - 1_000;
      const writes = await load.stop();
      if ((await deployment.stop()) !== 0) addFault(results, 'the service did not stop cleanly');
      client.close();
      const restored = join(home.path, 'restored here');
      for (let i = 0; i < plan.restores; i++) {
        const at = new Date(Math.floor((from + random() * (until - from)) / 1_000) * 1_000 + 1_000);
        progress(`restore ${i + 1} of ${plan.restores}: to ${at.toISOString()}`);
        const startedAt = performance.now();
        const { code, output } = await run({ DATA_DIR: restored }, ['restore', folder, '--at', at.toISOString()]);
        if (code !== 0) {
          addFault(results, `restore to ${at.toISOString()}: ${output}`);
          continue;
        }
        const seconds = (performance.now() - startedAt) / 1000;
        await compare(restored, writes, at.getTime(), results);
        results.notes.push(`restored to ${at.toISOString()} in ${seconds.toFixed(1)} s`);
        results.rounds++;
        await rm(restored, { recursive: true });
      }
      if (plan.kills > 0) await killRestores(plan, random, folder, restored, writes, results, progress);
    } catch (error) {
      addFault(results, (error as Error).stack ?? String(error));
    } finally {
      await deployment.remove();
      for (const pid of await processesIn(home.path)) kill(pid);
      await home.remove();
    }
    return results;
  },
};

async function seedInteractions(deployment: Deployment, rows: number, progress: (text: string) => void): Promise<void> {
  progress(`writing ${rows} interactions`);
  await deployment.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, happened_at, recipient, created_at, updated_at)
     SELECT c.company_id, c.id, gen_random_uuid(), 'phone', repeat(md5(n::text), 12), now(), '', now(), now()
       FROM (SELECT company_id, id FROM cases LIMIT 1) c, generate_series(1, $1::int) n`,
    [rows],
  );
  await deployment.sql('CHECKPOINT');
}

/**
 * Compares the writes per second while a scheduled backup copies with those while it is stopped, in turn: the rate of the
 * disk and of checkpoints changes from minute to minute.
 */
async function measurePace(
  { paceRounds }: Plan,
  load: TimedLoad,
  environment: Settings,
  folder: string,
  results: Results,
  progress: (text: string) => void,
): Promise<void> {
  if (paceRounds === 0) return;
  progress('waiting for the checkpoint of a scheduled backup');
  const backup = start(environment, ['backup', 'create', folder, '--gently']);
  const isRunning = () => backup.child.exitCode === null;
  while (isRunning() && !(await isCopying(folder))) await pause(100);
  const ratios: number[] = [];
  for (let round = 1; round <= paceRounds; round++) {
    progress(`pace, round ${round} of ${paceRounds}`);
    const rates: number[] = [];
    for (const signal of ['SIGSTOP', 'SIGCONT', 'SIGCONT', 'SIGSTOP'] as const) {
      backup.child.kill(signal);
      await pause(SETTLE_MS);
      rates.push(await load.rateDuring(() => pause(PACE_MS)));
    }
    if (!isRunning()) break;
    const [before, first, second, after] = rates as [number, number, number, number];
    ratios.push((first + second) / (before + after));
  }
  // Under this load its end is many minutes away. The next backup must remove what is left of it.
  backup.child.kill('SIGKILL');
  const { output } = await backup.ended;
  if (ratios.length === 0) throw new Error(`The backup ended before the pace was measured: ${output}`);
  const pace = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] as number;
  const list = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  results.notes.push(`pace of the writers during a backup: ${pace.toFixed(2)} (${list})`);
  if (pace < MIN_PACE) results.timingFaults.push(`the pace during a backup was ${pace.toFixed(2)}, below ${MIN_PACE}`);
}

async function isCopying(folder: string): Promise<boolean> {
  const drafts = (await readdir(folder)).filter((name) => name.startsWith(draftName('')));
  const contents = await Promise.all(drafts.map((draft) => readdir(join(folder, draft))));
  return contents.flat().includes(ARCHIVE);
}

/** After each kill the folder must have complete backups only, and the next backup must remove what was left. */
async function killBackups(
  { kills }: Plan,
  random: () => number,
  environment: Settings,
  folder: string,
  results: Results,
  progress: (text: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  await expectSuccess(results, environment, ['backup', 'create', folder]);
  const duration = performance.now() - startedAt;
  let ended = 0;
  for (let i = 1; i <= kills; i++) {
    progress(`killed backup ${i} of ${kills}`);
    const { code } = await run(environment, ['backup', 'create', folder], random() * duration);
    if (code === 0) ended++;
    await expectSuccess(results, environment, ['backup', 'list', folder]);
  }
  await expectSuccess(results, environment, ['backup', 'create', folder]);
  const left = (await readdir(folder)).filter((name) => name.startsWith('.'));
  if (left.length > 0) addFault(results, `a backup left ${left.join(', ')}`);
  const names = (await readdir(folder)).filter((name) => /^\d/.test(name)).sort();
  await expectSuccess(results, environment, ['backup', 'verify', join(folder, names.at(-1) as string)]);
  results.notes.push(`${kills - ended} of ${kills} backups were killed before their end`);
}

/** After each kill the service must refuse the unfinished data, and the next restore must end right. */
async function killRestores(
  { kills }: Plan,
  random: () => number,
  folder: string,
  dataDir: string,
  writes: readonly TimedWrite[],
  results: Results,
  progress: (text: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  await expectSuccess(results, { DATA_DIR: dataDir }, ['restore', folder]);
  const duration = performance.now() - startedAt;
  await compare(dataDir, writes, Number.POSITIVE_INFINITY, results);
  await rm(dataDir, { recursive: true });
  let ended = 0;
  for (let i = 1; i <= kills; i++) {
    progress(`killed restore ${i} of ${kills}`);
    const { code } = await run({ DATA_DIR: dataDir }, ['restore', folder], random() * duration);
    const content = await readdir(dataDir).catch((): string[] => []);
    if (code === 0 || content.includes('postgres')) {
      ended++;
      await compare(dataDir, writes, Number.POSITIVE_INFINITY, results);
      await rm(dataDir, { recursive: true, maxRetries: 20 });
    } else if (content.includes('postgres.restoring')) {
      const start = await run({ DATA_DIR: dataDir }, ['doctor']);
      if (!/interrupted|no database/.test(start.output)) addFault(results, `after a killed restore: ${start.output}`);
    }
  }
  if (!(await readdir(dataDir).catch((): string[] => [])).includes('postgres')) {
    await expectSuccess(results, { DATA_DIR: dataDir }, ['restore', folder]);
  }
  await compare(dataDir, writes, Number.POSITIVE_INFINITY, results);
  const left = (await readdir(dataDir)).filter((name) => name.includes('restoring'));
  if (left.length > 0) addFault(results, `a restore left ${left.join(', ')}`);
  if ((await processesIn(dataDir)).length > 0) addFault(results, 'a restore left a database running');
  results.notes.push(`${kills - ended} of ${kills} restores were killed before their end`);
}

async function expectSuccess(results: Results, environment: Settings, args: string[]): Promise<void> {
  const { code, output } = await run(environment, args);
  if (code !== 0) addFault(results, `${args.join(' ')}: ${output}`);
}

/** Runs a command and kills it after the time, if it still runs. */
async function run(settings: Settings, args: string[], killAfterMs?: number): Promise<Ended> {
  const { child, ended } = start(settings, args);
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const result = await ended;
  clearTimeout(timer);
  return result;
}

function start(settings: Settings, args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const { DATABASE_URL: _url, BACKUP_DIR: _folder, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...inherited, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { child, ended: ended.then(([out, err, [code]]) => ({ code, output: out + err })) };
}

/** Starts a restored database and compares it with the writes. */
async function compare(dataDir: string, writes: readonly TimedWrite[], at: number, results: Results): Promise<void> {
  await readFile(join(dataDir, 'postgres', 'case-records-restored.json')).catch(() =>
    addFault(results, 'the restored data carry no mark'),
  );
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  try {
    const client = new pg.Client(server.connection);
    await client.connect();
    await compareWrites(client, writes, at, results);
    await client.end();
  } finally {
    await server.stop();
  }
}
