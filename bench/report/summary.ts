import type { Round } from '../measure.ts';

/** The middle of the rounds, and how far apart they lay. */
export type Spread = { median: number; min: number; max: number };

export function spreadOf(values: number[]): Spread {
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

/** The median of each figure over the rounds. */
export function summaryOf(rounds: Round[]): Summary {
  const median = (key: keyof Round) => spreadOf(rounds.map((round) => round[key] ?? Number.NaN)).median;
  const known = (key: keyof Round) => (Number.isNaN(median(key)) ? undefined : median(key));
  return {
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: median('requestsPerSecond'),
    p50: median('p50'),
    p99: median('p99'),
    processCpu: known('processCpu'),
    databaseCpu: known('databaseCpu'),
  };
}

/** Round by round, so that what slows the machine down for a while slows both. */
export const ratioOf = (ones: Round[], others: Round[], key: 'requestsPerSecond' | 'p50' | 'p99'): Spread =>
  spreadOf(ones.map((one, i) => one[key] / (others[i]?.[key] ?? Number.NaN)));

const allCpu = ({ processCpu = Number.NaN, databaseCpu = Number.NaN }: Summary) => processCpu + databaseCpu;

/** CPU time of a request, process and database together: that of one by that of another. */
export const cpuRatioOf = (one: Summary, other: Summary): number | undefined =>
  allCpu(one) / allCpu(other) || undefined;
