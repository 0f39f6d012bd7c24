import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kill, processesIn } from '../deployment.ts';
import { ETCD, type Host, SUBNET } from './network.ts';

/** A PostgreSQL server under Patroni in its own network namespace. */

export const TTL_S = 10;
const REST_PORT = 8008;
const REQUEST_TIMEOUT_MS = 2_000;
// The folder of Debian, with one subfolder per version; the programs are not in the path.
const POSTGRESQL_FOLDER = '/usr/lib/postgresql';

export class Node {
  readonly host: Host;
  readonly dataDir: string;
  readonly #home: string;
  #patroni: ChildProcess | undefined;

  constructor(host: Host, home: string) {
    this.host = host;
    this.#home = join(home, host.name);
    this.dataDir = join(this.#home, 'data');
  }

  get name(): string {
    return this.host.name;
  }

  get proxyLine(): string {
    return `server ${this.name} ${this.host.address}:5432 check port ${REST_PORT}`;
  }

  async create(synchronous: boolean): Promise<void> {
    await mkdir(this.#home);
    await chown(this.#home, userId('-u'), userId('-g'));
    // Patroni reads YAML, and JSON is valid YAML.
    await writeFile(this.#config, JSON.stringify(this.#settings(synchronous)));
  }

  start(): void {
    const log = openSync(join(this.#home, 'patroni.log'), 'a');
    const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=KILL'];
    const command = ['netns', 'exec', this.host.namespace, ...asPostgres, 'patroni', this.#config];
    this.#patroni = spawn('ip', command, { stdio: ['ignore', log, log], cwd: '/' });
    closeSync(log);
  }

  /** Sends the signal to Patroni and to all processes of PostgreSQL. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const pid = this.#patroni?.pid;
    if (pid !== undefined) kill(pid, signal);
    await this.signalDatabase(signal);
  }

  async signalDatabase(signal: NodeJS.Signals): Promise<void> {
    for (const pid of await processesIn(this.dataDir)) kill(pid, signal);
  }

  async remove(): Promise<void> {
    const patroni = this.#patroni;
    await this.signal('SIGKILL');
    if (patroni && patroni.exitCode === null && patroni.signalCode === null) await once(patroni, 'exit');
    await this.signalDatabase('SIGKILL');
  }

  /** Sends a request to the REST API of Patroni. Returns undefined if there is no response. */
  async requestPatroni(path: string, body?: unknown): Promise<Response | undefined> {
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const url = `http://${this.host.address}:${REST_PORT}${path}`;
    // A switchover responds when it is complete.
    const signal = AbortSignal.timeout(body === undefined ? REQUEST_TIMEOUT_MS : REQUEST_TIMEOUT_MS * 20);
    return fetch(url, { ...options, signal }).catch(() => undefined);
  }

  get #config(): string {
    return join(this.#home, 'patroni.json');
  }

  #settings(synchronous: boolean): unknown {
    const { name, address } = this.host;
    return {
      scope: 'records',
      name,
      restapi: { listen: `${address}:${REST_PORT}`, connect_address: `${address}:${REST_PORT}` },
      // Uses the v2 API: with v3, Patroni 3.0 trusts stale keys after it has been frozen (its pull request 2783).
      etcd: { host: `${ETCD}:2379` },
      bootstrap: {
        dcs: {
          ttl: TTL_S,
          loop_wait: 2,
          retry_timeout: 3,
          synchronous_mode: synchronous,
          // Without a standby, writes wait instead of being acknowledged by one server only.
          synchronous_mode_strict: synchronous,
          postgresql: { use_pg_rewind: true, use_slots: true, parameters: { max_connections: 200 } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `${address}:5432`,
        connect_address: `${address}:5432`,
        data_dir: this.dataDir,
        bin_dir: findPostgresPrograms(),
        pgpass: join(this.#home, 'pgpass'),
        authentication: {
          superuser: { username: 'postgres', password: 'postgres' },
          replication: { username: 'replicator', password: 'replicator' },
        },
        pg_hba: ['local all all trust', `host all all ${SUBNET} trust`, `host replication all ${SUBNET} trust`],
        parameters: { unix_socket_directories: this.#home },
      },
    };
  }
}

const userId = (which: '-u' | '-g'): number => Number(execFileSync('id', [which, 'postgres']).toString());

/** Returns the folder of the newest PostgreSQL; undefined if none is installed. */
export function findPostgresPrograms(): string | undefined {
  try {
    const newest = Math.max(...readdirSync(POSTGRESQL_FOLDER).map(Number));
    return join(POSTGRESQL_FOLDER, String(newest), 'bin');
  } catch {
    return undefined;
  }
}
