import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OPERATIONS } from './operations.ts';
import type { DatasetSize } from './seed.ts';

export type Options = {
  companies: number;
  datasetSize: DatasetSize;
  connections: number;
  rounds: number;
  /** Duration of one round. */
  seconds: number;
  /** Duration of the warm-up before the first round, in seconds. */
  warmUp: number;
  operations: readonly string[];
  out: string;
  chart: string | undefined;
  /** Whether the baseline batches statements and shares commits like the service. */
  batchingBaseline: boolean;
  /** Folder for CPU profiles of the service. */
  profile: string | undefined;
};

const RECORDS_PER_CASE = { people: 5, interactions: 100, invoices: 20, appointments: 20 };
// V8 needs some ten thousand requests until it has compiled the code of the service.
const FULL_DEFAULTS = { cases: 1_000, rounds: 5, seconds: 2, warmUp: 12 };
const QUICK_DEFAULTS = { cases: 200, rounds: 3, seconds: 0.5, warmUp: 0.5 };

const FLAGS = {
  quick: { type: 'boolean', default: false },
  cases: { type: 'string' },
  connections: { type: 'string', default: '32' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  only: { type: 'string' },
  out: { type: 'string', default: 'bench/results/latest.json' },
  chart: { type: 'boolean', default: false },
  'batching-baseline': { type: 'boolean', default: false },
  profile: { type: 'string' },
} as const;

export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({ args, options: FLAGS });
  const defaults = values.quick ? QUICK_DEFAULTS : FULL_DEFAULTS;
  const parseNumber = (name: string, text: string | undefined, defaultValue: number): number => {
    const value = text === undefined ? defaultValue : Number(text);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${text}".`);
    return value;
  };
  const cases = parseNumber('cases', values.cases, defaults.cases);
  return {
    companies: Math.min(20, cases),
    datasetSize: { cases, ...RECORDS_PER_CASE },
    connections: parseNumber('connections', values.connections, 32),
    rounds: parseNumber('rounds', values.rounds, defaults.rounds),
    seconds: parseNumber('seconds', values.seconds, defaults.seconds),
    warmUp: parseNumber('warm-up', values['warm-up'], defaults.warmUp),
    operations: parseOnly(values.only),
    out: resolve(values.out),
    batchingBaseline: values['batching-baseline'],
    chart: values.chart ? resolve('docs/benchmark.svg') : undefined,
    profile: values.profile && resolve(values.profile),
  };
}

function parseOnly(text: string | undefined): string[] {
  const all = OPERATIONS.map(({ id }) => id);
  const selected = text?.split(',') ?? all;
  const unknown = selected.filter((id) => !all.includes(id));
  if (unknown.length > 0) throw new Error(`--only must be of ${all.join(', ')}; not ${unknown.join(', ')}.`);
  return selected;
}
