import { randomBytes } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { makeDataDirectory } from '../test/harness/data-directory.ts';
import { freePort } from '../test/harness/free-port.ts';
import {
  databaseProcess,
  launch,
  printed,
  type Running,
  type Settings,
  startProcess,
  temporaryDirectory,
} from '../test/harness/service.ts';
import { HttpClient } from './http-client.ts';

/** A deployment as an operator runs it: `serve` with the bundled database, and optionally a `worker` process. */

export type Demo = {
  token: string;
  case_id: string;
  customers: { id: string; email: string; phone: string }[];
  advisers: { email: string }[];
};

export class Deployment {
  readonly dataDir: string;
  readonly #home: { remove: () => Promise<void> };
  readonly #settings: Settings;
  service: Running | undefined;
  worker: ReturnType<typeof launch> | undefined;

  static async open(settings: Settings = {}, dataDir?: string): Promise<Deployment> {
    const home = await temporaryDirectory();
    if (dataDir === undefined && settings.DATABASE_URL === undefined) await makeDataDirectory('started', home.path);
    const defaults = {
      DATA_DIR: dataDir ?? home.path,
      PORT: String(await freePort()),
      SECRETS_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
      LOG_LEVEL: 'error',
    };
    return new Deployment(home, { ...defaults, ...settings });
  }

  /** Opens a second deployment on the same database. */
  async openSecond(settings: Settings): Promise<Deployment> {
    return Deployment.open({ ...this.#settings, PORT: String(await freePort()), ...settings }, this.dataDir);
  }

  private constructor(home: { remove: () => Promise<void> }, settings: Settings) {
    this.#home = home;
    this.#settings = settings;
    this.dataDir = settings.DATA_DIR as string;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#settings.PORT}`;
  }

  async start(settings: Settings = {}): Promise<void> {
    Object.assign(this.#settings, settings);
    this.service = await startProcess(this.#settings);
  }

  async startWorker(): Promise<void> {
    this.worker = launch({ ...this.#settings, WORKER_CONCURRENCY: '32' }, 'worker');
    await printed(this.worker, /worker is running/);
  }

  /** Runs a command with the settings of the deployment. */
  run(...command: string[]): ReturnType<typeof launch> {
    return launch(this.#settings, ...command);
  }

  async readDemo(): Promise<Demo> {
    return JSON.parse(await readFile(join(this.dataDir, 'demo.json'), 'utf8'));
  }

  async openClient(connections?: number): Promise<HttpClient> {
    return new HttpClient(this.url, (await this.readDemo()).token, connections);
  }

  async databasePid(): Promise<number> {
    const pid = await databaseProcess(this.dataDir);
    if (pid === undefined) throw new Error('The bundled database does not run.');
    return pid;
  }

  /** Runs a statement as the owner of the database. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async connect(): Promise<pg.Client> {
    const { DATABASE_URL: connectionString } = this.#settings;
    const bundled = { host: join(this.dataDir, 'postgres'), user: 'postgres', database: 'case_records' };
    const client = new pg.Client(connectionString === undefined ? bundled : { connectionString });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async stopWorker(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.worker?.child.kill(signal);
    await this.worker?.ended();
    this.worker = undefined;
  }

  async stop(): Promise<number | null | undefined> {
    await this.stopWorker();
    return this.service?.stop();
  }

  /** Kills all processes that are left, also after a failed test, and removes the data. */
  async remove(): Promise<void> {
    await this.stopWorker('SIGKILL');
    await this.service?.stop('SIGKILL');
    for (const pid of await processesIn(this.dataDir)) kill(pid);
    await this.#home.remove();
  }
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {}
}

async function findProcesses<T>(inspect: (pid: number) => Promise<T | undefined>): Promise<T[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => inspect(pid).catch(() => undefined)));
  return found.filter((match) => match !== undefined);
}

/** Finds the processes of a PostgreSQL server: their working directory is its data directory. */
export const processesIn = (dataDir: string): Promise<number[]> =>
  findProcesses(async (pid) => ((await readlink(`/proc/${pid}/cwd`)).startsWith(dataDir) ? pid : undefined));

export const childrenOf = (parent: number): Promise<number[]> =>
  findProcesses(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent ? pid : undefined;
  });

export const commandOf = (pid: number): Promise<string> =>
  readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (text) => text.replaceAll('\0', ' '),
    () => '',
  );

export async function readMemoryMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
