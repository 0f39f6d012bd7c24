import { GOALS, type Goal } from './goals.ts';
import { formatLoad } from './machine.ts';
import { type OperationReport, type Report, ratioOf, summaryOf } from './report.ts';

/** Draws two bars per operation: the throughput relative to each baseline. Supports light and dark mode. */

const LEFT = 170;
const PLOT = 440;
const TOP = 92;
const ROW = 46;
const BAR = 15;
const WIDTH = 760;
const MIN_SCALE = 1.1;

const STYLE = `
    .page { fill: #ffffff; }
    .read { fill: #5b7ba6; }
    .write { fill: #4f8f66; }
    .best { opacity: 0.6; }
    .grid { stroke: #d5dbe2; stroke-width: 1; }
    .baseline { stroke: #1d2733; stroke-width: 1.5; }
    .target { stroke: #b8604b; stroke-width: 2; }
    .spread { stroke: #1d2733; stroke-width: 1.25; fill: none; }
    text { fill: #1d2733; }
    .name { font-weight: 600; }
    .small { font-size: 12.5px; fill: #4a5563; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #12171d; }
      .read { fill: #6f90bd; }
      .write { fill: #5fa077; }
      .grid { stroke: #2b343f; }
      .baseline { stroke: #e6ebf0; }
      .target { stroke: #d98a76; }
      .spread { stroke: #e6ebf0; }
      text { fill: #e6ebf0; }
      .small { fill: #b3bdc8; }
    }`;

const FONTS = `system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif`;

const BARS: readonly { goal: Goal; style: string }[] = [
  { goal: GOALS.baseline, style: '' },
  { goal: GOALS.bestBaseline, style: ' best' },
];

export function drawChart(report: Report): string {
  const { operations, machine, load, connections, rounds, seconds, starts } = report;
  const ratios = operations.flatMap((operation) => BARS.flatMap(({ goal }) => ratioTo(operation, goal) ?? []));
  const scale = Math.max(MIN_SCALE, ...ratios.map(({ max }) => max + 0.05));
  const x = (ratio: number) => round(LEFT + (ratio / scale) * PLOT);
  const bottom = TOP + operations.length * ROW;
  const height = bottom + 66;
  const step = scale > 3 ? 0.5 : 0.2;
  const ticks = Array.from({ length: Math.floor(scale / step) + 1 }, (_, i) => i * step);
  const title = 'Throughput of the service relative to the two baselines';
  const legend = [
    `Upper bar: / baseline. Lower bar: / best baseline. Lists blue, writes green. Red: goal.`,
    `Bar: median of ${rounds} rounds and ${starts} ${starts === 1 ? 'start' : 'starts'}. Line: range. ` +
      'Right: ratio, and requests per second.',
  ];
  const conditions = [
    `${machine.system}, ${machine.cores} cores, Node ${machine.node}, PostgreSQL ${machine.postgres}`,
    `${connections} connections, rounds of ${seconds} s`,
    `load average ${formatLoad(load.before)}`,
  ].join('; ');
  const attributes = [
    'xmlns="http://www.w3.org/2000/svg"',
    `viewBox="0 0 ${WIDTH} ${height}"`,
    'role="img" aria-labelledby="t d"',
    `font-family="${FONTS}" font-size="14"`,
  ].join(' ');
  return `<svg ${attributes}>
  <title id="t">${title}</title>
  <desc id="d">${operations.map(describe).join(', ')}.</desc>
  <style>${STYLE}
  </style>
  <rect class="page" width="${WIDTH}" height="${height}" rx="8"/>
  <text x="20" y="32" class="name">${title}</text>
${legend.map((line, i) => `  <text x="20" y="${52 + i * 18}" class="small">${line}</text>`).join('\n')}
${ticks.map((tick) => drawTick(tick, x(tick), bottom)).join('\n')}
${operations.map((operation, i) => drawOperation(operation, TOP + i * ROW, x)).join('\n')}
  <text x="20" y="${bottom + 48}" class="small">${conditions}</text>
</svg>`;
}

const ratioTo = (operation: OperationReport, { one, other, key }: Goal) => ratioOf(operation, one, other, key);

const describe = (operation: OperationReport): string => {
  const medians = BARS.map(({ goal }) => ratioTo(operation, goal)?.median.toFixed(2) ?? 'not measured');
  return `${operation.name} ${medians.join(' and ')}`;
};

function drawTick(tick: number, x: number, bottom: number): string {
  const line = Math.abs(tick - 1) < 0.01 ? 'baseline' : 'grid';
  return `  <path class="${line}" d="M${x} ${TOP - 8}V${bottom}"/>
  <text x="${x}" y="${bottom + 18}" text-anchor="middle" class="small">${tick.toFixed(1)}</text>`;
}

function drawOperation(operation: OperationReport, top: number, x: (ratio: number) => number): string {
  const throughput = Math.round(summaryOf(operation, 'plain')?.requestsPerSecond ?? 0);
  return `  <g>
    <text x="${LEFT - 12}" y="${top + 21}" text-anchor="end">${operation.name}</text>
${BARS.map((bar, i) => drawBar(operation, bar, top + i * (BAR + 3), x)).join('\n')}
    <text x="${WIDTH - 20}" y="${top + 21}" text-anchor="end" class="small">${throughput}</text>
  </g>`;
}

function drawBar(
  operation: OperationReport,
  { goal, style }: (typeof BARS)[number],
  top: number,
  x: (ratio: number) => number,
): string {
  const ratio = ratioTo(operation, goal);
  if (!ratio) return '';
  const middle = top + BAR / 2;
  const [min, max] = [x(ratio.min), x(ratio.max)];
  const width = round(x(ratio.median) - LEFT);
  return `    <rect class="${operation.kind}${style}" x="${LEFT}" y="${top}" width="${width}" height="${BAR}" rx="2"/>
    <path class="spread" d="M${min} ${middle}H${max}M${min} ${middle - 3}v6M${max} ${middle - 3}v6"/>
    <path class="target" d="M${x(goal.bound)} ${top - 1}v${BAR + 2}"/>
    <text x="${WIDTH - 76}" y="${top + 12}" text-anchor="end" class="small">${ratio.median.toFixed(2)}</text>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
