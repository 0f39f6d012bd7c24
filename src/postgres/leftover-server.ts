import { setTimeout as delay } from 'node:timers/promises';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import {
  adoptPostmaster,
  isPostmasterOf,
  type Postmaster,
  readPostmasterFile,
  stopPostmaster,
  waitUntilReady,
} from './postmaster.ts';
import { connectionTo, probeServer, type ServerState } from './server-connection.ts';
import { openSocketDirectory } from './socket-directory.ts';

const RETRY_INTERVAL_MS = 20;

/** Returns the server that a killed service has left running in this directory, as soon as it is ready. */
export async function findLeftoverServer(
  directory: string,
  log: (line: string) => void,
): Promise<Postmaster | undefined> {
  const file = await readPostmasterFile(directory);
  if (!file || !(await isPostmasterOf(file.pid, directory))) {
    await assertNoForeignServer(directory);
    return undefined;
  }
  const server = adoptPostmaster(file.pid, directory);
  log(`Found PostgreSQL (pid ${server.pid}) already running, it is ${file.status || 'starting'}`);
  if (file.status === 'stopping') {
    await stopPostmaster(server);
    return undefined;
  }
  while (await waitUntilReady(server, directory, log)) {
    const state = await probeDirectory(directory);
    if (state === 'answers' || state === 'refuses') return server;
    if (state === 'silent') {
      throw new BundledPostgresError(
        `PostgreSQL (pid ${server.pid}) is running in ${directory} but does not answer: stop that process first.`,
      );
    }
    // The server is stopping, or restarting after one of its processes crashed.
    await delay(RETRY_INTERVAL_MS);
  }
  return undefined;
}

/** Two servers would destroy the data. The pid of a server in another container means nothing here, so it is probed. */
async function assertNoForeignServer(directory: string): Promise<void> {
  if ((await probeDirectory(directory)) === 'absent') return;
  throw new BundledPostgresError(
    `A PostgreSQL that this service did not start, perhaps in another container, is running in ${directory}. ` +
      'Stop it first.',
  );
}

async function probeDirectory(directory: string): Promise<ServerState> {
  const socket = await openSocketDirectory(directory);
  try {
    return await probeServer(connectionTo(socket.host, 'postgres'));
  } finally {
    await socket.close();
  }
}

/** Stops the server that a killed process has left running in this directory. */
export async function endLeftoverServer(directory: string): Promise<void> {
  const server = await findLeftoverServer(directory, () => {});
  if (server) await stopPostmaster(server);
}
