import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type pg from 'pg';
import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';
import { syncFolder, writeDurably } from '../kernel/durable-file.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { backupName, draftName, withBackupFolder } from './backup-folder.ts';
import { assertNewestTimeline, claimFolder } from './claim.ts';
import { CONTROL_FILE, ignoreMissing, listDatabaseFiles, RESTORE_MARK } from './database-files.ts';
import { ARCHIVE, type FileEntry, MANIFEST, type Manifest, newManifest } from './manifest.ts';
import { limitProcessorUse } from './processor-share.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';
import { isHistory, segmentsBetween, timelineOf } from './wal-names.ts';

/** Copies a running database with PostgreSQL's low-level interface: start, copy the files, stop, add the WAL. */

export type BackupOptions = {
  /** A superuser of the running server. */
  connection: Connection;
  /** The folder of the installation, which has the database in `postgres`. */
  dataDir: string;
  folder: string;
  serviceVersion: string;
  /** Lets the server spread the checkpoint over minutes, and copies with a small share of the processors. */
  gently: boolean;
  onProgress: (text: string) => void;
};

export type CreatedBackup = { name: string; manifest: Manifest };

/** At level 3 zstd compresses a database to the size that zlib reaches at level 6, in a sixth of its time. */
const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
};
/** Beside 32 writers that keep two processors busy, the writers lose about this share and some of their caches. */
const GENTLE_SHARE = 0.05;
const READ_BYTES = 256 * 1024;
const SPACE_CHECK_BYTES = 32 * 1024 * 1024;
/** On the disk of the database, a backup leaves this share free, and at most so much. */
const RESERVED_SHARE = 0.05;
const MAX_RESERVED_BYTES = 1_000_000_000;
const MAX_CONTROL_READS = 100;

export const createBackup = (options: BackupOptions): Promise<CreatedBackup> =>
  withBackupFolder(options.folder, async () => {
    const { folder, connection } = options;
    const name = await freeName(folder);
    const draft = join(folder, draftName(name));
    const client = await connectClient(connection, 'backup');
    try {
      await mkdir(draft, { mode: 0o700 });
      const manifest = await copyDatabase(client, draft, options);
      const finalName = join(folder, name);
      await rename(draft, finalName);
      await syncFolder(folder);
      return { name, manifest };
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (error instanceof BackupError) throw error;
      throw new BackupError(`The backup was not made: ${reasonOf(error)}. Nothing was left in ${folder}. Try again.`);
    } finally {
      // The end of the session ends the backup mode and removes the slot, if the backup failed.
      await client.end().catch(() => {});
    }
  });

async function freeName(folder: string): Promise<string> {
  for (let at = Temporal.Now.instant(); ; at = at.add({ seconds: 1 })) {
    const name = backupName(at);
    if (!(await stat(join(folder, name)).catch(ignoreMissing))) return name;
  }
}

