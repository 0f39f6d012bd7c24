import { readdir, readFile } from 'node:fs/promises';
import { alone } from './alone.ts';
import { BODIES, type HostileBody } from './cost-bodies.ts';
import { largeInvoices } from './cost-invoices.ts';
import type { Line } from './exchange.ts';
import { operations } from './input/operations.ts';
import { type Figures, fault, noFigures, type Proof } from './proof.ts';
import { type Demo, memoryOf, processesIn } from './site.ts';

/**
 * What the worst request of each size costs, beside a normal one: the processor time of the service and of the database
 * for each operation that takes a body, and the memory of the service.
 */

const KIBIBYTE = 1_024;
/**
 * How many times the cost of a normal request a request of this size may have. A normal one takes about 1 ms; parsing the
 * costliest 1 MiB takes 50 ms by JSON.parse alone.
 */
const BOUNDS: readonly [bytes: number, most: number][] = [
  [KIBIBYTE, 5],
  [64 * KIBIBYTE, 30],
  [1_024 * KIBIBYTE - 16, 300],
];
const NORMAL_REQUESTS = 40;
const WARM_UP_REQUESTS = 200;
const MAX_MEMORY_RATIO = 2.5;
const ROWS_SHOWN = 12;

type Row = { operation: string; bytes: number; kind: string; ms: number; normalMs: number; most: number };

export const cost: Proof = {
  name: 'cost',
  about: 'the worst request of each size to each operation, beside a normal one',
  async run({ short, progress }): Promise<Figures> {
    const figures = noFigures();
    const rows: Row[] = [];
    await alone(async ({ site, demo, line, pid, path }) => {
      const pids = [pid, ...(await processesIn(site.dataDir))];
      const normal = { method: 'POST', path, body: { type: 'phone', notes: 'normal' } };
      for (let i = 0; i < WARM_UP_REQUESTS; i++) await line.send(normal);
      const rest = await memoryOf(pid);
      let peak = rest;
      const targets = operations.filter(({ body, template }) => body && !template.startsWith('/oauth/'));
      const chosen = short ? targets.filter(({ template }) => SHORT.includes(template)) : targets;
      for (const { name, method, template } of chosen) {
        progress(name);
        const target = { method, path: fillIn(template, demo) };
        const send = (body: string) => sendRaw(line, target, body, figures);
        const normalMs = await cpuOf(pids, NORMAL_REQUESTS, () => send('{}'));
        for (const [bytes, most] of BOUNDS) {
          const worst = await worstOf(pids, bytes, send);
          peak = Math.max(peak, await memoryOf(pid));
          rows.push({ operation: name, bytes, normalMs, most, ...worst });
        }
        figures.rounds++;
      }
      if (peak > rest * MAX_MEMORY_RATIO) fault(figures, `memory: ${rest} MB at rest, ${peak} MB at most`);
      figures.notes.push(`memory of the service: ${rest} MB at rest, ${peak} MB at most`);
      await largeInvoices({ site, demo, line, pid }, figures, short);
    });
    judge(rows, figures);
    return figures;
  },
};

const SHORT = ['/cases/{caseId}/interactions', '/cases/{caseId}/invoices', '/manage/keys'];

/** The identifiers of records are made up: a body is read also for a record that is not there. */
const fillIn = (template: string, demo: Demo) =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'caseId' ? demo.case_id : NO_RECORD));
const NO_RECORD = '01900000-0000-7000-8000-000000000000';

async function sendRaw(line: Line, target: { method: string; path: string }, body: string, figures: Figures) {
  figures.requests++;
  const { status } = await line.send({ ...target, text: body });
  if (status >= 500 || status === 0) {
    figures.errors++;
    fault(figures, `${target.method} ${target.path} answered ${status} to ${body.slice(0, 40)}…`);
  }
}

async function worstOf(pids: number[], bytes: number, send: (body: string) => Promise<void>) {
  const repeats = bytes > 100_000 ? 1 : 10;
  let worst = { kind: '', ms: 0 };
  for (const [kind, make] of Object.entries(BODIES) as [string, HostileBody][]) {
    const body = make(bytes);
    const ms = await cpuOf(pids, repeats, () => send(body));
    if (ms > worst.ms) worst = { kind, ms };
  }
  return worst;
}

/** The processor time in ms that each of the requests takes, of all threads of all processes. */
async function cpuOf(pids: number[], requests: number, send: () => Promise<unknown>): Promise<number> {
  const before = await threadTimes(pids);
  for (let i = 0; i < requests; i++) await send();
  const after = await threadTimes(pids);
  let nanoseconds = 0;
  for (const [thread, time] of after) nanoseconds += time - (before.get(thread) ?? 0);
  return nanoseconds / 1e6 / requests;
}

async function threadTimes(pids: number[]): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const stat = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      times.set(`${pid}/${thread}`, Number(stat.split(' ', 1)[0]));
    }
  }
  return times;
}

function judge(rows: Row[], figures: Figures): void {
  const ratio = ({ ms, normalMs }: Row) => ms / normalMs;
  for (const [bytes] of BOUNDS) {
    const ofSize = rows.filter((row) => row.bytes === bytes).sort((a, b) => ratio(b) - ratio(a));
    for (const row of ofSize.slice(0, Math.ceil(ROWS_SHOWN / BOUNDS.length))) {
      const text = `${Math.ceil(bytes / KIBIBYTE)} KiB to ${row.operation}: ${row.ms.toFixed(1)} ms, ${ratio(row).toFixed(1)} times ${row.normalMs.toFixed(1)} ms (${row.kind})`;
      figures.notes.push(text);
      if (ratio(row) > row.most) figures.late.push(`${text}, more than ${row.most} times`);
    }
  }
}
