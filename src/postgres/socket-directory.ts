import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SOCKET_PORT = 5432;
const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`;

/** Written by PostgreSQL next to its socket, with the pid of the server. */
export const SOCKET_LOCK_NAME = `${SOCKET_NAME}.lock`;

// A socket address holds 103 bytes on macOS and 107 on Linux.
const MAX_ADDRESS_BYTES = 103;

/** A path to the directory of a socket, short enough for a socket address. */
type SocketDirectory = { host: string; close(): Promise<void> };

export async function openSocketDirectory(directory: string): Promise<SocketDirectory> {
  if (Buffer.byteLength(join(directory, SOCKET_NAME)) <= MAX_ADDRESS_BYTES) {
    return { host: directory, close: async () => {} };
  }
  if (process.platform === 'linux') {
    const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    return { host: `/proc/self/fd/${descriptor}`, close: async () => closeSync(descriptor) };
  }
  const folder = await mkdtemp(join(tmpdir(), 'case-records-'));
  const alias = join(folder, 'postgres');
  await symlink(directory, alias);
  return { host: alias, close: () => rm(folder, { recursive: true, force: true }) };
}
