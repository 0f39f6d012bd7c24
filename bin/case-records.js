#!/usr/bin/env node
// The command line needs Node 26. This launcher runs on Node 20 or later and finds one.
// See docs/decisions/0030-node-for-the-command.md.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REQUIRED_NODE_MAJOR = 26;
const PARENT_CHECK_MS = 500;
// See docs/decisions/0013-small-young-generation.md.
const DAEMONS = ['serve', 'worker'];
const DAEMON_FLAGS = ['--max-semi-space-size=8'];
const HELP = [undefined, 'help', '--help', '-h'];

const root = new URL('../', import.meta.url);
// A checkout runs its sources. The package contains only what the build makes of them.
const isCheckout = existsSync(new URL('src/main.ts', root));
const main = new URL(isCheckout ? 'src/main.ts' : 'dist/main.js', root);
const args = process.argv.slice(2);
const isNewEnough = Number.parseInt(process.versions.node, 10) >= REQUIRED_NODE_MAJOR;

if (['--version', '-V', '-v', 'version'].includes(args[0])) {
  console.log(`case-records ${JSON.parse(readFileSync(new URL('package.json', root), 'utf8')).version}`);
} else if (isNewEnough && !DAEMONS.includes(args[0])) {
  await import(main.href);
} else if (!isCheckout && HELP.includes(args[0])) {
  // The help needs nothing of a new Node, so a reader does not wait for a download.
  await import(new URL('dist/server/process.js', root).href);
} else {
  try {
    run(isNewEnough ? process.execPath : await otherNode());
  } catch (error) {
    console.error(`case-records: ${error.message}`);
    process.exitCode = 1;
  }
}

async function otherNode() {
  const { findNode } = await import('./find-node.js');
  return findNode(REQUIRED_NODE_MAJOR, fileURLToPath(root));
}

/** Runs the command line in place of this process if the platform can do that, and otherwise as a child process. */
function run(node) {
  const flags = DAEMONS.includes(args[0]) ? DAEMON_FLAGS : [];
  const nodeArgs = [...flags, fileURLToPath(main), ...args];
  if (process.execve && process.platform !== 'win32') process.execve(node, [node, ...nodeArgs], process.env);
  const child = spawn(node, nodeArgs, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // If the parent dies without a signal, the child would keep running unnoticed.
  const parentPid = process.ppid;
  setInterval(() => process.ppid !== parentPid && child.kill('SIGTERM'), PARENT_CHECK_MS).unref();
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
}
