import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { writeDurably } from '../kernel/durable-file.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { backupNames, ensureBackupFolder, walArchiveFolder } from './backup-folder.ts';
import { ignoreMissing } from './database-files.ts';
import { readManifest } from './manifest.ts';
import { archivedNames } from './wal-archive.ts';
import { isHistory, timelineOf } from './wal-names.ts';

/**
 * One installation writes to a folder of backups. Of two, each could restore the database of the other, and two copies
 * of one database would mix their WAL. The number of an installation is beside its database and not in it, so that a
 * copy of the database has another one.
 */

const CLAIM = 'used-by.json';
const INSTALLATION = 'backup-installation';

type Claim = { installation: string; system_identifier: string; host: string; data_dir: string };

export class FolderOfAnother extends BackupError {
  override name = 'FolderOfAnother';
}

type Claimant = { dataDir: string; systemIdentifier: string };

/** Makes the folder that of this installation and its database. Throws if it is that of another one. */
export async function claimFolder(folder: string, { dataDir, systemIdentifier }: Claimant): Promise<void> {
  const claim = await readClaim(folder);
  const installation = await ensureInstallation(dataDir);
  if (claim?.installation === installation && claim.system_identifier === systemIdentifier) return;
  if (claim && claim.system_identifier !== systemIdentifier) {
    throw new FolderOfAnother(
      `${folder} has the backups of another database, of ${claim.data_dir} on ${claim.host}. Use another folder, or ` +
        'restore that database into an empty DATA_DIR.',
    );
  }
  if (claim) {
    throw new FolderOfAnother(
      `${folder} has the backups of another installation, in ${claim.data_dir} on ${claim.host}. Use another folder. ` +
        'If that installation has ended, and this one goes on in its place, run "case-records backup take-over" first.',
    );
  }
  await writeClaim(folder, newClaim(installation, systemIdentifier, dataDir));
}

type WritingDatabase = {
  systemIdentifier: string;
  /** The timeline that the database writes to. */
  timeline: number;
};

/**
 * Throws if the database is one from before a restore, whose folder was put back: the restored one has gone on in the
 * folder of backups, and nothing that this one writes could be restored from there.
 */
export async function assertNewestTimeline(
  folder: string,
  { systemIdentifier, timeline }: WritingDatabase,
): Promise<void> {
  const archived = (await archivedNames(walArchiveFolder(folder, systemIdentifier))).filter(isHistory).map(timelineOf);
  // With BACKUP_WAL=off nothing is archived, and only the backups tell.
  const newest = Math.max(0, ...archived, ...(await backupTimelines(folder, systemIdentifier)));
  if (newest <= timeline) return;
  throw new FolderOfAnother(
    `${folder} has the backups of the database that a restore made of this one (timeline ${newest}; this is ` +
      `${timeline}). What this one writes could not be restored from there. Use another folder for it, or put the restored ` +
      'database back.',
  );
}

/** Returns the timelines of the backups of a database. A damaged backup does not keep others from being made. */
async function backupTimelines(folder: string, systemIdentifier: string): Promise<number[]> {
  const timelines: number[] = [];
  for (const name of await backupNames(folder)) {
    const manifest = await readManifest(join(folder, name)).catch(() => undefined);
    if (manifest?.system_identifier === systemIdentifier) timelines.push(manifest.wal.timeline);
  }
  return timelines;
}

/** Makes the folder that of this installation, which goes on with the database of the one before. */
export async function takeOverFolder(folder: string, dataDir: string): Promise<void> {
  const claim = await readClaim(folder);
  if (!claim) throw new BackupError(`${folder} belongs to no installation. There is nothing to take over.`);
  await writeClaim(folder, newClaim(await ensureInstallation(dataDir), claim.system_identifier, dataDir));
}

const newClaim = (installation: string, systemIdentifier: string, dataDir: string): Claim => ({
  installation,
  system_identifier: systemIdentifier,
  host: hostname(),
  data_dir: resolve(dataDir),
});

async function readClaim(folder: string): Promise<Claim | undefined> {
  const path = join(folder, CLAIM);
  try {
    const text = await readFile(path, 'utf8').catch(ignoreMissing);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw new BackupError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

async function writeClaim(folder: string, claim: Claim): Promise<void> {
  await ensureBackupFolder(folder);
  await writeDurably(join(folder, CLAIM), `${JSON.stringify(claim)}\n`, { mode: 0o600 }).catch((error) => {
    throw new BackupError(`The folder ${folder} cannot be used for backups: ${reasonOf(error)}.`);
  });
}

async function ensureInstallation(dataDir: string): Promise<string> {
  const path = join(dataDir, INSTALLATION);
  const existing = await readFile(path, 'utf8').catch(ignoreMissing);
  if (existing) return existing.trim();
  const installation = randomUUID();
  await writeDurably(path, `${installation}\n`, { mode: 0o600 });
  return installation;
}
