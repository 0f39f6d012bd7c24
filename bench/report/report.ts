import type { RowChanges } from '../equivalence.ts';
import type { Round } from '../measure.ts';
import type { Operation } from '../operations.ts';
import type { SeriesName } from '../series.ts';
import type { MemoryMegabytes } from '../usage.ts';
import type { Machine } from './machine.ts';
import {
  computeCpuRatio,
  overStarts,
  ratioByRound,
  type Spread,
  type Summary,
  summarise,
  toSpread,
} from './summary.ts';

type RoundsBySeries = Partial<Record<SeriesName, Round[]>>;

export type OperationReport = {
  id: string;
  name: string;
  kind: Operation['kind'];
  /** Row changes of one request, which are the same on all servers. */
  change: RowChanges;
  /** The rounds of each series, for each start of the processes. */
  starts: RoundsBySeries[];
};

export type Report = {
  at: string;
  machine: Machine;
  load: { before: number[]; after: number[] };
  connections: number;
  rounds: number;
  seconds: number;
  starts: number;
  cases: number;
  operations: OperationReport[];
  /** Memory of the servers after the last start. */
  memory: Record<string, MemoryMegabytes>;
  /** What was not measured, and why. */
  skipped: string[];
};

/** Turns the rounds of all series into the rounds of each series. */
export const bySeries = (rounds: Partial<Record<SeriesName, Round>>[]): RoundsBySeries => {
  const names = Object.keys(rounds[0] ?? {}) as SeriesName[];
  return Object.fromEntries(names.map((name) => [name, rounds.flatMap((round) => round[name] ?? [])]));
};

/** Returns the medians of a series; undefined if it was not measured. */
export function summaryOf({ starts }: OperationReport, series: SeriesName): Summary | undefined {
  const summaries = starts.flatMap((start) => (start[series] ? [summarise(start[series])] : []));
  if (summaries.length === 0) return undefined;
  const keys = Object.keys(summaries[0] as Summary) as (keyof Summary)[];
  const median = (key: keyof Summary) => {
    const known = summaries.flatMap((summary) => summary[key] ?? []);
    return known.length === 0 ? undefined : toSpread(known).median;
  };
  return Object.fromEntries(keys.map((key) => [key, median(key)])) as Summary;
}

/** Returns one series divided by another, per round; undefined if one of them was not measured. */
export function ratioOf(
  { starts }: OperationReport,
  one: SeriesName,
  other: SeriesName,
  key: 'requestsPerSecond' | 'p99' = 'requestsPerSecond',
): Spread | undefined {
  const spreads = starts.flatMap((start) =>
    start[one] && start[other] ? [ratioByRound(start[one], start[other], key)] : [],
  );
  return spreads.length === 0 ? undefined : overStarts(spreads);
}

/** Returns the CPU time per request, process and database together, of one series divided by that of another. */
export function cpuRatioOf(report: OperationReport, one: SeriesName, other: SeriesName): number | undefined {
  const [first, second] = [summaryOf(report, one), summaryOf(report, other)];
  return first && second && computeCpuRatio(first, second);
}
