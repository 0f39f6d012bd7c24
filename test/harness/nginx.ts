import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { until, within } from './until.ts';

/** nginx with the sample configuration of deploy/nginx.conf, on a free port and without TLS. */

export const findNginx = (): Promise<string | undefined> => findProgram(['nginx', '/usr/sbin/nginx'], '-v');

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
    await within(ended, 'the end of nginx');
    await rm(folder, { recursive: true, force: true });
  };
}
