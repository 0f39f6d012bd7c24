import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerConnection } from '../src/postgres/bundled-postgres.ts';
import { urlOf } from '../test/harness/service.ts';
import type { FilledCompany } from './fill.ts';
import type { Driven, Task } from './load/drive.ts';
import type { World } from './world.ts';

/** The processes of a benchmark. Each is a process of its own, so that its use of the CPU can be told apart. */

export type ServerName = 'service' | 'floor';
export type Server = { name: ServerName; pid: number; port: number; stop(): Promise<void> };

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;
const FLOOR = new URL('./baseline/server.ts', import.meta.url);
const LOAD = new URL('./load/process.ts', import.meta.url);
const PATIENCE_MS = 30_000;

export type ServiceOptions = { dataDir: string; flags?: string[]; settings?: Record<string, string> };

/**
 * As `npm start` runs it, with its log and all its settings, but for the sending of messages: what leaves the outbox
 * is no part of a request. The log goes where it is not read.
 */
export async function startService(connection: ServerConnection, options: ServiceOptions): Promise<Server> {
  const { dataDir, flags = [], settings = {} } = options;
  const port = await freePort();
  const args = ['--max-semi-space-size=8', ...flags, MAIN, 'serve'];
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: urlOf(connection),
      DATA_DIR: dataDir,
      PORT: String(port),
      WORKER_CONCURRENCY: '0',
      ...settings,
    },
    stdio: ['ignore', openSync('/dev/null', 'w'), 'inherit'],
  });
  const ended = once(child, 'exit');
  await ready(child, `http://127.0.0.1:${port}/readyz`);
  return {
    name: 'service',
    pid: pidOf(child),
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function startFloor(
  connection: ServerConnection,
  companies: FilledCompany[],
  gathers = false,
): Promise<Server> {
  const tokens = Object.fromEntries(companies.map(({ id, token }) => [token, id]));
  const child = fork(FLOOR, [JSON.stringify({ connection, tokens, gathers })]);
  const { port } = await told<{ port: number }>(child);
  return { name: 'floor', pid: pidOf(child), port, stop: () => disconnected(child) };
}

export type Load = { drive(task: Task): Promise<Driven>; stop(): Promise<void> };

export async function startLoad(world: World): Promise<Load> {
  const child = fork(LOAD);
  child.send({ world });
  await told(child);
  return {
    drive: async (task) => {
      child.send({ task });
      const { driven, failed } = await told<{ driven: Driven; failed?: string }>(child);
      if (failed) throw new Error(`The load on ${task.operation} broke off: ${failed}`);
      return driven;
    },
    stop: () => disconnected(child),
  };
}

/** What the process says next. */
async function told<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`A process of the benchmark ended with ${code}.`);
    });
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message as T;
  } finally {
    over.abort();
  }
}

async function disconnected(child: ChildProcess): Promise<void> {
  if (!child.connected) return; // an interrupt from the terminal reaches all of them
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

const pidOf = ({ pid }: ChildProcess): number => {
  if (pid === undefined) throw new Error('A process of the benchmark did not start.');
  return pid;
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(50)) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}.`);
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
  }
  child.kill('SIGTERM');
  throw new Error('The service was not ready in time.');
}
