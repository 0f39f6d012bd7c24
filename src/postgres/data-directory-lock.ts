import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DataDirectoryInUse, errorCode } from './bundled-postgres-error.ts';

const ANSWER_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 30_000;
const RETRY_INTERVAL_MS = 100;

type DataDirectoryLock = { release(): void };

/** A command soon releases the directory, so other processes wait for it; they do not wait for a service. */
export type HolderRole = 'service' | 'command';

/**
 * Locks the data directory for this process. The lock is a listening socket: unlike a file with a pid, it disappears
 * with its process even after a crash, and it answers with the pid and the role of its holder.
 */
export async function lockDataDirectory(dataDir: string, role: HolderRole): Promise<DataDirectoryLock> {
  const address = lockAddress(dataDir);
  const deadline = performance.now() + COMMAND_TIMEOUT_MS;
  for (;;) {
    const listener = await listen(address, role);
    if (listener) return { release: () => void listener.close() };

    const holder = await askHolder(address);
    if (holder?.startsWith(COMMAND_HOLDER) && performance.now() < deadline) {
      await delay(RETRY_INTERVAL_MS);
      continue;
    }
    if (holder) {
      throw new DataDirectoryInUse(
        holder.startsWith(COMMAND_HOLDER)
          ? `A Case Records ${holder} has used the data directory ${dataDir} for a long time. Wait, or stop it.`
          : `Another Case Records service (${holder}) is using the data directory ${dataDir}. Stop it first.`,
      );
    }
    if (!isAbstract(address)) await rm(address, { force: true });
  }
}

/** Whether a command holds the directory. It stops its server when it has finished. */
export const isHeldByCommand = async (dataDir: string): Promise<boolean> =>
  (await askHolder(lockAddress(dataDir)))?.startsWith(COMMAND_HOLDER) ?? false;

const COMMAND_HOLDER = 'command';

function lockAddress(dataDir: string): string {
  const name = `case-records-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
}

function isAbstract(address: string): boolean {
  return address.startsWith('\0');
}

async function listen(address: string, role: HolderRole): Promise<Server | undefined> {
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(role === 'command' ? `${COMMAND_HOLDER} (pid ${process.pid})` : `pid ${process.pid}`);
  });
  listener.listen({ path: address, exclusive: true });
  try {
    await once(listener, 'listening');
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
  listener.unref();
  return listener;
}

/** Returns the holder's description of itself; undefined if the holder has ended. */
async function askHolder(address: string): Promise<string | undefined> {
  const socket = connect(address);
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
  try {
    return (await text(socket)) || undefined;
  } catch (error) {
    const hasEnded = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT'].includes(errorCode(error) ?? '');
    return hasEnded ? undefined : 'pid unknown';
  }
}
