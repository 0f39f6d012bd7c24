import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BundledPostgresError, errorCode } from './bundled-postgres-error.ts';
import { type Installation, runProgram } from './server-program.ts';
import { SOCKET_LOCK_NAME } from './socket-directory.ts';

const run = promisify(execFile);

const STATUS_INTERVAL = 10;
const REPORT_INTERVAL = 10_000;
const LIFE_INTERVAL = 200;
const SHUTDOWN_TIMEOUT = 30_000;

/** The main process of a PostgreSQL server; `ended` tells how it ended. */
export type Postmaster = { pid: number; isAlive(): Promise<boolean>; ended: Promise<string> };

/** What a server says about itself in its data directory, perhaps long ago. */
export type PostmasterFile = { pid: number; status: string };

export async function readPostmasterFile(directory: string): Promise<PostmasterFile | undefined> {
  try {
    const lines = (await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n');
    return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '' };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function spawnPostmaster(
  directory: string,
  installation: Installation,
  settings: Record<string, string>,
): Promise<Postmaster> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = runProgram('postgres', [...options, '-c', mark(directory)], directory, installation);
  await once(server, 'spawn');
  server.unref();
  const ended = once(server, 'exit').then(([code, signal]) => (signal ? `signal ${signal}` : `exit code ${code}`));
  const isAlive = async () => server.exitCode === null && server.signalCode === null;
  return { pid: server.pid as number, isAlive, ended };
}

/** A server that an earlier service has left behind. */
export function adoptPostmaster(pid: number, directory: string): Postmaster {
  const isAlive = () => isPostmasterOf(pid, directory);
  const ended = new Promise<string>((resolve) => {
    const timer = setInterval(async () => {
      if (await isAlive()) return;
      clearInterval(timer);
      resolve('exit code unknown');
    }, LIFE_INTERVAL).unref();
  });
  return { pid, isAlive, ended };
}

/** A pid alone is no proof, because the system gives it to other programs in time. */
export async function isPostmasterOf(pid: number, directory: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(mark(directory));
    }
    return (await run('ps', ['-ww', '-o', 'args=', '-p', String(pid)])).stdout.trimEnd().endsWith(mark(directory));
  } catch {
    return false;
  }
}

/** An argument without an effect, by which a server is recognised. It has to be the last one. */
function mark(directory: string): string {
  return `case_records.data_directory=${directory}`;
}

/**
 * Lets PostgreSQL start although another program has got the pid of the server that crashed here. It
 * ignores a file with the pid of its parent, but goes on to look for survivors of that server by it.
 */
export async function disclaimPostmasterFile(directory: string): Promise<void> {
  const path = join(directory, 'postmaster.pid');
  await rm(join(directory, SOCKET_LOCK_NAME), { force: true });
  if (!(await readPostmasterFile(directory))) return;
  await writeFile(path, (await readFile(path, 'utf8')).replace(/^.*/, String(process.pid)));
}

/** False when the server ended before it was ready. Recovery after a crash takes as long as it takes. */
export async function untilReady(
  { pid, isAlive }: Postmaster,
  directory: string,
  log: (line: string) => void,
): Promise<boolean> {
  let reportAt = performance.now() + REPORT_INTERVAL;
  while (await isAlive()) {
    const file = await readPostmasterFile(directory);
    if (file?.pid === pid && file.status === 'ready') return true;
    if (performance.now() > reportAt) {
      log(`Waiting for PostgreSQL (pid ${pid}), it is ${file?.status || 'starting'}`);
      reportAt += REPORT_INTERVAL;
    }
    await delay(STATUS_INTERVAL);
  }
  return false;
}

/** A fast shutdown, then an immediate one, which costs a recovery at the next start. */
export async function stopPostmaster({ pid, isAlive, ended }: Postmaster): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT']) {
    if (!(await isAlive())) return;
    process.kill(pid, signal);
    const patience = new AbortController();
    const late = delay(SHUTDOWN_TIMEOUT, 'late', { signal: patience.signal }).catch(() => 'late');
    const outcome = await Promise.race([ended, late]);
    patience.abort();
    if (outcome !== 'late') return;
  }
  throw new BundledPostgresError(`PostgreSQL (pid ${pid}) does not stop.`);
}
