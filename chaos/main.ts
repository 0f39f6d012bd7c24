import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../test/harness/postgres.ts';
import { type ChaosTest, passed, type Results, SkippedError } from './chaos-test.ts';
import { CHAOS_TESTS } from './chaos-tests.ts';

/** Runs the chaos tests: npm run chaos [-- --short] [--only crash,overload]; SEED=… repeats a run. */

// Without a terminal, progress is printed line by line.
const PROGRESS_INTERVAL_MS = 5_000;

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false }, only: { type: 'string' } } });
const names = values.only?.split(',');
const unknown = names?.find((name) => !CHAOS_TESTS.some((chaosTest) => chaosTest.name === name));
if (unknown !== undefined) {
  console.error(`There is no chaos test "${unknown}". Choose from: ${CHAOS_TESTS.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`SEED=${seed}${values.short ? ', short' : ''}`);

const rows: Record<string, unknown>[] = [];
const remarks: string[] = [];
let anyFailed = false;
let skippedCount = 0;
await globalSetup();
for (const chaosTest of CHAOS_TESTS) {
  if (names && !names.includes(chaosTest.name)) continue;
  await runTest(chaosTest);
}
await globalTeardown();
console.table(rows);
for (const remark of remarks) console.log(remark);
const success =
  skippedCount === 0 ? 'All chaos tests passed.' : `All chaos tests passed, except ${skippedCount} that were skipped.`;
console.log(anyFailed ? 'Some chaos tests failed.' : success);
process.exit(anyFailed ? 1 : 0);

async function runTest(chaosTest: ChaosTest): Promise<void> {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  let lastText = '';
  let printedAt = startedAt;
  const progress = (text: string) => {
    if (text === lastText) return;
    lastText = text;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${chaosTest.name}: ${text} (${seconds()} s)`);
    else if (performance.now() - printedAt > PROGRESS_INTERVAL_MS) {
      console.error(`  ${text} (${seconds()} s)`);
      printedAt = performance.now();
    }
  };
  console.error(`${chaosTest.name}: ${chaosTest.description}`);
  try {
    const results = await chaosTest.run({ seed, short: values.short, progress });
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    rows.push(toRow(chaosTest, results, seconds()));
    for (const note of results.notes) remarks.push(`${chaosTest.name}: ${note}`);
    for (const fault of [...results.faults, ...results.timingFaults])
      remarks.push(`${chaosTest.name}: FAULT: ${fault}`);
    if (!passed(results)) anyFailed = true;
  } catch (error) {
    if (error instanceof SkippedError) {
      rows.push({ test: chaosTest.name, 'must be 0': 'skipped' });
      remarks.push(`${chaosTest.name}: SKIPPED: ${error.message}`);
      skippedCount++;
      return;
    }
    anyFailed = true;
    rows.push({ test: chaosTest.name, 'must be 0': 'failed' });
    remarks.push(`${chaosTest.name}: FAULT: ${(error as Error).stack}`);
  }
}

function toRow({ name }: ChaosTest, results: Results, seconds: number): Record<string, unknown> {
  return {
    test: name,
    rounds: results.rounds,
    requests: results.requests,
    acknowledged: results.acknowledged,
    lost: results.lost,
    duplicated: results.duplicated,
    'half written': results.halfWritten,
    leaks: results.leaks,
    '5xx by input': results.serverErrors,
    'other faults': results.faults.length + results.timingFaults.length,
    seconds,
  };
}
