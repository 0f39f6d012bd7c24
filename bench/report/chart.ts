import { formatLoad } from './machine.ts';
import { MIN_RATIO, type OperationReport, type Report } from './report.ts';

/** Draws a bar per operation with the throughput relative to the baseline. Supports light and dark mode. */

const LEFT = 170;
const PLOT = 460;
const TOP = 76;
const ROW = 30;
const WIDTH = 760;
const MIN_SCALE = 1.1;

const STYLE = `
    .page { fill: #ffffff; }
    .read { fill: #5b7ba6; }
    .write { fill: #4f8f66; }
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

export function drawChart(report: Report): string {
  const { operations, machine, load, connections, rounds, seconds } = report;
  const scale = Math.max(MIN_SCALE, ...operations.map(({ ratio }) => ratio.max + 0.05));
  const x = (ratio: number) => round(LEFT + (ratio / scale) * PLOT);
  const bottom = TOP + operations.length * ROW;
  const height = bottom + 66;
  const ticks = Array.from({ length: Math.floor(scale / 0.2) + 1 }, (_, i) => i * 0.2);
  const title = 'Throughput of the service relative to the baseline';
  const legend =
    `Bar: median of ${rounds} rounds; lists blue, writes green. Line: range. Red: target. ` +
    'Right: requests per second.';
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
  <desc id="d">${operations.map(({ name, ratio }) => `${name} ${ratio.median.toFixed(2)}`).join(', ')}.</desc>
  <style>${STYLE}
  </style>
  <rect class="page" width="${WIDTH}" height="${height}" rx="8"/>
  <text x="20" y="32" class="name">${title}</text>
  <text x="20" y="52" class="small">${legend}</text>
${ticks.map((tick) => drawTick(tick, x(tick), bottom)).join('\n')}
${operations.map((operation, i) => drawBar(operation, TOP + i * ROW, x)).join('\n')}
  <text x="20" y="${bottom + 48}" class="small">${conditions}</text>
</svg>`;
}

function drawTick(tick: number, x: number, bottom: number): string {
  const line = Math.abs(tick - 1) < 0.01 ? 'baseline' : 'grid';
  return `  <path class="${line}" d="M${x} ${TOP - 8}V${bottom}"/>
  <text x="${x}" y="${bottom + 18}" text-anchor="middle" class="small">${tick.toFixed(1)}</text>`;
}

function drawBar({ name, kind, ratio, service }: OperationReport, top: number, x: (ratio: number) => number): string {
  const middle = top + 9;
  const [min, max] = [x(ratio.min), x(ratio.max)];
  const throughput = Math.round(service.requestsPerSecond);
  return `  <g>
    <text x="${LEFT - 12}" y="${top + 14}" text-anchor="end">${name}</text>
    <rect class="${kind}" x="${LEFT}" y="${top}" width="${round(x(ratio.median) - LEFT)}" height="18" rx="2"/>
    <path class="spread" d="M${min} ${middle}H${max}M${min} ${middle - 4}v8M${max} ${middle - 4}v8"/>
    <path class="target" d="M${x(MIN_RATIO[kind])} ${top - 3}v24"/>
    <text x="${WIDTH - 76}" y="${top + 14}" text-anchor="end" class="name">${ratio.median.toFixed(2)}</text>
    <text x="${WIDTH - 20}" y="${top + 14}" text-anchor="end" class="small">${throughput}</text>
  </g>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
