import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Returns the first of the programs that runs, or undefined if none does. test/slow/packages.sh installs them. */
export async function findProgram(programs: readonly string[], versionFlag: string): Promise<string | undefined> {
  for (const program of programs) {
    const works = await promisify(execFile)(program, [versionFlag]).then(
      () => true,
      () => false,
    );
    if (works) return program;
  }
  return undefined;
}
