import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../test/harness/free-port.ts';
import { temporaryDirectory } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosTest, emptyResults, type Results, SkippedError, waitUntil } from './chaos-test.ts';
import { findPostgresPrograms } from './cluster/node.ts';
import { Deployment } from './deployment.ts';
import type { HttpClient } from './http-client.ts';
import { compareWrites, TimedLoad } from './timed-load.ts';

/**
 * The section of docs/operations.md about pgBackRest, step by step: a server of the system's own PostgreSQL, backups
 * under load, a restore to a second, and the start of the service with what was due before it held.
 */

const WRITERS = 8;
const THINK_MS = 20;
const BOOKINGS = 5;
const READY_TIMEOUT_S = 60;
const SHORT_LOAD_MS = 3_000;
const LOAD_MS = 10_000;

export const ownServer: ChaosTest = {
  name: 'own-server',
  description: 'a server of its own, backed up under load and restored to random seconds by pgBackRest',
  async run({ seed, short, progress }): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const restores = Number(process.env.RESTORES ?? (short ? 1 : 5));
    const server = await OwnServer.create();
    const settings = { DATABASE_URL: server.serviceUrl, DATABASE_OWNER_URL: server.ownerUrl, WORKER_CONCURRENCY: '0' };
    const deployment = await Deployment.open(settings);
    try {
      await runCommand(deployment, 'migrate');
      await runCommand(deployment, 'demo');
      await deployment.start();
      const client = await deployment.openClient();
      const demo = await deployment.readDemo();
      const load = new TimedLoad(client, demo, results, THINK_MS);
      load.start(WRITERS);
      progress('a full and a differential backup under load');
      const began = performance.now();
      const rate = await load.rateDuring(async () => {
        await server.pgbackrest('--type=full', 'backup');
        await server.pgbackrest('--type=diff', 'backup');
      });
      const seconds = (performance.now() - began) / 1000;
      const from = Date.now();
      for (let i = 0; i < BOOKINGS; i++) await book(client, demo);
      const bookedAt = Date.now();
      await pause(short ? SHORT_LOAD_MS : LOAD_MS);
      const until = Date.now() - 1_000;
      const writes = await load.stop();
      await deployment.stop();
      results.notes.push(
        `full and differential backup in ${seconds.toFixed(1)} s beside ${Math.round(rate)} writes per second, PostgreSQL ${server.version}`,
      );
      for (let i = 0; i < restores; i++) {
        const at = new Date(Math.ceil((from + random() * (until - from)) / 1_000) * 1_000);
        progress(`restore ${i + 1} of ${restores}: to ${at.toISOString()}`);
        await server.restore(at);
        const admin = await server.connect();
        await compareWrites(admin, writes, at.getTime(), results);
        const due = (await admin.query(`SELECT count(*)::int AS n FROM messages WHERE state = 'scheduled'`)).rows[0].n;
        await admin.end();
        if (at.getTime() > bookedAt && due < BOOKINGS) addFault(results, `only ${due} messages are due`);
        await startHeld(deployment, due, results);
        results.rounds++;
      }
      await releaseHeld(deployment, results);
      progress('a backup of the restored server');
      await server.pgbackrest('--type=full', 'backup');
      client.close();
    } catch (error) {
      addFault(results, (error as Error).stack ?? String(error));
    } finally {
      await deployment.remove();
      await server.remove();
    }
    return results;
  },
};

/** Holds what was due, starts the service with its worker, and checks that nothing has gone out. */
async function startHeld(deployment: Deployment, due: number, results: Results): Promise<void> {
  const held = await runCommand(deployment, 'held', 'hold');
  if (!held.includes(`${due} messages`)) addFault(results, `${due} messages were due: ${held}`);
  const before = await sentFiles(deployment);
  await deployment.start({ WORKER_CONCURRENCY: '4' });
  const list = await runCommand(deployment, 'held', 'list', '--kind', 'messages');
  if (!list.includes(`held: ${due} messages`)) addFault(results, `held list does not show ${due} messages: ${list}`);
  const [client, demo] = [await deployment.openClient(), await deployment.readDemo()];
  await book(client, demo);
  client.close();
  await waitUntil('a new message goes out', READY_TIMEOUT_S, async () => (await sentFiles(deployment)) > before);
  if ((await sentFiles(deployment)) > before + 1) addFault(results, 'a held message has gone out');
  await deployment.stop();
}

async function releaseHeld(deployment: Deployment, results: Results): Promise<void> {
  await deployment.start();
  await runCommand(deployment, 'held', 'release');
  const open = `SELECT 1 FROM messages WHERE state = 'scheduled'`;
  await waitUntil('released messages go out', READY_TIMEOUT_S, async () => (await deployment.sql(open)).length === 0);
  if ((await deployment.stop()) !== 0) addFault(results, 'the service did not stop cleanly');
}

const sentFiles = async (deployment: Deployment): Promise<number> =>
  (await readdir(join(deployment.dataDir, 'outbox')).catch(() => [])).filter((name) => name.endsWith('.eml')).length;

async function runCommand(deployment: Deployment, ...command: string[]): Promise<string> {
  const { output, ended } = deployment.run(...command);
  if ((await ended()) !== 0) throw new Error(`${command.join(' ')}: ${output.join('\n')}`);
  return output.join('\n');
}

