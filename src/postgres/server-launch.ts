import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import { giveTo, initialise, isInitialised } from './data-directory.ts';
import { disclaimPostmasterFile, type Postmaster, spawnPostmaster, untilReady } from './postmaster.ts';
import type { Release } from './release.ts';
import { copiesFolder, releaseReachableBy, runnableRelease } from './release-copy.ts';
import { openServerLog } from './server-log.ts';
import { serverSettings } from './server-settings.ts';
import { serverUser } from './server-user.ts';

const SURVIVORS_TIMEOUT = 10_000;
const SURVIVORS_INTERVAL = 100;

type Launch = {
  dataDir: string;
  installed: Release;
  settings: Record<string, string>;
  log: (line: string) => void;
};

/** A server that is ready, in a data directory that is made when it is missing. */
export async function launchServer({ dataDir, installed, settings, log }: Launch): Promise<Postmaster> {
  const directory = join(dataDir, 'postgres');
  const copies = copiesFolder(dataDir);
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
      await giveTo(user, directory);
    }
    const deadline = performance.now() + SURVIVORS_TIMEOUT;
    for (;;) {
      await disclaimPostmasterFile(directory);
      const server = await spawnPostmaster(directory, installation, serverSettings(settings));
      if (await untilReady(server, directory, log)) return server;
      const complaint = await serverLog.lastComplaint(server.pid);
      // Processes of a server that crashed finish their query before they notice.
      if (!complaint.includes('still in use') || performance.now() > deadline) {
        throw new BundledPostgresError(`The bundled PostgreSQL did not start: ${complaint} (see ${serverLog.path}).`);
      }
      await delay(SURVIVORS_INTERVAL);
    }
  } finally {
    await serverLog.close();
  }
}
