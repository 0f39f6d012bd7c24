import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SECRET_SETTINGS, SETTINGS } from '../../src/config.ts';
import { caller } from '../harness/http.ts';
import { printed, temporaryDirectory, watch } from '../harness/service.ts';

/** The files that containers and systemd run the service with. */

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

const SETTING_NAMES = [...Object.keys(SETTINGS), ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
// Read by Node itself.
const NODE_VARIABLES = ['NODE_COMPILE_CACHE'];
/** The service stops within this time; docs/operations.md adds it up. */
const MAX_STOP_SECONDS = 75;

test('what the Containerfile copies is there and reaches the builder', async () => {
  const containerfile = await read('Containerfile');
  const copied = [...containerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  assert.ok(copied.includes('src') && copied.includes('migrations'));
  for (const source of copied) assert.ok(existsSync(new URL(source, ROOT)), source);
  const admitted = [...(await read('.dockerignore')).matchAll(/^!(.+)$/gm)].map(([, path]) => path);
  assert.deepEqual(copied.toSorted(), admitted.toSorted());
  assert.match(containerfile, /^ENTRYPOINT \["deploy\/container-entrypoint\.sh", "node", .*"src\/main\.ts"\]$/m);
});

test('every variable that the samples set is a setting', async () => {
  const compose = /^ {2}records:\n([\s\S]*?)^ {2}\w+:/m.exec(await read('compose.yaml'))?.[1] ?? '';
  const inCompose = [...compose.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name = '']) => name);
  const image = /^ENV (.+)$/m.exec(await read('Containerfile'))?.[1] ?? '';
  const inImage = image.split(' ').map((variable) => variable.split('=', 1)[0] as string);
  const unit = await read('deploy/case-records.service');
  const inUnit = [...unit.matchAll(/^#? ?Environment=(\w+)=/gm)].map(([, name = '']) => name);
  const proxies = `${await read('deploy/nginx.conf')}${await read('deploy/Caddyfile')}`;
  const inProxies = [...proxies.matchAll(/^# {3}(\w+)=/gm)].map(([, name = '']) => name);
  for (const names of [inCompose, inImage, inUnit, inProxies]) {
    assert.ok(names.length > 1);
    for (const name of names) assert.ok([...SETTING_NAMES, ...NODE_VARIABLES].includes(name), name);
  }
});

test('systemd and compose wait longer than the service takes to stop', async () => {
  const unit = Number(/^TimeoutStopSec=(\d+)s$/m.exec(await read('deploy/case-records.service'))?.[1]);
  const compose = Number(/stop_grace_period: (\d+)s/.exec(await read('compose.yaml'))?.[1]);
  assert.ok(unit > MAX_STOP_SECONDS && compose > MAX_STOP_SECONDS);
});

const analyses = await run('systemd-analyze', ['security', '--help']).then(
  ({ stdout }) => (stdout.includes('--offline') ? false : 'this systemd-analyze cannot work offline'),
  () => 'systemd-analyze is not installed',
);

test('the exposure of the systemd unit is below 3', { skip: analyses }, async () => {
  const unit = fileURLToPath(new URL('deploy/case-records.service', ROOT));
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
  const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
  assert.ok(exposure < 3, stdout);
});

// A user of every Linux, and a user id that nobody has. Both have the group 0, as containers run them.
const NOBODY_UID = 65_534;
const UNNAMED_UID = 1_234_567;

/**
 * The command that runs the entry point as process 1, on a read-only root with a tmpfs at /tmp, the program at /opt, the
 * data at /srv, and without capabilities. The folder of the checkout may be closed to other users, so what it contains
 * is mounted, and not the folder.
 */
const contained = (root: string, data: string, uid: number, command: string) => [
  ...['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-ec'],
  `mount --bind / "${root}"
  mount --rbind /dev "${root}/dev"
  mount -t tmpfs -o mode=755 tmpfs "${root}/opt"
  cd "${fileURLToPath(ROOT)}"
  for name in *; do
    if [ -d "$name" ]; then mkdir "${root}/opt/$name"; else touch "${root}/opt/$name"; fi
    mount --bind "$name" "${root}/opt/$name"
    mount -o remount,bind,ro "${root}/opt/$name"
  done
  mount --bind "${data}" "${root}/srv"
  mount -t tmpfs -o mode=1777 tmpfs "${root}/tmp"
  mount -t proc proc "${root}/proc"
  mount -o remount,bind,ro "${root}"
  mount -o remount,bind,ro "${root}/opt"
  exec chroot "${root}" setpriv --reuid ${uid} --regid 0 --clear-groups --no-new-privs --bounding-set=-all sh -c \
    "cd /opt && exec deploy/container-entrypoint.sh ${command}"`,
];

async function whyNotContained(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'only root can make namespaces';
  const tools = await run('unshare', ['--mount', '--pid', '--fork', 'setpriv', '--version']).catch(String);
  return typeof tools === 'string' ? `namespaces cannot be made here: ${tools}` : false;
}

test('as process 1 of any user on a read-only root the service works, reaps, and stops with 0', {
  skip: await whyNotContained(),
}, async () => {
  const folder = await temporaryDirectory();
  after(folder.remove);
  const [root, data] = [join(folder.path, 'root'), join(folder.path, 'data')];
  await Promise.all([mkdir(root), mkdir(data)]);
  await chmod(data, 0o770);
  await chown(data, NOBODY_UID, 0);

  const named = await run('unshare', contained(root, data, UNNAMED_UID, 'cat /tmp/passwd'));
  assert.match(named.stdout, new RegExp(`^records:x:${UNNAMED_UID}:`));

  const env = {
    PATH: process.env.PATH,
    DATA_DIR: '/srv',
    PORT: '0',
    LOG_LEVEL: 'error',
    NODE_COMPILE_CACHE: '/tmp/cache',
  };
  const node = process.execPath.replace(fileURLToPath(ROOT), '/opt/');
  const command = `${node} --max-semi-space-size=8 src/main.ts serve`;
  const child = spawn('unshare', contained(root, data, NOBODY_UID, command), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  after(() => child.kill('SIGKILL'));
  const launched = watch(child);
  const [, url = ''] = await printed(launched, /listens on ([^\s"]+)/);
  const demo = JSON.parse(await readFile(join(data, 'demo.json'), 'utf8'));
  const answer = await caller(url, demo.token).post(`/cases/${demo.case_id}/interactions`, { type: 'phone' });
  assert.equal(answer.status, 200, answer.text);

  const processes = await processesBelow(child.pid as number);
  const [first] = processes.filter(({ namespacePid }) => namespacePid === 1);
  assert.ok(first && processes.length > 3, 'the database runs in the namespace too');
  assert.deepEqual(
    processes.filter(({ state }) => state === 'Z'),
    [],
  );
  process.kill(first.pid, 'SIGTERM');
  assert.equal(await launched.ended(), 0, launched.output.join('\n'));
});

type Found = { pid: number; namespacePid: number; state: string | undefined };

/** The processes of the namespace that this process made for its children. */
async function processesBelow(pid: number): Promise<Found[]> {
  const namespace = await readlink(`/proc/${pid}/ns/pid_for_children`);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = pids.map(async (name): Promise<Found[]> => {
    // A process may end meanwhile.
    const own = await readlink(`/proc/${name}/ns/pid`).catch(() => '');
    const status = own === namespace ? await readFile(`/proc/${name}/status`, 'utf8').catch(() => '') : '';
    const inner = /^NSpid:.*\t(\d+)$/m.exec(status)?.[1];
    return inner === undefined
      ? []
      : [{ pid: Number(name), namespacePid: Number(inner), state: /^State:\t(\w)/m.exec(status)?.[1] }];
  });
  return (await Promise.all(found)).flat();
}
