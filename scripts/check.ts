import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

/**
 * `npm run check`: everything that must hold before a change lands, except the tests. The parts are independent, so as
 * many run concurrently as there are processors. What a part prints appears when it has ended.
 */

/** Those that take longest come first, so that none of them runs alone at the end. */
const PARTS = [
  'node --disable-warning=ExperimentalWarning scripts/check-patterns.ts',
  'node scripts/message-gallery.ts --check',
  'biome check --error-on-warnings',
  'node scripts/console.ts --check',
  'node scripts/openapi.ts --check',
  'node scripts/sql.ts --check',
  'tsc',
  'tsc -p console',
  'tsc -p packages/client',
  'node scripts/client.ts --check',
  'node scripts/packages.ts --check',
  'node scripts/check-imports.ts',
];

const failed: string[] = [];
const waiting = PARTS.values();
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const part of waiting) if (!(await passes(part))) failed.push(part);
  }),
);
for (const part of failed) console.error(`failed: ${part}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function passes(part: string): Promise<boolean> {
  const startedAt = performance.now();
  const [program = '', ...args] = part.split(' ');
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<boolean>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
  const [output, errors, succeeded] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${succeeded ? 'ok' : 'FAILED'}  ${part} (${seconds} s)`);
  process.stdout.write(output);
  process.stderr.write(errors);
  return succeeded;
}
