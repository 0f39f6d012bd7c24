import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** The log of the server. It is a file and not a pipe, because the server outlives a service that was killed. */
export type ServerLog = {
  path: string;
  descriptor: number;
  /** Returns the last error since the log was opened, preferring one of the process `pid`. */
  lastError(pid?: number): Promise<string>;
  close(): Promise<void>;
};

export function serverLogPath(dataDir: string): string {
  return join(dataDir, 'postgres.log');
}

export async function openServerLog(dataDir: string): Promise<ServerLog> {
  const path = serverLogPath(dataDir);
  const file = await openRotated(path);
  const start = (await file.stat()).size;
  return {
    path,
    descriptor: file.fd,
    lastError: async (pid) => findLastError((await readFile(path)).subarray(start).toString(), pid),
    close: () => file.close(),
  };
}

async function openRotated(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
  return open(path, 'a', 0o600);
}

function findLastError(output: string, pid = 0): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /\b(FATAL|PANIC|error):/.test(line));
  const last = errors.findLast((line) => line.includes(`[${pid}]`)) ?? errors.at(-1) ?? lines.at(-1);
  return last?.replace(/^.*?\b(FATAL|PANIC|error):\s*/, '').trim() ?? 'it gave no reason';
}
