import { stat } from 'node:fs/promises';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import { adoptPostmaster, isPostmasterOf, readPostmasterFile, stopPostmaster } from './postmaster.ts';
import { installedRelease, type Release } from './release.ts';
import { connectionTo, type ServerConnection } from './server-connection.ts';
import { launchServer } from './server-launch.ts';
import { openSocketDirectory } from './socket-directory.ts';

/** A server that runs on a copy of a database, beside the one of the service and on a socket of its own. */
export type CopyServer = { connection: ServerConnection; stop(): Promise<void> };

type CopyOptions = {
  /** The folder for the server's log. */
  logFolder: string;
  directory: string;
  /** The programs, if they are not the installed ones. */
  release?: Release;
  settings: Record<string, string>;
  /** Called about once a second until the server is ready. */
  onWait?: () => Promise<void>;
};

const WAIT_INTERVAL_MS = 1_000;

/** Without standby connections, a server counts as ready only when its recovery has ended. */
const RECOVERY_SETTINGS = { hot_standby: 'off', log_startup_progress_interval: '1s' };

/** Starts a server on the copy and waits until its recovery has ended. */
export async function startCopy(options: CopyOptions): Promise<CopyServer> {
  const { logFolder, directory, release, settings, onWait } = options;
  const installed = release ?? (await installedRelease());
  const socket = await openSocketDirectory(directory);
  const connection = connectionTo(socket.host);
  const all = { ...RECOVERY_SETTINGS, ...settings };
  const waiting = onWait && setInterval(() => void onWait().catch(() => {}), WAIT_INTERVAL_MS);
  try {
    const server = await launchServer({ dataDir: logFolder, directory, installed, settings: all, log: () => {} });
    const stop = async () => {
      await stopPostmaster(server);
      await socket.close();
    };
    return { connection, stop };
  } catch (error) {
    await stopLeftoverCopy(directory);
    await socket.close();
    throw error;
  } finally {
    clearInterval(waiting);
  }
}

/** Stops the server that an interrupted command has left running on a copy. */
export async function stopLeftoverCopy(directory: string): Promise<void> {
  if (!(await stat(directory).catch(() => undefined))) return;
  const file = await readPostmasterFile(directory);
  if (!file || !(await isPostmasterOf(file.pid, directory))) return;
  await stopPostmaster(adoptPostmaster(file.pid, directory)).catch((error: Error) => {
    throw new BundledPostgresError(`A PostgreSQL still runs in ${directory}: ${error.message}`);
  });
}
