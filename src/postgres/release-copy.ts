import { access, chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, syncTree } from '../kernel/durable-file.ts';
import { cannotRunHere } from './bundled-postgres-error.ts';
import { completeLinks, type Release, whyNotRunnable } from './release.ts';
import type { ServerUser } from './server-user.ts';

/** The directory for copies of a release: any user can reach the one of root. */
export function copiesFolder(dataDir: string): string {
  return process.getuid?.() === 0 ? '/var/lib/case-records-postgresql' : dataDir;
}

/** The release itself or, where its folder is incomplete and read-only, a copy of it. */
export async function runnableRelease(installed: Release, copies: string): Promise<Release> {
  const release = (await completeLinks(installed.folder)) ? installed : await copyRelease(installed, copies);
  const obstacle = await whyNotRunnable(release);
  if (obstacle) throw cannotRunHere(obstacle);
  return release;
}

/** A checkout below /root or a directory of mktemp is closed to other users, who then get a copy. */
export async function releaseReachableBy(
  user: ServerUser | undefined,
  release: Release,
  copies: string,
): Promise<Release> {
  if (!user || !(await whyNotRunnable(release, user))) return release;
  const copy = await copyRelease(release, copies);
  const obstacle = await whyNotRunnable(copy, user);
  if (obstacle) throw cannotRunHere(obstacle);
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

/** The name appears with the finished copy only, whoever else is copying at the same time. */
async function copyCompletely(source: string, folder: string, copies: string): Promise<void> {
  if (await mkdir(copies, { recursive: true })) await chmod(copies, 0o755);
  const draft = await mkdtemp(`${folder}.`);
  try {
    await cp(source, draft, { recursive: true, verbatimSymlinks: true });
    await completeLinks(draft);
    await openToEveryone(draft);
    // The name says that the copy is complete, so after a power cut no file of it may be empty.
    await syncTree(draft);
    await rename(draft, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

async function openToEveryone(folder: string): Promise<void> {
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
