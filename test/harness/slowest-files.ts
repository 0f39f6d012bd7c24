import type { TestEvent } from 'node:test/reporters';

/** A reporter of node:test that prints the slowest files of a run when it has ended. */

const MAX_FILES = 10;

export default async function* slowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  for await (const { type, data } of events) {
    // A file is a test or a suite that is named by its path. Loading the file counts only if it has its own process.
    if (type !== 'test:complete' || !data.name.endsWith('.test.ts')) continue;
    files.push({ file: data.name, seconds: data.details.duration_ms / 1_000 });
  }
  files.sort((a, b) => b.seconds - a.seconds);
  yield `\nThe slowest of ${files.length} files:\n`;
  for (const { file, seconds } of files.slice(0, MAX_FILES)) yield `${seconds.toFixed(1).padStart(7)} s  ${file}\n`;
}
