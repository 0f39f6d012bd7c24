#!/usr/bin/env node
// The Node on the path may be too old, so this runs the command line on the Node that npm installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REQUIRED_NODE_MAJOR = 26;
const PARENT_CHECK_MS = 500;
// See docs/decisions/0013-small-young-generation.md.
const NODE_FLAGS = ['--max-semi-space-size=8'];
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const installedNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const isNewEnough = Number.parseInt(process.versions.node, 10) >= REQUIRED_NODE_MAJOR;

if (isNewEnough || existsSync(installedNode)) {
  const args = [...NODE_FLAGS, main, ...process.argv.slice(2)];
  const child = spawn(isNewEnough ? process.execPath : installedNode, args, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // If the parent dies without a signal, the child would keep running unnoticed.
  const parentPid = process.ppid;
  setInterval(() => process.ppid !== parentPid && child.kill('SIGTERM'), PARENT_CHECK_MS).unref();
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
} else {
  console.error(`case-records: Node ${REQUIRED_NODE_MAJOR} or later is required. Run "npm ci" to install it.`);
  process.exitCode = 1;
}
