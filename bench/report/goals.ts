import type { SeriesName } from '../series.ts';
import { type OperationReport, type Report, ratioOf } from './report.ts';
import type { Spread } from './summary.ts';
import type { Table } from './table.ts';

/** What the benchmark has to show: a bound for the ratio of two series, for every operation that has both. */
export type Goal = {
  text: string;
  one: SeriesName;
  other: SeriesName;
  key: 'requestsPerSecond' | 'p99';
  bound: number;
};

export const GOALS = {
  baseline: {
    text: 'Throughput: at least 0.95 of the baseline',
    one: 'plain',
    other: 'baseline',
    key: 'requestsPerSecond',
    bound: 0.95,
  },
  bestBaseline: {
    text: 'Throughput: at least 0.75 of the best baseline',
    one: 'plain',
    other: 'best-baseline',
    key: 'requestsPerSecond',
    bound: 0.75,
  },
  p99: {
    text: 'p99: at most 1.3 times that of the best baseline',
    one: 'plain',
    other: 'best-baseline',
    key: 'p99',
    bound: 1.3,
  },
  key: {
    text: 'Writes with a key: at least 0.90 of plain ones',
    one: 'key',
    other: 'plain',
    key: 'requestsPerSecond',
    bound: 0.9,
  },
  ifMatch: {
    text: 'Writes with a key and `If-Match`: at least 0.80 of plain ones',
    one: 'if-match',
    other: 'plain',
    key: 'requestsPerSecond',
    bound: 0.8,
  },
  client: {
    text: 'Typed client with a key: at least 0.85 of HTTP with a key',
    one: 'client-key',
    other: 'key',
    key: 'requestsPerSecond',
    bound: 0.85,
  },
  clientIfMatch: {
    text: 'Typed client with a key and `If-Match`: at least 0.85 of HTTP with both',
    one: 'client-if-match',
    other: 'if-match',
    key: 'requestsPerSecond',
    bound: 0.85,
  },
} as const satisfies Record<string, Goal>;

export const isMissed = ({ key, bound }: Goal, { median }: Spread): boolean =>
  key === 'p99' ? median > bound : median < bound;

/** A ratio with its range. A star marks a missed goal. */
export const formatRatio = (ratio: Spread | undefined, goal?: Goal): string => {
  if (!ratio) return '–';
  const { median, min, max } = ratio;
  return `${goal && isMissed(goal, ratio) ? '*' : ''}${median.toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`;
};

/** For each goal, the lowest and the highest result, and the operations that miss it. */
export function goalTable({ operations }: Report): Table {
  const rows = Object.values(GOALS).map((goal: Goal) => {
    const results = operations
      .flatMap((operation) => toResult(operation, goal))
      .sort((a, b) => a.ratio.median - b.ratio.median);
    const [lowest, highest] = [results[0], results.at(-1)];
    if (!lowest || !highest) return [goal.text, 'not measured', ''];
    const missed = results.filter(({ ratio }) => isMissed(goal, ratio)).map(({ name }) => name);
    const range = `${lowest.ratio.median.toFixed(2)} to ${highest.ratio.median.toFixed(2)}`;
    return [goal.text, range, missed.length === 0 ? 'none' : missed.join(', ')];
  });
  return { title: 'Goals', head: ['Goal', 'Result', 'Missed by'], rows };
}

function toResult(operation: OperationReport, { one, other, key }: Goal): { name: string; ratio: Spread }[] {
  const ratio = ratioOf(operation, one, other, key);
  return ratio ? [{ name: operation.name, ratio }] : [];
}
