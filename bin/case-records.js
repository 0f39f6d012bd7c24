#!/usr/bin/env node
// Runs the command line on the Node that npm has fetched: the one that was found on the path may be older.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NEEDED = 26;
const PARENT_CHECK_MS = 500;
// See docs/decisions/0013-small-young-generation.md.
const FLAGS = ['--max-semi-space-size=8'];
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const fetched = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const newEnough = Number.parseInt(process.versions.node, 10) >= NEEDED;

if (newEnough || existsSync(fetched)) {
  const args = [...FLAGS, main, ...process.argv.slice(2)];
  const child = spawn(newEnough ? process.execPath : fetched, args, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // Whoever started this may be gone without a signal; the child would go on unseen.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), PARENT_CHECK_MS).unref();
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
} else {
  console.error(`case-records: Node ${NEEDED} or later is needed; "npm ci" fetches it.`);
  process.exitCode = 1;
}
