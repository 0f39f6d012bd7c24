import { access, chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, syncTree } from '../kernel/durable-file.ts';
import { cannotRunHere } from './bundled-postgres-error.ts';
import { createLinks, findObstacle, type Release } from './release.ts';
import type { ServerUser } from './server-user.ts';

/** Returns the folder for copies of a release. As root it is one that every user can reach. */
export function releaseCopiesFolder(dataDir: string): string {
  return process.getuid?.() === 0 ? '/var/lib/case-records-postgresql' : dataDir;
}

/** Returns the release or, if its folder is incomplete and read-only, a copy of it. */
export async function runnableRelease(installed: Release, copies: string): Promise<Release> {
  const release = (await createLinks(installed.folder)) ? installed : await copyRelease(installed, copies);
  const problem = await findObstacle(release);
  if (problem) throw cannotRunHere(problem);
  return release;
}

/** Returns a release that `user` can run: a copy if the folder is closed to other users, as below /root. */
export async function releaseReachableBy(
  user: ServerUser | undefined,
  release: Release,
  copies: string,
): Promise<Release> {
  if (!user || !(await findObstacle(release, user))) return release;
  const copy = await copyRelease(release, copies);
  const problem = await findObstacle(copy, user);
  if (problem) throw cannotRunHere(problem);
  return copy;
}

async function copyRelease(release: Release, copies: string): Promise<Release> {
  const folder = join(copies, `postgresql-${release.version}-${release.platform}`);
  try {
    if (!(await exists(folder))) await copyCompletely(release.folder, folder, copies);
  } catch (error) {
    throw cannotRunHere(`it could not be copied to ${folder} (${(error as Error).message})`);
  }
  return { ...release, folder };
}

/** Copies to a draft folder and renames it, so that a concurrent copy or a crash never leaves an incomplete one. */
async function copyCompletely(source: string, folder: string, copies: string): Promise<void> {
  if (await mkdir(copies, { recursive: true })) await chmod(copies, 0o755);
  const draft = await mkdtemp(`${folder}.`);
  try {
    await cp(source, draft, { recursive: true, verbatimSymlinks: true });
    await createLinks(draft);
    await makeReadableByAll(draft);
    // Synced before the rename: after a power cut, a folder with the final name must not contain empty files.
    await syncTree(draft);
    await rename(draft, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

async function makeReadableByAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const executable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, executable ? 0o755 : 0o644);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
