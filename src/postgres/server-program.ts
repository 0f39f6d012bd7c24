import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { PROGRAM_ENVIRONMENT, type Release } from './release.ts';
import type { ServerLog } from './server-log.ts';
import type { ServerUser } from './server-user.ts';

/** What it takes to run a program of PostgreSQL on a data directory. */
export type Installation = { release: Release; user: ServerUser | undefined; serverLog: ServerLog };

export function runProgram(
  name: 'initdb' | 'postgres',
  args: string[],
  directory: string,
  { release, user, serverLog }: Installation,
): ChildProcess {
  return spawn(join(release.folder, 'bin', name), ['-D', ownNameOf(directory), ...args], {
    ...user,
    cwd: directory,
    env: PROGRAM_ENVIRONMENT,
    // Ctrl-C in a terminal would otherwise stop the server before the service has finished its requests.
    detached: name === 'postgres',
    stdio: ['ignore', serverLog.descriptor, serverLog.descriptor],
  });
}

/**
 * How a program that runs in the data directory names it. On Linux this reaches the directory without
 * entering the ones above it, which may be closed to the user PostgreSQL runs as.
 */
function ownNameOf(directory: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : directory;
}
