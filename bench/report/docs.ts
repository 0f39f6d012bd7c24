import { readFile, writeFile } from 'node:fs/promises';
import { drawChart } from './chart.ts';
import { formatLoad } from './machine.ts';
import type { Report } from './report.ts';
import { formatMarkdown } from './table.ts';
import { tablesOf } from './tables.ts';

/** Writes the results into docs/benchmark.md, between two comments, and draws docs/benchmark.svg. */

const DOCUMENT = new URL('../../docs/benchmark.md', import.meta.url);
const CHART = new URL('../../docs/benchmark.svg', import.meta.url);
const [BEGIN, END] = ['<!-- results -->', '<!-- end of results -->'];

export async function writeDocs(report: Report): Promise<void> {
  const text = await readFile(DOCUMENT, 'utf8');
  await writeFile(DOCUMENT, replaceResults(text, describeResults(report)));
  await writeFile(CHART, `${drawChart(report)}\n`);
}

export function replaceResults(text: string, results: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/benchmark.md must contain "${BEGIN}" and "${END}".`);
  return `${text.slice(0, begin + BEGIN.length)}\n\n${results}\n\n${text.slice(end)}`;
}

export function describeResults(report: Report): string {
  const { at, machine, load, connections, rounds, seconds, starts, memory, skipped } = report;
  const { system, cores, processor, node, postgres } = machine;
  const day = new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const memoryText = Object.entries(memory).map(([name, { resident, peak }]) => `${name} ${resident} (peak ${peak})`);
  const facts = [
    `- ${day}; ${system}, ${cores} cores (${processor}), ${machine.memory}; Node ${node}, PostgreSQL ${postgres}`,
    `- ${starts} ${starts === 1 ? 'start' : 'starts'} of ${rounds} rounds of ${seconds} s, ${connections} connections`,
    `- Load average ${formatLoad(load.before)} before, ${formatLoad(load.after)} after`,
    `- Memory after the run, in MB: ${memoryText.join(', ')}`,
    ...skipped.map((line) => `- ${line}`),
  ];
  const tables = tablesOf(report).map(({ title, ...table }) => `### ${title}\n\n${formatMarkdown(table)}`);
  return [facts.join('\n'), ...tables].join('\n\n');
}
