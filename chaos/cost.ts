import { readdir, readFile } from 'node:fs/promises';
import { addFault, type ChaosTest, emptyResults, type Results } from './chaos-test.ts';
import { checkLargeInvoices } from './cost-invoices.ts';
import { type Demo, processesIn, readMemoryMegabytes } from './deployment.ts';
import { HOSTILE_BODIES, type HostileBody } from './hostile-bodies.ts';
import type { HttpClient } from './http-client.ts';
import { operations } from './input/operations.ts';
import { withSingleService } from './single-service.ts';

/**
 * Compares the most expensive request of each size with a normal one: CPU time of the service and the database for each
 * operation that takes a body, and memory of the service.
 */

const KIBIBYTE = 1_024;
/**
 * The maximum cost of a request of this size relative to a normal one. A normal request takes about 1 ms; JSON.parse
 * alone takes 50 ms for the most expensive 1 MiB.
 */
const COST_LIMITS: readonly [bytes: number, maxRatio: number][] = [
  [KIBIBYTE, 5],
  [64 * KIBIBYTE, 30],
  [1_024 * KIBIBYTE - 16, 300],
];
const NORMAL_REQUESTS = 40;
/** The short form sends each body once: nobody checks its times. */
const SHORT_NORMAL_REQUESTS = 5;
const WARM_UP_REQUESTS = 200;
const MAX_MEMORY_RATIO = 2.5;
const MAX_NOTES = 12;

type Measurement = { operation: string; bytes: number; body: string; ms: number; normalMs: number; maxRatio: number };

export const cost: ChaosTest = {
  name: 'cost',
  description: 'the most expensive request of each size to each operation',
  async run({ short, progress }): Promise<Results> {
    const results = emptyResults();
    const rows: Measurement[] = [];
    await withSingleService(async ({ deployment, demo, client, servicePid, interactionsPath: path }) => {
      const pids = [servicePid, ...(await processesIn(deployment.dataDir))];
      const normal = { method: 'POST', path, body: { type: 'phone', notes: 'normal' } };
      for (let i = 0; i < WARM_UP_REQUESTS; i++) await client.send(normal);
      const restMegabytes = await readMemoryMegabytes(servicePid);
      let peakMegabytes = restMegabytes;
      const targets = operations.filter(({ body, template }) => body && !template.startsWith('/oauth/'));
      const selected = short ? targets.filter(({ template }) => SHORT_TEMPLATES.includes(template)) : targets;
      for (const { name, method, template } of selected) {
        progress(name);
        const target = { method, path: fillTemplate(template, demo) };
        const send = (body: string) => sendRaw(client, target, body, results);
        const normalMs = await cpuMsPerRequest(pids, short ? SHORT_NORMAL_REQUESTS : NORMAL_REQUESTS, () => send('{}'));
        for (const [bytes, maxRatio] of COST_LIMITS) {
          const worst = await findWorstBody(pids, bytes, short ? 1 : repeatsOf(bytes), send);
          peakMegabytes = Math.max(peakMegabytes, await readMemoryMegabytes(servicePid));
          rows.push({ operation: name, bytes, normalMs, maxRatio, ...worst });
        }
        results.rounds++;
      }
      if (peakMegabytes > restMegabytes * MAX_MEMORY_RATIO)
        addFault(results, `memory: ${restMegabytes} MB at rest, peak ${peakMegabytes} MB`);
      results.notes.push(`memory of the service: ${restMegabytes} MB at rest, peak ${peakMegabytes} MB`);
      await checkLargeInvoices({ deployment, demo, client, servicePid }, results, short);
    });
    checkLimits(rows, results);
    return results;
  },
};

const SHORT_TEMPLATES = ['/cases/{caseId}/interactions', '/cases/{caseId}/invoices', '/manage/keys'];

/** The record ids do not exist, because bodies are also validated for unknown records. */
const fillTemplate = (template: string, demo: Demo) =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'caseId' ? demo.case_id : UNKNOWN_RECORD_ID));
const UNKNOWN_RECORD_ID = '01900000-0000-7000-8000-000000000000';

async function sendRaw(client: HttpClient, target: { method: string; path: string }, body: string, results: Results) {
  results.requests++;
  const { status } = await client.send({ ...target, rawBody: body });
  if (status >= 500 || status === 0) {
    results.serverErrors++;
    addFault(results, `${target.method} ${target.path} answered ${status} to ${body.slice(0, 40)}…`);
  }
}

/** A single small body costs too little to be measured. */
const repeatsOf = (bytes: number) => (bytes > 100_000 ? 1 : 10);

async function findWorstBody(pids: number[], bytes: number, repeats: number, send: (body: string) => Promise<void>) {
  let worst = { body: '', ms: 0 };
  for (const [name, make] of Object.entries(HOSTILE_BODIES) as [string, HostileBody][]) {
    const body = make(bytes);
    const ms = await cpuMsPerRequest(pids, repeats, () => send(body));
    if (ms > worst.ms) worst = { body: name, ms };
  }
  return worst;
}

/** Returns the CPU time per request in milliseconds, of all threads of all processes. */
async function cpuMsPerRequest(pids: number[], requests: number, send: () => Promise<unknown>): Promise<number> {
  const before = await readThreadTimes(pids);
  for (let i = 0; i < requests; i++) await send();
  const after = await readThreadTimes(pids);
  let nanoseconds = 0;
  for (const [thread, time] of after) nanoseconds += time - (before.get(thread) ?? 0);
  return nanoseconds / 1e6 / requests;
}

async function readThreadTimes(pids: number[]): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const pid of pids) {
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const stat = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      times.set(`${pid}/${thread}`, Number(stat.split(' ', 1)[0]));
    }
  }
  return times;
}

function checkLimits(rows: Measurement[], results: Results): void {
  const ratio = ({ ms, normalMs }: Measurement) => ms / normalMs;
  for (const [bytes] of COST_LIMITS) {
    const ofSize = rows.filter((row) => row.bytes === bytes).sort((a, b) => ratio(b) - ratio(a));
    for (const row of ofSize.slice(0, Math.ceil(MAX_NOTES / COST_LIMITS.length))) {
      const text =
        `${Math.ceil(bytes / KIBIBYTE)} KiB to ${row.operation}: ${row.ms.toFixed(1)} ms, ` +
        `${ratio(row).toFixed(1)} times ${row.normalMs.toFixed(1)} ms (${row.body})`;
      results.notes.push(text);
      if (ratio(row) > row.maxRatio) results.timingFaults.push(`${text}, more than ${row.maxRatio} times`);
    }
  }
}
