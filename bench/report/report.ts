import type { RowChanges } from '../equivalence.ts';
import type { Round } from '../measure.ts';
import type { Operation } from '../operations.ts';
import type { ServerName } from '../servers.ts';
import type { MemoryMegabytes } from '../usage.ts';
import type { Machine } from './machine.ts';
import { computeCpuRatio, ratioByRound, type Spread, type Summary, summarise } from './summary.ts';
import { formatNumber } from './table.ts';

export type OperationReport = {
  id: string;
  name: string;
  kind: Operation['kind'];
  /** Throughput of the service divided by that of the baseline, per round. */
  ratio: Spread;
  p99Ratio: Spread;
  /** CPU time of process and database: baseline divided by service. Other work on the machine affects it least. */
  cpuRatio: number | undefined;
  service: Summary;
  baseline: Summary;
  /** Row changes of one request, which are the same on both servers. */
  change: RowChanges;
};

export type Report = {
  at: string;
  machine: Machine;
  load: { before: number[]; after: number[] };
  connections: number;
  rounds: number;
  seconds: number;
  cases: number;
  operations: OperationReport[];
  memory: Partial<Record<ServerName, MemoryMegabytes>>;
};

export const createOperationReport = (
  { id, name, kind }: Operation,
  change: RowChanges,
  rounds: Record<ServerName, Round>[],
): OperationReport => {
  const serviceRounds = rounds.map((round) => round.service);
  const baselineRounds = rounds.map((round) => round.baseline);
  const [service, baseline] = [summarise(serviceRounds), summarise(baselineRounds)];
  return {
    id,
    name,
    kind,
    ratio: ratioByRound(serviceRounds, baselineRounds, 'requestsPerSecond'),
    p99Ratio: ratioByRound(serviceRounds, baselineRounds, 'p99'),
    cpuRatio: computeCpuRatio(baseline, service),
    service,
    baseline,
    change,
  };
};

/** Target: minimum throughput of lists and of writes relative to the baseline. */
export const MIN_RATIO = { read: 0.85, write: 0.8 };

export const TABLE_HEAD = [
  'Operation',
  'ratio (min..max)',
  'req/s',
  'baseline',
  'p50 ms',
  'baseline',
  'p99 ms',
  'baseline',
  'p99 ratio',
  'CPU ms',
  'baseline',
  'database ms',
  'baseline',
  'CPU ratio',
];

export const tableRows = ({ operations }: Report): string[][] =>
  operations.map(({ name, kind, ratio, p99Ratio, cpuRatio, service, baseline }) => {
    const both = (key: keyof Summary, digits: number) => [
      formatNumber(service[key], digits),
      formatNumber(baseline[key], digits),
    ];
    const below = ratio.median < MIN_RATIO[kind] ? '*' : ' ';
    return [
      name,
      `${below}${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      ...both('requestsPerSecond', 0),
      ...both('p50', 1),
      ...both('p99', 1),
      p99Ratio.median.toFixed(2),
      ...both('processCpu', 2),
      ...both('databaseCpu', 2),
      formatNumber(cpuRatio, 2),
    ];
  });