async function copyDatabase(client: pg.Client, draft: string, options: BackupOptions): Promise<Manifest> {
  const { dataDir, serviceVersion, gently, onProgress } = options;
  const directory = await realpath(join(dataDir, 'postgres'));
  onProgress('Waiting for a checkpoint …');
  const { rows: facts } = await client.query(
    `SELECT system_identifier::text, pg_walfile_name(pg_current_wal_lsn()) AS wal,
            current_setting('server_version_num')::int / 10000 AS major,
            (SELECT setting::int FROM pg_settings WHERE name = 'wal_segment_size') AS segment_bytes,
            (SELECT count(*)::int FROM pg_tablespace) AS tablespaces FROM pg_control_system()`,
  );
  const { system_identifier, wal, major, segment_bytes, tablespaces } = facts[0];
  if (tablespaces > 2) throw new BackupError('The database has tablespaces of its own, which a backup cannot contain.');
  await claimFolder(options.folder, { dataDir, systemIdentifier: system_identifier });
  await assertNewestTimeline(options.folder, { systemIdentifier: system_identifier, timeline: timelineOf(wal) });
  // The slot keeps the WAL from now on. It is temporary, so it ends with this session.
  const slot = `case_records_backup_${process.pid}`;
  await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [slot]);
  const { rows: begun } = await client.query(
    `SELECT pg_walfile_name(lsn) AS wal, clock_timestamp() AS at FROM pg_backup_start('case-records', $1) AS lsn`,
    [!gently],
  );
  const beforeRead = gently ? limitProcessorUse(GENTLE_SHARE) : async () => {};
  const archive = new ArchiveWriter(directory, beforeRead, onProgress);
  let stopped: { stopped_at: string; last: string; end: string } | undefined;

  async function* content(): AsyncGenerator<Buffer> {
    yield* archive.databaseFiles();
    onProgress('Ending the backup …');
    const { rows } = await client.query(
      `SELECT pg_walfile_name(lsn - 1) AS wal, lsn::text AS "end", labelfile, spcmapfile, clock_timestamp() AS at
         FROM pg_backup_stop(wait_for_archive => false)`,
    );
    // The position after a full segment is in the next one, which the backup does not need.
    const { wal: last, end, labelfile, spcmapfile, at } = rows[0];
    const first = begun[0].wal as string;
    stopped = { stopped_at: at.toISOString(), last, end };
    yield* archive.text('backup_label', labelfile);
    if (spcmapfile) yield* archive.text('tablespace_map', spcmapfile);
    const mark = { id: randomUUID(), state_at: stopped.stopped_at };
    yield* archive.text(RESTORE_MARK, `${JSON.stringify(mark)}\n`);
    const histories = (await readdir(join(directory, 'pg_wal'))).filter(isHistory);
    for (const name of [...histories, ...segmentsBetween(first, last, segment_bytes)]) {
      yield* archive.file(`pg_wal/${name}`, true);
    }
    yield tarEnd();
  }

  const archived = await writeArchive(content(), join(draft, ARCHIVE), await spaceGuard(options.folder, directory));
  const { stopped_at, last, end } = stopped as unknown as NonNullable<typeof stopped>;
  const manifest = newManifest({
    service_version: serviceVersion,
    system_identifier,
    postgres_major: String(major),
    architecture: process.arch,
    started_at: begun[0].at.toISOString(),
    stopped_at,
    wal: { segment_bytes, timeline: timelineOf(last), first: begun[0].wal, last, end },
    archive: archived,
    files: archive.entries,
  });
  await writeDurably(join(draft, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`, { mode: 0o600 });
  return manifest;
}

/** Turns files into the chunks of a tar archive, and lists them with their checksums. */
class ArchiveWriter {
  readonly entries: FileEntry[] = [];
  readonly #directory: string;
  readonly #beforeRead: () => Promise<void>;
  readonly #onProgress: (text: string) => void;

  constructor(directory: string, beforeRead: () => Promise<void>, onProgress: (text: string) => void) {
    this.#directory = directory;
    this.#beforeRead = beforeRead;
    this.#onProgress = onProgress;
  }

  async *databaseFiles(): AsyncGenerator<Buffer> {
    const { folders, files } = await listDatabaseFiles(this.#directory);
    for (const folder of folders) yield tarHeader({ name: `${folder}/`, isFolder: true, size: 0 });
    const total = files.reduce((sum, { size }) => sum + size, 0);
    let done = 0;
    for (const { path, size } of files) {
      if (path === CONTROL_FILE) yield* this.#entry(path, await readControlFile(join(this.#directory, path)));
      else yield* this.file(path, false);
      done += size;
      this.#onProgress(`Copying: ${Math.floor((100 * done) / total)} % of ${(total / 1e6).toFixed(0)} MB`);
    }
  }

  text(path: string, text: string): AsyncGenerator<Buffer> {
    return this.#entry(path, Buffer.from(text));
  }

  async *#entry(path: string, content: Buffer): AsyncGenerator<Buffer> {
    yield tarHeader({ name: path, isFolder: false, size: content.length });
    yield content;
    yield* this.#end(path, content.length, createHash('sha256').update(content));
  }

  /** The server may change the file meanwhile: the WAL of the backup has everything that this copy then lacks. */
  async *file(path: string, isRequired: boolean): AsyncGenerator<Buffer> {
    const file = await open(join(this.#directory, path)).catch((error) => {
      if (isRequired) throw new BackupError(`The WAL file ${path} is missing: ${reasonOf(error)}. Try again.`);
      return ignoreMissing(error);
    });
    if (!file) return;
    try {
      const { size } = await file.stat();
      const hash = createHash('sha256');
      yield tarHeader({ name: path, isFolder: false, size });
      for (let position = 0; position < size; ) {
        await this.#beforeRead();
        const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - position));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
        // A file that was truncated meanwhile is filled up to the size in the header.
        const chunk = bytesRead === 0 ? buffer.fill(0) : buffer.subarray(0, bytesRead);
        hash.update(chunk);
        position += chunk.length;
        yield chunk;
      }
      yield* this.#end(path, size, hash);
    } finally {
      await file.close();
    }
  }

  *#end(path: string, size: number, hash: Hash): Generator<Buffer> {
    this.entries.push({ path, size, sha256: hash.digest('hex') });
    yield tarPadding(size);
  }
}

/** The server may be writing the file, so it is read until two readings agree. */
async function readControlFile(path: string): Promise<Buffer> {
  let previous = await readFile(path);
  for (let i = 0; i < MAX_CONTROL_READS; i++) {
    const current = await readFile(path);
    if (current.equals(previous)) return current;
    previous = current;
  }
  throw new BackupError(`${path} changes too often to be read. Try again.`);
}

/** Returns the size and the checksum of the compressed file, which is on the disk then. */
async function writeArchive(
  content: AsyncIterable<Buffer>,
  path: string,
  beforeChunk: (bytes: number) => Promise<void>,
): Promise<Manifest['archive']> {
  const hash = createHash('sha256');
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      hash.update(chunk);
      beforeChunk(chunk.length).then(
        () => done(null, chunk),
        (error: Error) => done(error),
      );
    },
  });
  await pipeline(
    Readable.from(content, { objectMode: false, highWaterMark: READ_BYTES }),
    createZstdCompress(COMPRESSION),
    measure,
    createWriteStream(path, { mode: 0o600, flush: true }),
  );
  // The umask may have taken the owner's rights away.
  await chmod(path, 0o600);
  return { size, sha256: hash.digest('hex') };
}

/** A full disk would stop the database. Returns a check that throws before the disk of the database is full. */
async function spaceGuard(folder: string, directory: string): Promise<(bytes: number) => Promise<void>> {
  const [target, source] = await Promise.all([stat(folder), stat(directory)]);
  let unchecked = SPACE_CHECK_BYTES;
  return async (bytes) => {
    unchecked += bytes;
    if (target.dev !== source.dev || unchecked < SPACE_CHECK_BYTES) return;
    unchecked = 0;
    const { bavail, bsize, blocks } = await statfs(folder);
    const reserved = Math.min(MAX_RESERVED_BYTES, blocks * bsize * RESERVED_SHARE);
    if (bavail * bsize > reserved) return;
    throw new BackupError(
      `The backup was stopped before the disk of the database was full: less than ${(reserved / 1e6).toFixed(0)} MB ` +
        `are free in ${folder}. Free some space, or use a folder on another disk.`,
    );
  };
}
