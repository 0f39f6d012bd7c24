import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Size } from './fill.ts';
import { OPERATIONS } from './operations.ts';

export type Options = {
  companies: number;
  size: Size;
  connections: number;
  rounds: number;
  /** Of one round, and of the warm-up before the first. */
  seconds: number;
  warmUp: number;
  operations: readonly string[];
  out: string;
  chart: string | undefined;
  /** The floor shares commits as the service does. */
  gathers: boolean;
  /** Where the service writes down what its time goes into. */
  profile: string | undefined;
};

const PER_CASE = { people: 5, interactions: 100, invoices: 20, appointments: 20 };
// The service's own code takes some ten thousand requests until the compiler has done with it.
const FULL = { cases: 1_000, rounds: 5, seconds: 2, warmUp: 12 };
const QUICK = { cases: 200, rounds: 3, seconds: 0.5, warmUp: 0.5 };

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
  'gathering-floor': { type: 'boolean', default: false },
  profile: { type: 'string' },
} as const;

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({ args, options: FLAGS });
  const usual = values.quick ? QUICK : FULL;
  const number = (name: string, text: string | undefined, byDefault: number): number => {
    const value = text === undefined ? byDefault : Number(text);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${text}".`);
    return value;
  };
  const cases = number('cases', values.cases, usual.cases);
  return {
    companies: Math.min(20, cases),
    size: { cases, ...PER_CASE },
    connections: number('connections', values.connections, 32),
    rounds: number('rounds', values.rounds, usual.rounds),
    seconds: number('seconds', values.seconds, usual.seconds),
    warmUp: number('warm-up', values['warm-up'], usual.warmUp),
    operations: readOnly(values.only),
    out: resolve(values.out),
    gathers: values['gathering-floor'],
    chart: values.chart ? resolve('docs/benchmark.svg') : undefined,
    profile: values.profile && resolve(values.profile),
  };
}

function readOnly(text: string | undefined): string[] {
  const all = OPERATIONS.map(({ id }) => id);
  const asked = text?.split(',') ?? all;
  const unknown = asked.filter((id) => !all.includes(id));
  if (unknown.length > 0) throw new Error(`--only knows ${all.join(', ')}; not ${unknown.join(', ')}.`);
  return asked;
}
