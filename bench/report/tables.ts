import { OTHER_SERIES, SERVICE_SERIES, type SeriesName } from '../series.ts';
import { formatRatio, GOALS, type Goal, goalTable } from './goals.ts';
import { cpuRatioOf, type OperationReport, type Report, ratioOf, summaryOf } from './report.ts';
import type { Summary } from './summary.ts';
import { formatNumber, type Table } from './table.ts';

/** The tables of a report, for the terminal and for docs/benchmark.md. */
export const tablesOf = (report: Report): Table[] => [
  throughputTable(report),
  costTable(report),
  formTable(report),
  goalTable(report),
];

const cell = (operation: OperationReport, series: SeriesName, key: keyof Summary, digits: number): string =>
  formatNumber(summaryOf(operation, series)?.[key], digits);
const goalRatio = (operation: OperationReport, goal: Goal): string =>
  formatRatio(ratioOf(operation, goal.one, goal.other, goal.key), goal);

/** Plain requests to the service, beside everything else. */
const throughputTable = ({ operations }: Report): Table => ({
  title: 'Throughput of plain requests, per second',
  head: ['Operation', '/ baseline', '/ best baseline', 'service', ...OTHER_SERIES],
  rows: operations.map((operation) => [
    operation.name,
    goalRatio(operation, GOALS.baseline),
    goalRatio(operation, GOALS.bestBaseline),
    ...(['plain', ...OTHER_SERIES] as const).map((series) => cell(operation, series, 'requestsPerSecond', 0)),
  ]),
});

const COMPARED = ['plain', 'baseline', 'best-baseline'] as const;
const costTable = ({ operations }: Report): Table => ({
  title: 'Latency and CPU time of plain requests, in milliseconds: service / baseline / best baseline',
  head: ['Operation', 'p50', 'p99', 'p99 / baseline', 'p99 / best', 'CPU', 'database', 'CPU ratio', 'best'],
  rows: operations.map((operation) => {
    const all = (key: keyof Summary, digits: number) =>
      COMPARED.map((series) => cell(operation, series, key, digits)).join(' / ');
    return [
      operation.name,
      all('p50', 1),
      all('p99', 1),
      formatRatio(ratioOf(operation, 'plain', 'baseline', 'p99')),
      goalRatio(operation, GOALS.p99),
      all('processCpu', 2),
      all('databaseCpu', 2),
      formatNumber(cpuRatioOf(operation, 'baseline', 'plain'), 2),
      formatNumber(cpuRatioOf(operation, 'best-baseline', 'plain'), 2),
    ];
  }),
});

/** Each write in each form, by HTTP and by the typed client. */
const formTable = ({ operations }: Report): Table => ({
  title: 'Writes in each form',
  head: [
    'Operation, form',
    'req/s',
    '/ plain',
    '/ HTTP',
    '/ baseline',
    '/ best',
    'p50',
    'p99',
    'CPU',
    'database',
    'load',
  ],
  rows: operations
    .filter(({ kind }) => kind === 'write')
    .flatMap((operation) => SERVICE_SERIES.map((series) => [operation, series] as const))
    .filter(([operation, series]) => summaryOf(operation, series))
    .map(([operation, series]) => {
      const goal = Object.values<Goal>(GOALS).find(({ one, other }) => one === series && other === 'plain');
      const sameForm = series === 'client-key' ? GOALS.client : series === 'client-if-match' && GOALS.clientIfMatch;
      return [
        `${operation.name}, ${series}`,
        cell(operation, series, 'requestsPerSecond', 0),
        series === 'plain' ? '' : formatRatio(ratioOf(operation, series, 'plain'), goal),
        sameForm ? goalRatio(operation, sameForm) : '',
        formatRatio(ratioOf(operation, series, 'baseline')),
        formatRatio(ratioOf(operation, series, 'best-baseline')),
        cell(operation, series, 'p50', 1),
        cell(operation, series, 'p99', 1),
        cell(operation, series, 'processCpu', 2),
        cell(operation, series, 'databaseCpu', 2),
        cell(operation, series, 'loadCpu', 2),
      ];
    }),
});
