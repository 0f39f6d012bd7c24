import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.ts';

/** nginx with the sample configuration of deploy/nginx.conf, on a free port and without TLS. */

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 60_000;

/** Returns the program, or the reason why there is none. A package of Debian is unpacked, not installed. */
export async function findNginx(folder: string): Promise<{ program: string } | { missing: string }> {
  for (const program of ['nginx', '/usr/sbin/nginx']) {
    if (await works(program)) return { program };
  }
  try {
    await run('apt-get', ['download', 'nginx'], { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
    const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
    await run('dpkg', ['-x', file, '.'], { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
  } catch (error) {
    return { missing: `nginx is not installed, and its package could not be unpacked: ${(error as Error).message}` };
  }
  const program = join(folder, 'usr/sbin/nginx');
  return (await works(program)) ? { program } : { missing: 'nginx was unpacked, but does not run here' };
}

const works = (program: string) =>
  run(program, ['-v']).then(
    () => true,
    () => false,
  );

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Runs nginx with the sample. Returns a function that stops it. */
export async function startNginx(program: string, port: number, serviceUrl: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'case-records-nginx-'));
  const sample = await readFile(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
  const site = sample
    .replace('server 127.0.0.1:8080;', `server ${new URL(serviceUrl).host};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/^.*listen \[::\]:443 ssl;\n/m, '')
    .replaceAll(/^ *ssl_.*\n/gm, '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr warn;
    events {}
    http { access_log off; ${paths.join(' ')}
    ${site} }`,
  );
  const child = spawn(program, ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) => Promise.reject(new Error(`nginx ended with ${code}.`)));
  failed.catch(() => {});
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  await Promise.race([until(answers, 'nginx to answer'), failed]);
  return async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
}
