import { loadText } from './machine.ts';
import { GOAL, type OperationReport, type Report } from './report.ts';

/** A bar per operation: what the service reaches of the floor's throughput. Readable in light and dark. */

const LEFT = 170;
const PLOT = 460;
const TOP = 76;
const ROW = 30;
const WIDTH = 760;
const LEAST_SCALE = 1.1;

const STYLE = `
    .page { fill: #ffffff; }
    .read { fill: #5b7ba6; }
    .write { fill: #4f8f66; }
    .grid { stroke: #d5dbe2; stroke-width: 1; }
    .floor { stroke: #1d2733; stroke-width: 1.5; }
    .goal { stroke: #b8604b; stroke-width: 2; }
    .spread { stroke: #1d2733; stroke-width: 1.25; fill: none; }
    text { fill: #1d2733; }
    .name { font-weight: 600; }
    .small { font-size: 12.5px; fill: #4a5563; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #12171d; }
      .read { fill: #6f90bd; }
      .write { fill: #5fa077; }
      .grid { stroke: #2b343f; }
      .floor { stroke: #e6ebf0; }
      .goal { stroke: #d98a76; }
      .spread { stroke: #e6ebf0; }
      text { fill: #e6ebf0; }
      .small { fill: #b3bdc8; }
    }`;

export function chart(report: Report): string {
  const { operations, machine, load, connections, rounds, seconds } = report;
  const scale = Math.max(LEAST_SCALE, ...operations.map(({ ratio }) => ratio.max + 0.05));
  const x = (ratio: number) => round(LEFT + (ratio / scale) * PLOT);
  const bottom = TOP + operations.length * ROW;
  const ticks = Array.from({ length: Math.floor(scale / 0.2) + 1 }, (_, i) => i * 0.2);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 66}" role="img" aria-labelledby="t d" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif" font-size="14">
  <title id="t">Throughput of the service by that of the floor</title>
  <desc id="d">${operations.map(({ name, ratio }) => `${name} ${ratio.median.toFixed(2)}`).join(', ')}.</desc>
  <style>${STYLE}
  </style>
  <rect class="page" width="${WIDTH}" height="${bottom + 66}" rx="8"/>
  <text x="20" y="32" class="name">Throughput of the service by that of the floor</text>
  <text x="20" y="52" class="small">Bar: median of ${rounds} rounds, lists blue, writes green. Line: least and most. Red: the goal. Right: requests per second.</text>
${ticks.map((tick) => `  <path class="${Math.abs(tick - 1) < 0.01 ? 'floor' : 'grid'}" d="M${x(tick)} ${TOP - 8}V${bottom}"/>\n  <text x="${x(tick)}" y="${bottom + 18}" text-anchor="middle" class="small">${tick.toFixed(1)}</text>`).join('\n')}
${operations.map((operation, i) => bar(operation, TOP + i * ROW, x)).join('\n')}
  <text x="20" y="${bottom + 48}" class="small">${machine.system}, ${machine.cores} cores, Node ${machine.node}, PostgreSQL ${machine.postgres}; ${connections} connections, rounds of ${seconds} s; load average ${loadText(load.before)}</text>
</svg>`;
}

function bar({ name, kind, ratio, service }: OperationReport, top: number, x: (ratio: number) => number): string {
  const middle = top + 9;
  return `  <g>
    <text x="${LEFT - 12}" y="${top + 14}" text-anchor="end">${name}</text>
    <rect class="${kind}" x="${LEFT}" y="${top}" width="${round(x(ratio.median) - LEFT)}" height="18" rx="2"/>
    <path class="spread" d="M${x(ratio.min)} ${middle}H${x(ratio.max)}M${x(ratio.min)} ${middle - 4}v8M${x(ratio.max)} ${middle - 4}v8"/>
    <path class="goal" d="M${x(GOAL[kind])} ${top - 3}v24"/>
    <text x="${WIDTH - 76}" y="${top + 14}" text-anchor="end" class="name">${ratio.median.toFixed(2)}</text>
    <text x="${WIDTH - 20}" y="${top + 14}" text-anchor="end" class="small">${Math.round(service.requestsPerSecond)}</text>
  </g>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
