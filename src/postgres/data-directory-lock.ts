import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DataDirectoryInUse, errorCode } from './bundled-postgres-error.ts';

const ANSWER_TIMEOUT = 2_000;
const COMMAND_TIMEOUT = 30_000;
const LOOK_AGAIN = 100;

export type DataDirectoryLock = { release(): void };

/** A command is done with the directory soon, and is waited for; a service is not. */
export type Role = 'service' | 'command';

/**
 * Only one process may use a data directory. The lock is a listening socket: unlike a file with a pid
 * in it, it ends with its process however that dies, and it tells who holds it.
 */
export async function lockDataDirectory(dataDir: string, role: Role): Promise<DataDirectoryLock> {
  const address = lockAddress(dataDir);
  const patience = performance.now() + COMMAND_TIMEOUT;
  for (;;) {
    const listener = await listen(address, role);
    if (listener) return { release: () => void listener.close() };

    const holder = await holderOf(address);
    if (holder?.startsWith(COMMAND) && performance.now() < patience) {
      await delay(LOOK_AGAIN);
      continue;
    }
    if (holder) {
      throw new DataDirectoryInUse(
        holder.startsWith(COMMAND)
          ? `A Case Records ${holder} has been using the data directory ${dataDir} for a long time.`
          : `Another Case Records service (${holder}) is using the data directory ${dataDir}.`,
      );
    }
    if (!isAbstract(address)) await rm(address, { force: true });
  }
}

/** Whether a command has started the server, which stops it when it is done. */
export const isHeldByCommand = async (dataDir: string): Promise<boolean> =>
  (await holderOf(lockAddress(dataDir)))?.startsWith(COMMAND) ?? false;

const COMMAND = 'command';

function lockAddress(dataDir: string): string {
  const name = `case-records-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
}

function isAbstract(address: string): boolean {
  return address.startsWith('\0');
}

async function listen(address: string, role: Role): Promise<Server | undefined> {
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(role === 'command' ? `${COMMAND} (pid ${process.pid})` : `pid ${process.pid}`);
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

/** Undefined when the holder is gone. */
async function holderOf(address: string): Promise<string | undefined> {
  const socket = connect(address);
  socket.setTimeout(ANSWER_TIMEOUT, () => socket.destroy(new Error('no answer')));
  try {
    return (await text(socket)) || undefined;
  } catch (error) {
    const gone = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT'].includes(errorCode(error) ?? '');
    return gone ? undefined : 'which does not tell its pid';
  }
}
