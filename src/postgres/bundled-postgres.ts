import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDurableFolder } from '../kernel/durable-file.ts';
import { BundledPostgresError, errorCode } from './bundled-postgres-error.ts';
import { assertNoInterruptedRestore, isInitialised } from './data-directory.ts';
import { type HolderRole, isHeldByCommand, lockDataDirectory } from './data-directory-lock.ts';
import { findLeftoverServer } from './leftover-server.ts';
import { assertNotSetAside, finishSwitch } from './major-upgrade.ts';
import { type Postmaster, stopPostmaster } from './postmaster.ts';
import { installedRelease } from './release.ts';
import { connectionTo, ensureDatabase, probeServer, readSetting, type ServerConnection } from './server-connection.ts';
import { launchServer } from './server-launch.ts';
import { serverLogPath } from './server-log.ts';
import { openSocketDirectory } from './socket-directory.ts';

export { BundledPostgresError, DataDirectoryInUse } from './bundled-postgres-error.ts';
export { restoringDirectory } from './data-directory.ts';
export { lockDataDirectory as lockFolder } from './data-directory-lock.ts';
export { endLeftoverServer } from './leftover-server.ts';
export {
  finishSwitch,
  isCopyOfKept,
  isSwitchUnfinished,
  keptDirectories,
  keptDirectory,
  majorOf,
  removeKept,
  sizeOf,
  switchDirectories,
  upgradingDirectory,
} from './major-upgrade.ts';
export { findOldRelease } from './old-release.ts';
export { installedRelease, type Release } from './release.ts';
export { asServiceRole, ensureDatabase, SERVICE_ROLE, type ServerConnection } from './server-connection.ts';
export { type CopyServer, startCopy, stopLeftoverCopy } from './server-of-copy.ts';

export type BundledPostgres = {
  /** A connection as the owner of the database. */
  connection: ServerConnection;
  pid: number;
  /** Whether a killed service had left this server running. */
  adopted: boolean;
  /** Resolves if the server ends without having been stopped. */
  exited: Promise<BundledPostgresError>;
  stop(): Promise<void>;
};

type BundledPostgresOptions = {
  dataDir: string;
  log: (line: string) => void;
  settings?: Record<string, string>;
  role?: HolderRole;
};

export async function startBundledPostgres(options: BundledPostgresOptions): Promise<BundledPostgres> {
  const { log, settings = {}, role = 'service' } = options;
  const installed = await installedRelease();
  const dataDir = await ensureDataDir(options.dataDir);
  const directory = join(dataDir, 'postgres');
  const lock = await lockDataDirectory(dataDir, role);
  try {
    if (await finishSwitch(dataDir)) log(`Finished an interrupted upgrade to PostgreSQL ${installed.major}`);
    const initialised = await isInitialised(directory, installed.major);
    if (!initialised) {
      await assertNoInterruptedRestore(dataDir);
      await assertNotSetAside(dataDir);
    }
    const leftover = initialised ? await adoptLeftover(directory, settings, log) : undefined;
    const server = leftover ?? (await launchServer({ dataDir, installed, settings, log }));
    const socket = await openSocketDirectory(directory);
    await ensureDatabase(socket.host).catch(async (error) => {
      await socket.close();
      await stopPostmaster(server);
      throw new BundledPostgresError(`PostgreSQL started, but its database could not be opened: ${error.message}.`);
    });

    let stopping: Promise<void> | undefined;
    const stop = async () => {
      await stopPostmaster(server);
      await socket.close();
      lock.release();
    };
    return {
      connection: connectionTo(socket.host),
      pid: server.pid,
      adopted: server === leftover,
      exited: onUnexpectedExit(server, dataDir, () => stopping !== undefined),
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Archiving can only be turned on or off at the start of a server. A killed upgrade leaves a read-only server. */
async function adoptLeftover(
  directory: string,
  { archive_mode = 'off' }: Record<string, string>,
  log: (line: string) => void,
): Promise<Postmaster | undefined> {
  const leftover = await findLeftoverServer(directory, log);
  if (!leftover) return undefined;
  const socket = await openSocketDirectory(directory);
  const connection = connectionTo(socket.host, 'postgres');
  const [archiving, readOnly] = await Promise.all([
    readSetting(connection, 'archive_mode'),
    readSetting(connection, 'default_transaction_read_only'),
  ]).finally(socket.close);
  if (archiving === archive_mode && readOnly === 'off') return leftover;
  await stopPostmaster(leftover);
  return undefined;
}

async function ensureDataDir(dataDir: string): Promise<string> {
  try {
    await makeDurableFolder(dataDir, { mode: 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    throw new BundledPostgresError(`The data directory ${dataDir} cannot be used: ${(error as Error).message}.`);
  }
}

function onUnexpectedExit(server: Postmaster, dataDir: string, isStopping: () => boolean) {
  return new Promise<BundledPostgresError>((resolve) => {
    void server.ended.then((how) => {
      if (isStopping()) return;
      const log = serverLogPath(dataDir);
      resolve(new BundledPostgresError(`PostgreSQL (pid ${server.pid}) ended unexpectedly (${how}), see ${log}.`));
    });
  });
}

/** Returns the server of a running service on this machine. A server that a command has started does not count. */
export async function findBundledPostgres(dataDir: string): Promise<ServerConnection | undefined> {
  try {
    const path = await realpath(dataDir);
    if (await isHeldByCommand(path)) return undefined;
    const socket = await openSocketDirectory(join(path, 'postgres'));
    const connection = connectionTo(socket.host);
    if ((await probeServer(connection)) === 'answers') return connection;
    await socket.close();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return undefined;
}
