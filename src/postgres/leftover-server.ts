import { setTimeout as delay } from 'node:timers/promises';
import { BundledPostgresError } from './bundled-postgres-error.ts';
import {
  adoptPostmaster,
  isPostmasterOf,
  type Postmaster,
  readPostmasterFile,
  stopPostmaster,
  untilReady,
} from './postmaster.ts';
import { connectionTo, type Presence, presenceOf } from './server-connection.ts';
import { openSocketDirectory } from './socket-directory.ts';

const RETRY_INTERVAL = 20;

/** The server that a killed service has left running in this directory, once it is ready. */
export async function leftoverServer(directory: string, log: (line: string) => void): Promise<Postmaster | undefined> {
  const file = await readPostmasterFile(directory);
  if (!file || !(await isPostmasterOf(file.pid, directory))) {
    await refuseForeignServer(directory);
    return undefined;
  }
  const server = adoptPostmaster(file.pid, directory);
  log(`Found PostgreSQL (pid ${server.pid}) already running, it is ${file.status || 'starting'}`);
  if (file.status === 'stopping') {
    await stopPostmaster(server);
    return undefined;
  }
  while (await untilReady(server, directory, log)) {
    const answer = await presence(directory);
    if (answer === 'answers' || answer === 'refuses') return server;
    if (answer === 'silent') {
      throw new BundledPostgresError(
        `PostgreSQL (pid ${server.pid}) is running in ${directory} but does not answer: stop that process first.`,
      );
    }
    // It has begun to stop, or it starts again because one of its processes crashed.
    await delay(RETRY_INTERVAL);
  }
  return undefined;
}

/** Two servers would destroy the data, and the pid of one in another container says nothing here. */
async function refuseForeignServer(directory: string): Promise<void> {
  if ((await presence(directory)) === 'absent') return;
  throw new BundledPostgresError(
    `A PostgreSQL that this service did not start, perhaps in another container, is running in ${directory}.`,
  );
}

async function presence(directory: string): Promise<Presence> {
  const socket = await openSocketDirectory(directory);
  try {
    return await presenceOf(connectionTo(socket.host, 'postgres'));
  } finally {
    await socket.close();
  }
}
