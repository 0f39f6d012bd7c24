import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../kernel/durable-file.ts';
import { BackupError } from './backup-error.ts';
import { ignoreMissing, RESTORE_MARK } from './database-files.ts';

/**
 * A restored data directory carries a mark, also if it was restored without our command, because the backup contains
 * it. The first start acts upon the mark and removes it afterwards, so an interrupted start is repeated.
 */

export type RestoreMark = { id: string; stateAt: Temporal.Instant };

export async function readRestoreMark(dataDir: string): Promise<RestoreMark | undefined> {
  const path = join(dataDir, 'postgres', RESTORE_MARK);
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    const { id, state_at } = JSON.parse(text);
    return { id, stateAt: Temporal.Instant.from(state_at) };
  } catch {
    throw new BackupError(`${path} is damaged. Restore the backup again.`);
  }
}

export async function removeRestoreMark(dataDir: string): Promise<void> {
  const directory = join(dataDir, 'postgres');
  await rm(join(directory, RESTORE_MARK), { force: true });
  await syncFolder(directory);
}
