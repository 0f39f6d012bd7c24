import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTable } from './report/table.ts';

/**
 * Summarises CPU profiles of the service by component and by function, from the first request on:
 * `npm run bench -- --profile <folder>`, then `npm run bench:profile -- <folder>`.
 */

type Frame = { functionName: string; url: string };
type Profile = { nodes: { id: number; callFrame: Frame }[]; samples: number[]; timeDeltas: number[] };

const MAX_ROWS = 15;

const folder = process.argv[2];
if (!folder) throw new Error('Usage: npm run bench:profile -- <folder>');
for (const file of await readdir(folder)) {
  if (!file.endsWith('.cpuprofile')) continue;
  const profile: Profile = JSON.parse(await readFile(join(folder, file), 'utf8'));
  const byComponent = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  let busy = 0;
  const first = profile.samples.findIndex((id) => frames.get(id)?.url === 'node:_http_server');
  for (const [i, id] of profile.samples.entries()) {
    if (i < first) continue;
    const frame = frames.get(id);
    const elapsed = profile.timeDeltas[i] ?? 0;
    if (!frame || frame.functionName === '(idle)' || elapsed < 0) continue;
    busy += elapsed;
    add(byComponent, componentOf(frame), elapsed);
    add(byFunction, `${frame.functionName || '(anonymous)'} in ${fileOf(frame)}`, elapsed);
  }
  console.log(`${(busy / 1e6).toFixed(1)} s of CPU time`);
  console.log(formatTable(['Component', 'share'], shares(byComponent, busy)));
  console.log(`\n${formatTable(['Function, self time', 'share'], shares(byFunction, busy))}\n`);
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function shares(sums: Map<string, number>, all: number): string[][] {
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, MAX_ROWS);
  return sorted.map(([key, value]) => [key, `${((value / all) * 100).toFixed(1)} %`]);
}

/** Returns the package, the folder of our own source, or the Node module. */
function componentOf(frame: Frame): string {
  const { url, functionName } = frame;
  if (url === '') return functionName === '(garbage collector)' ? 'garbage collector' : 'V8 and native code';
  if (url.startsWith('node:')) return `node:${url.slice(5).replace('internal/', '').split('/')[0]}`;
  const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return dependency ?? fileOf(frame).split('/').slice(0, 2).join('/');
}

/** Returns the file, relative to node_modules or to the project. */
function fileOf({ url }: Frame): string {
  return /.*node_modules\/(.+)/.exec(url)?.[1] ?? /.*\/(src\/.+)/.exec(url)?.[1] ?? (url || 'V8');
}
