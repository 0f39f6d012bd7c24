import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OPERATIONS } from './operations.ts';
import type { DatasetSize } from './seed.ts';
import { FORM_WORDS, type FormWord, OTHER_SERIES, type OtherSeries } from './series.ts';

export type Options = {
  companies: number;
  datasetSize: DatasetSize;
  connections: number;
  rounds: number;
  /** Duration of one round. */
  seconds: number;
  /** Duration of the warm-up before the first round, in seconds. */
  warmUp: number;
  /** How often everything is repeated with new processes and a new database. */
  starts: number;
  operations: readonly string[];
  forms: readonly FormWord[];
  /** What the service is compared with. */
  against: readonly OtherSeries[];
  out: string;
  /** A report of an earlier run, which is shown instead of a new one. */
  results: string | undefined;
  /** Whether the chart and the tables of the documentation are written. */
  docs: boolean;
  /** Whether the causes of slow requests are recorded. */
  trace: boolean;
  /** Folder for CPU profiles of the service. */
  profile: string | undefined;
  /** Folder with an earlier revision and its packages, with whose service `company/writes.ts` compares. */
  earlier: string | undefined;
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
  starts: { type: 'string', default: '1' },
  only: { type: 'string' },
  forms: { type: 'string' },
  against: { type: 'string' },
  out: { type: 'string', default: 'bench/results/latest.json' },
  results: { type: 'string' },
  docs: { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  profile: { type: 'string' },
  earlier: { type: 'string' },
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
    starts: parseNumber('starts', values.starts, 1),
    operations: parseList(
      'only',
      values.only,
      OPERATIONS.map(({ id }) => id),
    ),
    forms: parseList('forms', values.forms, FORM_WORDS),
    against: parseList('against', values.against, OTHER_SERIES),
    out: resolve(values.out),
    results: values.results && resolve(values.results),
    docs: values.docs,
    trace: values.trace,
    profile: values.profile && resolve(values.profile),
    earlier: values.earlier && resolve(values.earlier),
  };
}

function parseList<T extends string>(name: string, text: string | undefined, all: readonly T[]): readonly T[] {
  if (text === undefined) return all;
  const selected = text.split(',');
  const unknown = selected.filter((word) => !all.some((one) => one === word));
  if (unknown.length > 0) throw new Error(`--${name} must be of ${all.join(', ')}; not ${unknown.join(', ')}.`);
  return all.filter((one) => selected.includes(one));
}
