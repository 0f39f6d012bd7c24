import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export const findPgbouncer = (): Promise<string | undefined> =>
  findProgram(['pgbouncer', '/usr/sbin/pgbouncer'], '--version');

type Server = { host: string; user: string; database: string };

/** Runs PgBouncer in front of a server, on a free port. */
export async function startPgbouncer(
  program: string,
  { host, user, database }: Server,
  poolMode: 'session' | 'transaction',
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'case-records-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
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
    default_pool_size = 100
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
