import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import { changeOwner, initialise, isInitialised } from './data-directory.ts';
import { disclaimPostmasterFile, type Postmaster, spawnPostmaster, waitUntilReady } from './postmaster.ts';
import type { Release } from './release.ts';
import { releaseCopiesFolder, releaseReachableBy, runnableRelease } from './release-copy.ts';
import { openServerLog } from './server-log.ts';
import { serverSettings } from './server-settings.ts';
import { serverUser } from './server-user.ts';

const SURVIVORS_TIMEOUT_MS = 10_000;
const SURVIVORS_INTERVAL_MS = 100;

type LaunchOptions = {
  dataDir: string;
  /** The directory of the database, if it is not the one of a service. */
  directory?: string;
  installed: Release;
  settings: Record<string, string>;
  log: (line: string) => void;
};

/** Starts a server and waits until it is ready. Creates the data directory if it is missing. */
export async function launchServer({
  dataDir,
  directory = join(dataDir, 'postgres'),
  installed,
  settings,
  log,
}: LaunchOptions): Promise<Postmaster> {
  const copies = releaseCopiesFolder(dataDir);
  const runnable = await runnableRelease(installed, copies);
  const user = await serverUser(directory);
  const release = await releaseReachableBy(user, runnable, copies);
  const serverLog = await openServerLog(dataDir);
  const installation = { release, user, serverLog };
  try {
    if (!(await isInitialised(directory, release.major))) {
      log(`Creating a PostgreSQL ${release.major} database in ${directory}`);
      await initialise(directory, installation);
    } else if (user) {
      await changeOwner(user, directory);
    }
    const deadline = performance.now() + SURVIVORS_TIMEOUT_MS;
    for (;;) {
      await disclaimPostmasterFile(directory);
      const server = await spawnPostmaster(directory, installation, serverSettings(settings));
      if (await waitUntilReady(server, directory, log)) return server;
      const reason = await serverLog.lastError(server.pid);
      // Backends of a crashed server finish their query before they notice the crash.
      if (!reason.includes('still in use') || performance.now() > deadline) {
        throw new BundledPostgresError(`The bundled PostgreSQL did not start: ${reason}. See ${serverLog.path}.`);
      }
      await delay(SURVIVORS_INTERVAL_MS);
    }
  } finally {
    await serverLog.close();
  }
}
