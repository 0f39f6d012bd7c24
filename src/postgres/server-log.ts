import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LARGEST_LOG = 10 * 1024 * 1024;

/** A file and not a pipe, because the server has to survive the service that started it. */
export type ServerLog = {
  path: string;
  descriptor: number;
  /** The last complaint since this log was opened, if there is one of the given process then that. */
  lastComplaint(pid?: number): Promise<string>;
  close(): Promise<void>;
};

export function serverLogPath(dataDir: string): string {
  return join(dataDir, 'postgres.log');
}

export async function openServerLog(dataDir: string): Promise<ServerLog> {
  const path = serverLogPath(dataDir);
  const file = await openBounded(path);
  const start = (await file.stat()).size;
  return {
    path,
    descriptor: file.fd,
    lastComplaint: async (pid) => lastComplaintIn((await readFile(path)).subarray(start).toString(), pid),
    close: () => file.close(),
  };
}

async function openBounded(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  if (size > LARGEST_LOG) await rename(path, `${path}.1`);
  return open(path, 'a', 0o600);
}

function lastComplaintIn(output: string, pid = 0): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const complaints = lines.filter((line) => /\b(FATAL|PANIC|error):/.test(line));
  const last = complaints.findLast((line) => line.includes(`[${pid}]`)) ?? complaints.at(-1) ?? lines.at(-1);
  return last?.replace(/^.*?\b(FATAL|PANIC|error):\s*/, '').trim() ?? 'it gave no reason';
}
