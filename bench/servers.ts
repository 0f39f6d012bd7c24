import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerConnection } from '../src/postgres/bundled-postgres.ts';
import { urlOf } from '../test/harness/service.ts';
import type { Dataset } from './dataset.ts';
import type { DriveResult, DriveTask } from './load/driver.ts';
import type { SeededCompany } from './seed.ts';

/** Starts the servers and the load generator as separate processes, so that the CPU time of each can be measured. */

export type ServerName = 'service' | 'baseline' | 'best-baseline' | 'nestjs';
export type Server = { name: ServerName; pid: number; port: number; stop(): Promise<void> };

const FOLDER = new URL('..', import.meta.url).pathname;
const BASELINE_PATH = new URL('./baseline/server.ts', import.meta.url);
/** Where `npm run bench:peers:install` builds it. */
const NESTJS_PATH = new URL('./peers/nestjs/dist/main.js', import.meta.url);
const LOAD_PATH = new URL('./load/process.ts', import.meta.url);
const READY_TIMEOUT_MS = 30_000;

export type ServiceOptions = {
  dataDir: string;
  flags?: string[];
  settings?: Record<string, string>;
  /** The folder of its revision; this one by default. */
  folder?: string | undefined;
};

/**
 * Starts the service like `npm start`, with logging to /dev/null and without a worker, because sending messages is not
 * part of a request.
 */
export async function startService(connection: ServerConnection, options: ServiceOptions): Promise<Server> {
  const { dataDir, flags = [], settings = {}, folder = FOLDER } = options;
  const port = await freePort();
  const args = ['--max-semi-space-size=8', ...flags, join(folder, 'src/main.ts'), 'serve'];
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
  await waitUntilReady(child, `http://127.0.0.1:${port}/readyz`);
  return {
    name: 'service',
    pid: requirePid(child),
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function startBaseline(
  connection: ServerConnection,
  companies: SeededCompany[],
  { batching }: { batching: boolean },
): Promise<Server> {
  const name = batching ? 'best-baseline' : 'baseline';
  return startChild(name, BASELINE_PATH, { connection, tokens: companyIdsByToken(companies), batching });
}

/** Returns undefined if the peer is not installed: see `npm run bench:peers:install`. */
export async function startNestjs(
  connection: ServerConnection,
  companies: SeededCompany[],
): Promise<Server | undefined> {
  if (!existsSync(NESTJS_PATH)) return undefined;
  return startChild('nestjs', NESTJS_PATH, { connection, tokens: companyIdsByToken(companies) });
}

const companyIdsByToken = (companies: SeededCompany[]) =>
  Object.fromEntries(companies.map(({ id, token }) => [token, id]));

/** Starts a server that reports its port, and that ends when it is disconnected. */
async function startChild(name: ServerName, path: URL, options: unknown): Promise<Server> {
  const child = fork(path, [JSON.stringify(options)]);
  const { port } = await nextMessage<{ port: number }>(child);
  return { name, pid: requirePid(child), port, stop: () => stopByDisconnect(child) };
}

export type LoadGenerator = {
  pid: number | undefined;
  /** Does what must be done before the task and is not measured. */
  prepare(task: DriveTask): Promise<void>;
  drive(task: DriveTask): Promise<DriveResult>;
  stop(): Promise<void>;
};

export async function startLoadGenerator(dataset: Dataset): Promise<LoadGenerator> {
  const child = fork(LOAD_PATH);
  child.send({ dataset });
  await nextMessage(child);
  const ask = async (message: { task: DriveTask } | { prepare: DriveTask }): Promise<DriveResult> => {
    child.send(message);
    const { result, failed } = await nextMessage<{ result: DriveResult; failed?: string }>(child);
    if (failed) throw new Error(`The load generator failed: ${failed}`);
    return result;
  };
  return {
    pid: requirePid(child),
    prepare: async (prepare) => void (await ask({ prepare })),
    drive: (task) => ask({ task }),
    stop: () => stopByDisconnect(child),
  };
}

/** Waits for the next message of the process. Throws if the process ends first. */
async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const done = new AbortController();
  const { signal } = done;
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`A process of the benchmark ended with exit code ${code}.`);
    });
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message as T;
  } finally {
    done.abort();
  }
}

async function stopByDisconnect(child: ChildProcess): Promise<void> {
  if (!child.connected) return; // Ctrl-C in a terminal has already stopped all processes
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

const requirePid = ({ pid }: ChildProcess): number => {
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

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await pause(50)) {
    if (child.exitCode !== null) throw new Error(`The service ended with exit code ${child.exitCode}.`);
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
  }
  child.kill('SIGTERM');
  throw new Error('The service was not ready in time.');
}
