import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export type Pgbouncer = { program: string; version: string; sharesPrepared: boolean };

/** Where test/slow/newer-pgbouncer.sh puts one. */
const NEWER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'case-records-tests/pgbouncer/pgbouncer');

/** Returns those that are installed. Since 1.21 they keep prepared statements while connections share sessions. */
export async function findPgbouncers(): Promise<Pgbouncer[]> {
  const found: Pgbouncer[] = [];
  for (const program of ['pgbouncer', '/usr/sbin/pgbouncer', NEWER]) {
    const output = await promisify(execFile)(program, ['--version']).catch(() => undefined);
    const [, version, minor] = /^PgBouncer (1\.(\d+)\S*)/.exec(output?.stdout ?? '') ?? [];
    if (version) found.push({ program, version, sharesPrepared: Number(minor) >= 21 });
  }
  return found;
}

type Server = { host: string; user: string; database: string };
type Options = { poolMode: 'session' | 'transaction'; poolSize?: number; maxPrepared?: number; port?: number };

/** Runs PgBouncer in front of a server, by default on a free port. */
export async function startPgbouncer(
  { program, sharesPrepared }: Pgbouncer,
  { host, user, database }: Server,
  { poolMode, poolSize = 100, maxPrepared = 1_000, ...options }: Options,
): Promise<{ url: string; port: number; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'case-records-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = options.port ?? (await freePort());
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
    ${database} = host=${host} user=${user}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = ${poolMode}
    default_pool_size = ${poolSize}
    max_client_conn = 500
    server_login_retry = 1
    ${sharesPrepared ? `max_prepared_statements = ${maxPrepared}` : ''}
    `,
  );
  // It refuses to run as root. The server has created its user `postgres`.
  const args = process.getuid?.() === 0 ? ['-u', 'postgres', file] : [file];
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) => Promise.reject(new Error(`PgBouncer ended with ${code}.`)));
  failed.catch(() => {});
  await Promise.race([until(() => accepts(port), 'PgBouncer to listen'), failed]);
  return {
    url: `postgresql://${user}@127.0.0.1:${port}/${database}`,
    port,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
