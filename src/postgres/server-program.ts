import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { PROGRAM_ENVIRONMENT, type Release } from './release.ts';
import type { ServerLog } from './server-log.ts';
import type { ServerUser } from './server-user.ts';

/** The programs, the user and the log with which PostgreSQL runs on a data directory. */
export type Installation = { release: Release; user: ServerUser | undefined; serverLog: ServerLog };

export function runProgram(
  name: 'initdb' | 'postgres',
  args: string[],
  directory: string,
  { release, user, serverLog }: Installation,
): ChildProcess {
  return spawn(join(release.folder, 'bin', name), ['-D', dataDirectoryArgument(directory), ...args], {
    ...user,
    cwd: directory,
    env: PROGRAM_ENVIRONMENT,
    // Detached, so that Ctrl-C in a terminal does not stop the server before the service has finished its requests.
    detached: name === 'postgres',
    stdio: ['ignore', serverLog.descriptor, serverLog.descriptor],
  });
}

/**
 * Returns the path of the data directory for a program that runs inside it. On Linux it does not go through the parent
 * directories, which may be closed to the user that PostgreSQL runs as.
 */
function dataDirectoryArgument(directory: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : directory;
}