async function book(client: HttpClient, demo: Awaited<ReturnType<Deployment['readDemo']>>): Promise<void> {
  const body = {
    adviser_email: demo.advisers[1]?.email,
    start_time: '2090-01-02 10:00:00',
    end_time: '2090-01-02 11:00:00',
    email_recipient: demo.customers[0]?.email,
    email_confirmation: true,
  };
  const answer = await client.send({ method: 'POST', path: `/cases/${demo.case_id}/appointments`, body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
}

/** PostgreSQL and pgBackRest of the system, as its user `postgres`, in a folder of their own. */
class OwnServer {
  readonly #programs: string;
  readonly #home: { path: string; remove(): Promise<void> };
  readonly #port: number;
  #server: ChildProcess | undefined;

  static async create(): Promise<OwnServer> {
    const programs = findPostgresPrograms();
    try {
      execFileSync('pgbackrest', ['version'], { stdio: 'pipe' });
      if (!programs || process.getuid?.() !== 0) throw new Error();
    } catch {
      throw new SkippedError('needs root, PostgreSQL and pgBackRest of the system (chaos/packages.sh)');
    }
    const server = new OwnServer(programs, await temporaryDirectory(), await freePort());
    await server.#create().catch(async (error) => {
      await server.remove();
      throw error;
    });
    return server;
  }

  private constructor(programs: string, home: { path: string; remove(): Promise<void> }, port: number) {
    this.#programs = programs;
    this.#home = home;
    this.#port = port;
  }

  get ownerUrl(): string {
    return `postgresql://records_owner@127.0.0.1:${this.#port}/records`;
  }

  get serviceUrl(): string {
    return `postgresql://records_service@127.0.0.1:${this.#port}/records`;
  }

  get version(): string {
    return /\d+\.\d+/.exec(this.#postgres('postgres', '--version'))?.[0] as string;
  }

  get #data(): string {
    return join(this.#home.path, 'data');
  }

  get #config(): string {
    return join(this.#home.path, 'pgbackrest.conf');
  }

  async #create(): Promise<void> {
    const { path } = this.#home;
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres']).toString()));
    await chmod(path, 0o755);
    for (const name of ['data', 'repository', 'log', 'lock']) {
      await mkdir(join(path, name), { mode: 0o700 });
      await chown(join(path, name), uid as number, gid as number);
    }
    await writeFile(
      this.#config,
      `[global]
repo1-path=${path}/repository
repo1-retention-full=2
start-fast=y
log-path=${path}/log
lock-path=${path}/lock
[records]
pg1-path=${this.#data}
pg1-port=${this.#port}
pg1-socket-path=${path}/lock
`,
    );
    this.#postgres('initdb', '--pgdata', this.#data, '--data-checksums', '--encoding=UTF8', '--auth=trust');
    await writeFile(
      join(this.#data, 'postgresql.auto.conf'),
      `port = ${this.#port}
listen_addresses = '127.0.0.1'
unix_socket_directories = '${path}/lock'
archive_mode = on
archive_command = 'pgbackrest --config=${this.#config} --stanza=records archive-push %p'
archive_timeout = 60
`,
    );
    await this.#start();
    await this.pgbackrest('stanza-create');
    await this.pgbackrest('check');
    const admin = await this.#connectTo('postgres');
    for (const text of [
      'CREATE ROLE records_owner LOGIN',
      'CREATE ROLE records_service LOGIN',
      'CREATE DATABASE records OWNER records_owner',
    ])
      await admin.query(text);
    await admin.end();
  }

  /** Restores the state of that time in place of the present one. */
  async restore(at: Date): Promise<void> {
    await this.#stop();
    const target = `--target=${at.toISOString().replace('T', ' ').replace('Z', '+00')}`;
    await this.pgbackrest(
      '--delta',
      '--type=time',
      target,
      '--target-action=promote',
      '--target-timeline=1',
      'restore',
    );
    await this.#start();
  }

  async pgbackrest(...args: string[]): Promise<void> {
    const words = ['pgbackrest', `--config=${this.#config}`, '--stanza=records', '--log-level-console=warn', ...args];
    await promisify(execFile)('setpriv', [...AS_POSTGRES, ...words], { cwd: '/' });
  }

  #postgres(program: string, ...args: string[]): string {
    return execFileSync('setpriv', [...AS_POSTGRES, join(this.#programs, program), ...args], {
      stdio: 'pipe',
      cwd: '/',
    }).toString();
  }

  /** Returns when the server has recovered and accepts writes. */
  async #start(): Promise<void> {
    const words = [...AS_POSTGRES, '--pdeathsig=KILL', join(this.#programs, 'postgres'), '-D', this.#data];
    const server = spawn('setpriv', words, { stdio: 'ignore', cwd: '/' });
    this.#server = server;
    await waitUntil('the server accepts writes', READY_TIMEOUT_S, async () => {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}.`);
      const client = await this.#connectTo('postgres').catch(() => undefined);
      const ready = await client?.query('SELECT NOT pg_is_in_recovery() AS ready').catch(() => undefined);
      await client?.end();
      return ready?.rows[0]?.ready === true;
    });
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null) return;
    server.kill('SIGINT');
    await once(server, 'exit');
  }

  connect(): Promise<pg.Client> {
    return this.#connectTo('records');
  }

  async #connectTo(database: string): Promise<pg.Client> {
    const client = new pg.Client({ host: '127.0.0.1', port: this.#port, user: 'postgres', database });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async remove(): Promise<void> {
    await this.#stop();
    await this.#home.remove();
  }
}

const AS_POSTGRES = ['--reuid=postgres', '--regid=postgres', '--init-groups'];
