import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../test/harness/postgres.ts';
import { type Figures, holds, type Proof, Skipped } from './proof.ts';
import { PROOFS } from './proofs.ts';

/** npm run chaos [-- --short] [--only crash,overload]; SEED=… repeats a run. */

// Where there is no terminal to write over.
const LINE_EVERY_MS = 5_000;

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false }, only: { type: 'string' } } });
const names = values.only?.split(',');
const unknown = names?.find((name) => !PROOFS.some((proof) => proof.name === name));
if (unknown !== undefined) {
  console.error(`There is no proof "${unknown}". There are: ${PROOFS.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`SEED=${seed}${values.short ? ', short' : ''}`);

const rows: Record<string, unknown>[] = [];
const told: string[] = [];
let broken = false;
let skipped = 0;
await globalSetup();
for (const proof of PROOFS) {
  if (names && !names.includes(proof.name)) continue;
  await prove(proof);
}
await globalTeardown();
console.table(rows);
for (const line of told) console.log(line);
const whole = skipped === 0 ? 'Everything holds.' : `What was run holds; ${skipped} could not be run.`;
console.log(broken ? 'Something does not hold.' : whole);
process.exit(broken ? 1 : 0);

async function prove(proof: Proof): Promise<void> {
  const begun = performance.now();
  const seconds = () => Math.round((performance.now() - begun) / 1000);
  let shown = '';
  let lineAt = begun;
  const progress = (text: string) => {
    if (text === shown) return;
    shown = text;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${proof.name}: ${text} (${seconds()} s)`);
    else if (performance.now() - lineAt > LINE_EVERY_MS) {
      console.error(`  ${text} (${seconds()} s)`);
      lineAt = performance.now();
    }
  };
  console.error(`${proof.name}: ${proof.about}`);
  try {
    const figures = await proof.run({ seed, short: values.short, progress });
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    rows.push(rowOf(proof, figures, seconds()));
    for (const note of figures.notes) told.push(`${proof.name}: ${note}`);
    for (const fault of [...figures.faults, ...figures.late]) told.push(`${proof.name}: FAULT: ${fault}`);
    if (!holds(figures)) broken = true;
  } catch (error) {
    if (error instanceof Skipped) {
      rows.push({ proof: proof.name, 'must be 0': 'skipped' });
      told.push(`${proof.name}: SKIPPED: ${error.message}`);
      skipped++;
      return;
    }
    broken = true;
    rows.push({ proof: proof.name, 'must be 0': 'failed' });
    told.push(`${proof.name}: FAULT: ${(error as Error).stack}`);
  }
}

function rowOf({ name }: Proof, figures: Figures, seconds: number): Record<string, unknown> {
  return {
    proof: name,
    rounds: figures.rounds,
    requests: figures.requests,
    acknowledged: figures.acknowledged,
    lost: figures.lost,
    twice: figures.twice,
    'half written': figures.halfWritten,
    leaks: figures.leaks,
    '5xx by input': figures.errors,
    'other faults': figures.faults.length + figures.late.length,
    seconds,
  };
}
