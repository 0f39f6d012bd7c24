import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { table } from './report/table.ts';

/**
 * What the time of the service went into once it served, from the profiles in a folder: `npm run bench -- --profile
 * <folder>`, then `npm run bench:profile -- <folder>`.
 */

type Frame = { functionName: string; url: string };
type Profile = { nodes: { id: number; callFrame: Frame }[]; samples: number[]; timeDeltas: number[] };

const MOST = 15;

const folder = process.argv[2];
if (!folder) throw new Error('Name the folder of the profiles.');
for (const file of await readdir(folder)) {
  if (!file.endsWith('.cpuprofile')) continue;
  const profile: Profile = JSON.parse(await readFile(join(folder, file), 'utf8'));
  const byPart = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  let busy = 0;
  const first = profile.samples.findIndex((id) => frames.get(id)?.url === 'node:_http_server');
  for (const [i, id] of profile.samples.entries()) {
    if (i < first) continue;
    const frame = frames.get(id);
    const spent = profile.timeDeltas[i] ?? 0;
    if (!frame || frame.functionName === '(idle)' || spent < 0) continue;
    busy += spent;
    add(byPart, partOf(frame), spent);
    add(byFunction, `${frame.functionName || '(anonymous)'} in ${placeOf(frame)}`, spent);
  }
  console.log(`${(busy / 1e6).toFixed(1)} s of CPU time`);
  console.log(table(['Part', 'share'], shares(byPart, busy)));
  console.log(`\n${table(['Function, without what it calls', 'share'], shares(byFunction, busy))}\n`);
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function shares(sums: Map<string, number>, all: number): string[][] {
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, MOST);
  return sorted.map(([key, value]) => [key, `${((value / all) * 100).toFixed(1)} %`]);
}

/** The package, the folder of our own source, or Node. */
function partOf(frame: Frame): string {
  const { url, functionName } = frame;
  if (url === '') return functionName === '(garbage collector)' ? 'garbage collector' : 'V8 and native code';
  if (url.startsWith('node:')) return `node:${url.slice(5).replace('internal/', '').split('/')[0]}`;
  const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return dependency ?? placeOf(frame).split('/').slice(0, 2).join('/');
}

/** The file, from the root of its package or of our source. */
function placeOf({ url }: Frame): string {
  return /.*node_modules\/(.+)/.exec(url)?.[1] ?? /.*\/(src\/.+)/.exec(url)?.[1] ?? (url || 'V8');
}
