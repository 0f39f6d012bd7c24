import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The service as its own process, the way an operator runs it. */

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

export type Running = {
  child: ChildProcess;
  url: string;
  output: string[];
  /** Sends the signal, and gives the exit code when the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

export type Settings = Record<string, string>;

export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'case-records-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export function launch(settings: Settings): { child: ChildProcess; output: string[]; ended: Promise<number | null> } {
  const { DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, PORT: '0', LOG_LEVEL: 'warn', ...settings };
  const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => output.push(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, output, ended };
}

/** Waits until it listens; fails with what it printed when it ends before that. */
export async function startProcess(settings: Settings): Promise<Running> {
  const { child, output, ended } = launch(settings);
  const url = await new Promise<string>((resolve, reject) => {
    const seen = () => {
      const found = /listens on (\S+)/.exec(output.join('\n'));
      if (found?.[1]) resolve(found[1]);
    };
    child.stdout?.on('data', () => setImmediate(seen));
    ended.then((code) => reject(new Error(`The service ended with ${code}:\n${output.join('\n')}`)));
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { child, url, output, stop };
}

/** The process of the bundled database, as its own file names it; undefined when it has stopped. */
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

/** The address of a server that listens on a Unix socket. */
export const urlOf = ({ host, user, database }: { host: string; user: string; database: string }): string =>
  `postgresql:///${database}?host=${encodeURIComponent(host)}&user=${user}`;
