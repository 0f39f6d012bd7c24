import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import type { Environment } from '../environment.ts';
import type { TimedRequest } from '../load/driver.ts';
import { formatTable } from '../report/table.ts';

/**
 * Finds out why some requests are slow: samples the database and the service while the rounds run, and compares when
 * each possible cause was present with when the slow requests were in flight.
 */

/** A time in which something happened, in milliseconds since 1970. */
type Period = { cause: string; from: number; to: number };
type SlowRound = { operation: string; target: string; startedAt: number; endedAt: number; slow: TimedRequest[] };

export type Trace = {
  /** Flags and settings with which the service reports its own pauses. */
  serviceFlags: string[];
  serviceSettings: Record<string, string>;
  onSlowRequests(operation: string): (target: string, startedAt: number, slow: TimedRequest[]) => void;
  /** Returns the table of the causes, and writes all samples to bench/results/trace.json. */
  finish(): Promise<string>;
  stop(): Promise<void>;
};

const PROBE_MODULE = new URL('./probe.ts', import.meta.url).href;
const SAMPLE_MS = 50;
const OUT = 'bench/results/trace.json';

type Sample = {
  maintenance: string[];
  waits: string[];
  checkpointing: boolean;
  full_page_images: number;
  wal_fsyncs: number;
  wal_fsync_ms: number;
};

/** What is running now, and counters since the start of the database. */
const SAMPLE = `
  SELECT ARRAY(SELECT 'vacuum of ' || relid::regclass FROM pg_stat_progress_vacuum
               UNION ALL SELECT 'analyze of ' || relid::regclass FROM pg_stat_progress_analyze) AS maintenance,
         ARRAY(SELECT DISTINCT wait_event_type || ': ' || wait_event FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()) AS waits,
         EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_type = 'checkpointer'
                    AND wait_event IS DISTINCT FROM 'CheckpointerMain') AS checkpointing,
         (SELECT wal_fpi FROM pg_stat_wal)::float8 AS full_page_images,
         sum(fsyncs)::float8 AS wal_fsyncs, coalesce(sum(fsync_time), 0) AS wal_fsync_ms
    FROM pg_stat_io WHERE object = 'wal'`;

export async function openTrace({ connection, dataDir }: Environment): Promise<Trace> {
  const client = new pg.Client({ ...connection, application_name: 'trace' });
  await client.connect();
  // Otherwise the server does not measure how long a sync takes.
  await client.query('ALTER SYSTEM SET track_wal_io_timing = on');
  await client.query('SELECT pg_reload_conf()');
  const file = join(dataDir, 'trace.jsonl');
  await writeFile(file, '');
  const periods: Period[] = [];
  const rounds: SlowRound[] = [];
  let previous: (Sample & { at: number }) | undefined;
  let stopped = false;

  async function sample(): Promise<void> {
    const { rows } = await client.query<Sample>(SAMPLE);
    const current = { ...(rows[0] as Sample), at: Date.now() };
    if (previous) periods.push(...toPeriods(previous, current));
    previous = current;
  }
  const sampling = (async () => {
    while (!stopped) {
      await sample();
      await new Promise((resume) => setTimeout(resume, SAMPLE_MS));
    }
  })();
  const stop = async () => {
    stopped = true;
    await sampling;
    await client.end();
  };
  return {
    serviceFlags: ['--import', PROBE_MODULE],
    serviceSettings: { BENCH_TRACE_FILE: file },
    onSlowRequests: (operation) => (target, startedAt, slow) =>
      rounds.push({ operation, target, startedAt, endedAt: Date.now(), slow }),
    finish: async () => {
      const lines = (await readFile(file, 'utf8')).trim().split('\n');
      periods.push(...lines.filter((line) => line).map((line) => JSON.parse(line) as Period));
      const out = resolve(OUT);
      await mkdir(dirname(out), { recursive: true });
      await writeFile(out, `${JSON.stringify({ rounds, periods })}\n`);
      return describe(rounds, periods);
    },
    stop,
  };
}

/** WAL is synced many times per second; a slow sync is one that makes requests wait. */
const SLOW_FSYNC_MS = 10;

function toPeriods(before: Sample & { at: number }, now: Sample & { at: number }): Period[] {
  const period = (cause: string): Period => ({ cause, from: before.at, to: now.at });
  const fsyncs = now.wal_fsyncs - before.wal_fsyncs;
  const fsyncMs = fsyncs > 0 ? (now.wal_fsync_ms - before.wal_fsync_ms) / fsyncs : 0;
  return [
    ...now.maintenance.map(period),
    ...(now.checkpointing ? [period('checkpoint')] : []),
    ...(now.full_page_images > before.full_page_images ? [period('full-page images after a checkpoint')] : []),
    ...(fsyncMs >= SLOW_FSYNC_MS ? [period(`WAL sync of ${SLOW_FSYNC_MS} ms or more`)] : []),
    ...now.waits.filter((wait) => wait !== null).map((wait) => period(`wait ${wait}`)),
  ];
}

/** How many other times in its round a slow request is compared with. */
const COMPARED_TIMES = 20;

/**
 * For each operation and target: the share of the slow requests that met a cause, and the share that requests of the same
 * length at other times of the round would have met. A cause that explains slow requests has a much greater first share.
 */
function describe(rounds: SlowRound[], periods: Period[]): string {
  const groups = Map.groupBy(rounds, ({ operation, target }) => `${operation}, ${target}`);
  const tables = [...groups].map(([name, group]) => {
    const slow = group.flatMap((round) => round.slow);
    const others = group.flatMap((round) => round.slow.flatMap((request) => atOtherTimes(request, round)));
    const longest = Math.max(...slow.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
    const within = periods.filter(({ from, to }) => group.some((one) => from < one.endedAt && to > one.startedAt));
    const rows = [...Map.groupBy(within, ({ cause }) => cause)].map(([cause, own]) => {
      const met = ({ sentAt, receivedAt }: TimedRequest) =>
        own.some(({ from, to }) => from < receivedAt && to > sentAt);
      return { cause, share: slow.filter(met).length / slow.length, chance: others.filter(met).length / others.length };
    });
    rows.sort((a, b) => b.share - b.chance - (a.share - a.chance));
    const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
    const cells = rows.map(({ cause, share, chance }) => [cause, percent(share), percent(chance)]);
    const title = `${name}: the slowest ${slow.length} requests, up to ${longest.toFixed(0)} ms`;
    return `${title}\n\n${formatTable(['Cause', 'met by', 'by chance'], cells)}`;
  });
  return `\nTrace of slow requests; all samples are in ${OUT}\n\n${tables.join('\n\n')}`;
}

function atOtherTimes({ sentAt, receivedAt }: TimedRequest, { startedAt, endedAt }: SlowRound): TimedRequest[] {
  const length = receivedAt - sentAt;
  return Array.from({ length: COMPARED_TIMES }, (_, i) => {
    const from = startedAt + (Math.max(0, endedAt - startedAt - length) * i) / (COMPARED_TIMES - 1);
    return { sentAt: from, receivedAt: from + length };
  });
}
