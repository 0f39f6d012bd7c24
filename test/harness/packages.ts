import { type ExecFileException, execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Both packages as `npm pack` makes them, installed where a user would install them: in a path with blanks. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The registry offers these for every platform that the tests run on. */
const NODE_VERSIONS = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' };
const VITE = 'vite@8.3.8';
const ESBUILD = 'esbuild@0.28.2';
const COMMAND_TIMEOUT_MS = 240_000;

export type Ended = { code: number; out: string; err: string };
export type RunOptions = { cwd?: string; env?: NodeJS.ProcessEnv };
/** The fields of `npm pack --json` that are used here. */
export type Packed = { filename: string; size: number; unpackedSize: number; files: { path: string }[] };

/** The environment of a user, without what `npm run` adds to that of the tests. */
export const USER_ENV: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env)
    .filter(
      ([name]) =>
        !/^(npm_(?!config_(cache|userconfig|globalconfig|registry)$)|NODE_(TEST|OPTIONS|COMPILE)|INIT_CWD|DATABASE_URL)/.test(
          name,
        ),
    )
    .map(([name, value]) => [name, name === 'PATH' ? withoutCheckout(value ?? '') : value]),
);

function withoutCheckout(path: string): string {
  return path
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':');
}

/** Runs a program to its end. */
export function run(program: string, args: string[], { cwd, env = USER_ENV }: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env, encoding: 'utf8', timeout: COMMAND_TIMEOUT_MS } as const;
    execFile(program, args, options, (error: ExecFileException | null, out, err) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ code, out, err: code === -1 ? `${err}${error?.message}` : err });
    });
  });
}

/** Runs a program that must succeed, and returns its output. */
export async function output(program: string, args: string[], options?: RunOptions): Promise<string> {
  const { code, out, err } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${out}${err}`);
  return out;
}

const install = (cwd: string, ...args: string[]) =>
  output('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...args], { cwd });

export type Installation = {
  home: string;
  packed: { client: Packed; service: Packed };
  /** A project with the client, and beside it the bundlers. */
  project: string;
  /** A project with the service, without its optional packages. */
  dependent: string;
  /** The prefix of a global installation of the service. */
  globalPrefix: string;
  /** Programs by major version. */
  nodes: Record<20 | 22 | 24 | 26, string>;
  remove(): Promise<void>;
};

export async function installPackages(): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), 'case records '));
  const folder = async (name: string, manifest = {}) => {
    const path = join(home, name);
    await mkdir(path);
    await writeFile(join(path, 'package.json'), JSON.stringify({ private: true, ...manifest }));
    return path;
  };
  const tarballs = await folder('packages');
  const pack = async (...args: string[]): Promise<Packed> => {
    const json = await output('npm', ['pack', '--json', '--pack-destination', tarballs, ...args], { cwd: ROOT });
    return [JSON.parse(json.slice(json.indexOf('[\n')))].flat()[0];
  };
  const nodeFolder = await folder('nodes');
  const project = await folder('my project', { type: 'module' });
  const dependent = await folder('dependent');
  const globalPrefix = await folder('global');
  const platform = `${process.platform}-${process.arch}`;
  const aliases = Object.entries(NODE_VERSIONS).map(([major, version]) => `n${major}@npm:node-${platform}@${version}`);

  const tarball = ({ filename }: Packed) => join(tarballs, filename);
  const clientInstalled = async () => {
    const client = await pack('--workspace', 'packages/client');
    await install(project, tarball(client), VITE, ESBUILD);
    return client;
  };
  const serviceInstalled = async () => {
    const service = await pack();
    await Promise.all([
      install(globalPrefix, '--global', '--prefix', globalPrefix, tarball(service)),
      install(dependent, '--omit=optional', tarball(service)),
    ]);
    return service;
  };
  const [client, service] = await Promise.all([
    clientInstalled(),
    serviceInstalled(),
    install(nodeFolder, '--no-bin-links', ...aliases),
  ]);
  const node = (major: number) => join(nodeFolder, 'node_modules', `n${major}`, 'bin', 'node');
  return {
    home,
    packed: { client, service },
    project,
    dependent,
    globalPrefix,
    nodes: { 20: node(20), 22: node(22), 24: node(24), 26: process.execPath },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** Returns the environment of a machine whose only Node is this one. */
export async function environmentOf(home: string, node: string): Promise<NodeJS.ProcessEnv> {
  const folder = await mkdtemp(join(home, 'bin '));
  await symlink(node, join(folder, 'node'));
  for (const other of new Set(USER_ENV.PATH?.split(':'))) {
    for (const name of await readdir(other).catch(() => []))
      await symlink(join(other, name), join(folder, name)).catch(() => {});
  }
  return { ...USER_ENV, PATH: folder };
}

export const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
