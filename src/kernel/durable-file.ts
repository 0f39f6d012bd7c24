import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Files that count as done when the promise resolves: a power cut after that loses nothing of them. */

type FileOptions = { mode: number };

/** Writes the whole file or, if it fails or is cut short, leaves the previous one. The folder must exist. */
export async function writeDurably(path: string, content: string | Uint8Array, options: FileOptions): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', options.mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  // The new name is an entry of the folder, which the file system writes when it likes.
  await syncFolder(dirname(path));
}

const known = new Set<string>();

/** Makes a folder, and its parents, that a power cut does not take away with the files in it. */
export async function makeDurableFolder(path: string, options: FileOptions): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true, mode: options.mode });
  if (first === undefined && known.has(folder)) return;
  // A process that was killed may have made the folder without syncing its entry, so each process syncs it once.
  for (let made = folder; dirname(made) !== made; made = dirname(made)) {
    await syncFolder(dirname(made)).catch((error: NodeJS.ErrnoException) => {
      // A parent that this user cannot read was made by another one, and so was its entry for the folder.
      if (first !== undefined || error.code !== 'EACCES') throw error;
    });
    if (first === undefined || made === first) break;
  }
  known.add(folder);
}

const running = new Map<string, Promise<void>>();
const waiting = new Map<string, Promise<void>>();

/** Writes the entries of a folder to the disk. Concurrent calls share the next sync, which begins after all of them. */
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

/** Writes everything below a folder, and the folder, to the disk. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) await syncPath(join(entry.parentPath, entry.name));
  }
  await syncPath(folder);
}

/** Windows has no way to sync a folder and needs none: NTFS logs its entries. */
async function syncPath(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
