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

const STATUS_INTERVAL_MS = 10;
const REPORT_INTERVAL_MS = 10_000;
const ALIVE_CHECK_INTERVAL_MS = 200;
const SHUTDOWN_TIMEOUT_MS = 30_000;

/** The main process of a PostgreSQL server. `ended` resolves with its exit code or signal. */
export type Postmaster = { pid: number; isAlive(): Promise<boolean>; ended: Promise<string> };

/** The content of postmaster.pid, which a crashed server may have left behind. */
type PostmasterFile = { pid: number; status: string };

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
  const server = runProgram('postgres', [...options, '-c', processMarker(directory)], directory, installation);
  await once(server, 'spawn');
  server.unref();
  const ended = once(server, 'exit').then(([code, signal]) => (signal ? `signal ${signal}` : `exit code ${code}`));
  const isAlive = async () => server.exitCode === null && server.signalCode === null;
  return { pid: server.pid as number, isAlive, ended };
}

/** Returns a handle for a server that an earlier service has started. */
export function adoptPostmaster(pid: number, directory: string): Postmaster {
  const isAlive = () => isPostmasterOf(pid, directory);
  const ended = new Promise<string>((resolve) => {
    const timer = setInterval(async () => {
      if (await isAlive()) return;
      clearInterval(timer);
      resolve('exit code unknown');
    }, ALIVE_CHECK_INTERVAL_MS).unref();
  });
  return { pid, isAlive, ended };
}

/** Pids are reused, so the process is recognised by its command line. */
export async function isPostmasterOf(pid: number, directory: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(processMarker(directory));
    }
    return (await run('ps', ['-ww', '-o', 'args=', '-p', String(pid)])).stdout
      .trimEnd()
      .endsWith(processMarker(directory));
  } catch {
    return false;
  }
}

/** An argument without effect that identifies the server of a directory. It must be the last argument. */
function processMarker(directory: string): string {
  return `case_records.data_directory=${directory}`;
}

/**
 * PostgreSQL refuses to start if another program has the pid of the server that crashed here. It ignores a
 * postmaster.pid with the pid of its parent, so that pid is written into the file. The file is kept, because PostgreSQL
 * uses it to find surviving processes of the crashed server.
 */
export async function disclaimPostmasterFile(directory: string): Promise<void> {
  const path = join(directory, 'postmaster.pid');
  await rm(join(directory, SOCKET_LOCK_NAME), { force: true });
  if (!(await readPostmasterFile(directory))) return;
  await writeFile(path, (await readFile(path, 'utf8')).replace(/^.*/, String(process.pid)));
}

/** Returns false if the server ended before it was ready. There is no timeout: recovery after a crash can be long. */
export async function waitUntilReady(
  { pid, isAlive }: Postmaster,
  directory: string,
  log: (line: string) => void,
): Promise<boolean> {
  let reportAt = performance.now() + REPORT_INTERVAL_MS;
  while (await isAlive()) {
    const file = await readPostmasterFile(directory);
    if (file?.pid === pid && file.status === 'ready') return true;
    if (performance.now() > reportAt) {
      log(`Waiting for PostgreSQL (pid ${pid}), it is ${file?.status || 'starting'}`);
      reportAt += REPORT_INTERVAL_MS;
    }
    await delay(STATUS_INTERVAL_MS);
  }
  return false;
}

/** Requests a fast shutdown, then an immediate one, after which the next start needs a recovery. */
export async function stopPostmaster({ pid, isAlive, ended }: Postmaster): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT']) {
    if (!(await isAlive())) return;
    process.kill(pid, signal);
    const timeout = new AbortController();
    const late = delay(SHUTDOWN_TIMEOUT_MS, 'late', { signal: timeout.signal }).catch(() => 'late');
    const outcome = await Promise.race([ended, late]);
    timeout.abort();
    if (outcome !== 'late') return;
  }
  throw new BundledPostgresError(`PostgreSQL (pid ${pid}) does not stop. End the process yourself.`);
}
