import { fileURLToPath } from 'node:url';
import { findNode } from '../bin/find-node.js';

// `npm ci` runs this on the Node of the system if the Node that it has installed does not start.
try {
  await findNode(26, fileURLToPath(new URL('../', import.meta.url)));
} catch (error) {
  console.error(`case-records: ${error.message}`);
  process.exitCode = 1;
}
