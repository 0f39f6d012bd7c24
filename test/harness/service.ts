import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until, within } from './until.ts';

/** The service as its own process, the way an operator runs it. */

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

/** Longer than a first start that fetches a Node, or that recovers a database, on a loaded machine. */
export const MAX_START_MS = 120_000;
/** The service stops within 75 seconds. */
const MAX_STOP_MS = 90_000;
/** Longer than a command or a run of tests needs on a loaded machine, and shorter than a test may take. */
const MAX_RUN_MS = 240_000;

export type Settings = Record<string, string>;

export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'case-records-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export type Launched = {
  child: ChildProcess;
  output: string[];
  /** False when the process has ended and its output is complete. */
  isRunning(): boolean;
  /** Returns the exit code when the process has ended. Kills it and fails if that takes too long. */
  ended(maxMs?: number): Promise<number | null>;
};

export type Running = Launched & {
  url: string;
  /** Sends the signal and returns the exit code when the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export function launch(settings: Settings, ...command: string[]): Launched {
  const { DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, PORT: '0', LOG_LEVEL: 'warn', ...settings };
  const words = command.length > 0 ? command : ['serve'];
  const child = spawn(process.execPath, ['--max-semi-space-size=8', MAIN, ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watch(child);
}

/** Collects what the process prints. */
export function watch(child: ChildProcess): Launched {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface(stream).on('line', (line) => output.push(line));
  let isRunning = true;
  const closed = once(child, 'close').then(([code]) => {
    isRunning = false;
    return code as number | null;
  });
  const ended = (maxMs = MAX_RUN_MS) =>
    within(closed, () => `the end of the process:\n${output.join('\n')}`, maxMs).catch((error) => {
      child.kill('SIGKILL');
      throw error;
    });
  return { child, output, isRunning: () => isRunning, ended };
}

/** Waits for a line. Fails with the output if the process ends first, or if the line does not come. */
export function printed({ child, output, isRunning }: Launched, line: RegExp): Promise<RegExpExecArray> {
  const text = () => output.join('\n');
  const find = () => {
    const found = line.exec(text());
    if (!found && !isRunning()) throw new Error(`The process ended with ${child.exitCode}:\n${text()}`);
    return found;
  };
  return until(find, () => `${line} in the output:\n${text()}`, MAX_START_MS);
}

/** Starts the service and returns when it listens. */
export async function startProcess(settings: Settings): Promise<Running> {
  const launched = launch(settings);
  const [, url = ''] = await printed(launched, /listens on ([^\s"]+)/);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    launched.child.kill(signal);
    return launched.ended(MAX_STOP_MS);
  };
  return { ...launched, url, stop };
}

/** The process id of the bundled database from its pid file; undefined if it has stopped. */
export async function databaseProcess(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The URL of a server that listens on a Unix socket. */
export const urlOf = ({ host, user, database }: { host: string; user: string; database: string }): string =>
  `postgresql:///${database}?host=${encodeURIComponent(host)}&user=${user}`;

/** Sends a write whose body follows only after the service was told to stop. Returns the status of the answer. */
export async function writeWhileStopping(service: Running, path: string, token: string): Promise<number | undefined> {
  const body = JSON.stringify({ type: 'phone', notes: 'sent slowly' });
  const slow = request(service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  slow.flushHeaders();
  await within(once(slow, 'continue'), 'the service to ask for the body');
  const answered = within(once(slow, 'response'), 'the answer');
  service.child.kill('SIGTERM');
  // The service accepts no new connections.
  await until(
    async () =>
      !(await fetch(`${service.url}/healthz`).then(
        (response) => response.ok,
        () => false,
      )),
  );
  slow.end(body);
  const [response] = await answered;
  response.resume();
  return response.statusCode;
}
