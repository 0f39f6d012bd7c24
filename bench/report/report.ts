import type { Round } from '../measure.ts';
import type { Operation } from '../operations.ts';
import type { Change } from '../same-work.ts';
import type { ServerName } from '../servers.ts';
import type { Memory } from '../usage.ts';
import type { Machine } from './machine.ts';
import { cpuRatioOf, ratioOf, type Spread, type Summary, summaryOf } from './summary.ts';
import { figure } from './table.ts';

export type OperationReport = {
  id: string;
  name: string;
  kind: Operation['kind'];
  /** Throughput of the service by that of the floor, round by round. */
  ratio: Spread;
  p99Ratio: Spread;
  /** CPU time of process and database together: the floor's by the service's. Other work on the machine moves it least. */
  cpuRatio: number | undefined;
  service: Summary;
  floor: Summary;
  /** What one request changed in the database, on both alike. */
  change: Change;
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
  memory: Partial<Record<ServerName, Memory>>;
};

export const operationReport = (
  { id, name, kind }: Operation,
  change: Change,
  rounds: Record<ServerName, Round>[],
): OperationReport => {
  const [service, floor] = [rounds.map((round) => round.service), rounds.map((round) => round.floor)];
  const [ours, theirs] = [summaryOf(service), summaryOf(floor)];
  return {
    id,
    name,
    kind,
    ratio: ratioOf(service, floor, 'requestsPerSecond'),
    p99Ratio: ratioOf(service, floor, 'p99'),
    cpuRatio: cpuRatioOf(theirs, ours),
    service: ours,
    floor: theirs,
    change,
  };
};

/** What a list, and what a write, should at least reach of the floor. */
export const GOAL = { read: 0.85, write: 0.8 };

export const HEAD = [
  'Operation',
  'ratio (min..max)',
  'req/s',
  'floor',
  'p50 ms',
  'floor',
  'p99 ms',
  'floor',
  'p99 ratio',
  'CPU ms',
  'floor',
  'database ms',
  'floor',
  'CPU ratio',
];

export const rowsOf = ({ operations }: Report): string[][] =>
  operations.map(({ name, kind, ratio, p99Ratio, cpuRatio, service, floor }) => {
    const both = (key: keyof Summary, digits: number) => [figure(service[key], digits), figure(floor[key], digits)];
    const below = ratio.median < GOAL[kind] ? '*' : ' ';
    return [
      name,
      `${below}${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
      ...both('requestsPerSecond', 0),
      ...both('p50', 1),
      ...both('p99', 1),
      p99Ratio.median.toFixed(2),
      ...both('processCpu', 2),
      ...both('databaseCpu', 2),
      figure(cpuRatio, 2),
    ];
  });
