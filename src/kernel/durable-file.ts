import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

type FolderOptions = { mode: number };

type FileOptions = FolderOptions & { modifiedAt?: Date };

/**
 * Writes the whole file or, if it fails or is interrupted, leaves the previous one. A power cut after the promise has
 * resolved loses nothing. The folder must exist.
 */
export async function writeDurably(path: string, content: string | Uint8Array, options: FileOptions): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', options.mode);
  try {
    await file.writeFile(content);
    if (options.modifiedAt) await file.utimes(options.modifiedAt, options.modifiedAt);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  // The file system may delay writing the folder, which holds the new name.
  await syncFolder(dirname(path));
}

const syncedFolders = new Set<string>();

/** Creates a folder and its parents so that a power cut cannot lose them. */
export async function makeDurableFolder(path: string, options: FolderOptions): Promise<void> {
  const folder = resolve(path);
  const firstCreated = await mkdir(folder, { recursive: true, mode: options.mode });
  if (firstCreated === undefined && syncedFolders.has(folder)) return;
  // A process that was killed may have created the folder without syncing its parent, so each process syncs it once.
  for (let created = folder; dirname(created) !== created; created = dirname(created)) {
    await syncFolder(dirname(created)).catch((error: NodeJS.ErrnoException) => {
      // A parent that this user cannot read belongs to another user, who created the folder.
      if (firstCreated !== undefined || error.code !== 'EACCES') throw error;
    });
    if (firstCreated === undefined || created === firstCreated) break;
  }
  syncedFolders.add(folder);
}

const running = new Map<string, Promise<void>>();
const waiting = new Map<string, Promise<void>>();

/** Syncs a folder to the disk. Concurrent calls share the next sync, which starts after all of them. */
export function syncFolder(folder: string): Promise<void> {
  const planned = waiting.get(folder);
  if (planned) return planned;
  const begin = () => {
    waiting.delete(folder);
    const sync = syncPath(folder).finally(() => running.get(folder) === sync && running.delete(folder));
    running.set(folder, sync);
    return sync;
  };
  const next = (running.get(folder) ?? Promise.resolve()).then(begin, begin);
  waiting.set(folder, next);
  return next;
}

const CONCURRENT_SYNCS = 32;

/** Syncs a folder and everything below it to the disk. */
export async function syncTree(folder: string): Promise<void> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile() || entry.isDirectory(),
  );
  // The file system writes its journal once for concurrent syncs.
  for (let i = 0; i < entries.length; i += CONCURRENT_SYNCS) {
    const batch = entries.slice(i, i + CONCURRENT_SYNCS);
    await Promise.all(batch.map((entry) => syncPath(join(entry.parentPath, entry.name))));
  }
  await syncPath(folder);
}

/** Windows cannot sync a folder and need not: NTFS journals its entries. */
async function syncPath(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
