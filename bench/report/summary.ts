import type { Round } from '../measure.ts';

/** Median and range over the rounds. */
export type Spread = { median: number; min: number; max: number };

export function toSpread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
  return { median, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

export type Summary = { requests: number } & Omit<{ [K in keyof Round]: number | undefined }, 'requests'> & {
    requestsPerSecond: number;
    p50: number;
    p99: number;
  };

/** Returns the median of each value over the rounds. */
export function summarise(rounds: Round[]): Summary {
  const median = (key: keyof Round) => toSpread(rounds.map((round) => round[key] ?? Number.NaN)).median;
  const known = (key: keyof Round) => (Number.isNaN(median(key)) ? undefined : median(key));
  return {
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: median('requestsPerSecond'),
    p50: median('p50'),
    p99: median('p99'),
    processCpu: known('processCpu'),
    databaseCpu: known('databaseCpu'),
    loadCpu: known('loadCpu'),
  };
}

/** Returns the median of the medians of each start, and the range over all rounds. */
export const overStarts = (spreads: Spread[]): Spread => ({
  median: toSpread(spreads.map(({ median }) => median)).median,
  min: Math.min(...spreads.map(({ min }) => min)),
  max: Math.max(...spreads.map(({ max }) => max)),
});

/** Ratios are taken per round, so that a temporary slowdown of the machine affects both sides. */
export const ratioByRound = (rounds: Round[], otherRounds: Round[], key: 'requestsPerSecond' | 'p50' | 'p99'): Spread =>
  toSpread(rounds.map((round, i) => round[key] / (otherRounds[i]?.[key] ?? Number.NaN)));

const totalCpu = ({ processCpu = Number.NaN, databaseCpu = Number.NaN }: Summary) => processCpu + databaseCpu;

/** Returns the CPU time per request, process and database together, of the first divided by the second. */
export const computeCpuRatio = (first: Summary, second: Summary): number | undefined =>
  totalCpu(first) / totalCpu(second) || undefined;
