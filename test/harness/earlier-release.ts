import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Launched, type Settings, watch } from './service.ts';

/** Releases from before, with the code and the dependencies that they had. */

/** The release before this one. It has the migrations up to PREVIOUS_RELEASE_MIGRATION. */
export const PREVIOUS_RELEASE_COMMIT = '96e98b49d999808ab0ab553f68a0ed731a8c45d2';

const ROOT = new URL('../../', import.meta.url).pathname;
const MAX_OUTPUT_BYTES = 1_000_000;
const run = promisify(execFile);

/** Puts the sources of a commit into a folder and installs its dependencies. Returns the reason if that is impossible. */
export async function installRelease(
  commit: string,
  folder: string,
  ...more: `--omit=${string}`[]
): Promise<string | undefined> {
  try {
    await run('git', ['-C', ROOT, 'archive', '--format=tar', `--output=${join(folder, 'release.tar')}`, commit]);
  } catch (error) {
    return `git has no commit ${commit}: ${firstLine(error)}`;
  }
  await run('tar', ['-xf', 'release.tar'], { cwd: folder });
  try {
    const options = ['--omit=dev', ...more, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', ['ci', ...options], { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES });
  } catch (error) {
    return `npm cannot install the dependencies of ${commit}: ${firstLine(error)}`;
  }
  return undefined;
}

const firstLine = (error: unknown): string => (error as Error).message.trim().split('\n').at(-1) ?? '';

/** Runs a command of the release in `folder`. */
export function launchRelease(folder: string, settings: Settings, ...command: string[]): Launched {
  const { DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, PORT: '0', LOG_LEVEL: 'warn', ...settings };
  const main = join(folder, 'src', 'main.ts');
  return watch(spawn(process.execPath, [main, ...command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}
