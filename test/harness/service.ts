import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from './until.ts';

/** The service as its own process, the way an operator runs it. */

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

export type Running = {
  child: ChildProcess;
  url: string;
  output: string[];
  /** Sends the signal and returns the exit code when the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export type Settings = Record<string, string>;

export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'case-records-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export function launch(
  settings: Settings,
  ...command: string[]
): { child: ChildProcess; output: string[]; ended: Promise<number | null> } {
  const { DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, PORT: '0', LOG_LEVEL: 'warn', ...settings };
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', MAIN, ...(command.length > 0 ? command : ['serve'])],
    {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => output.push(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, output, ended };
}

type Launched = ReturnType<typeof launch>;

/** Waits for a line. Fails with the output if the process ends first. */
export function printed({ child, output, ended }: Launched, line: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const seen = () => {
      const found = line.exec(output.join('\n'));
      if (found) resolve(found);
    };
    child.stdout?.on('data', () => setImmediate(seen));
    ended.then((code) => reject(new Error(`The process ended with ${code}:\n${output.join('\n')}`)));
  });
}

/** Starts the service and returns when it listens. */
export async function startProcess(settings: Settings): Promise<Running> {
  const launched = launch(settings);
  const { child, output, ended } = launched;
  const [, url = ''] = await printed(launched, /listens on ([^\s"]+)/);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { child, url, output, stop };
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
  await once(slow, 'continue');
  const answered = once(slow, 'response');
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
