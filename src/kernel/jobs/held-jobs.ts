import type { Database, Executor } from '../database/database.ts';
import type { Query } from '../sql/statement.ts';
import { type Instant, toSql } from '../time/time.ts';
import type { heldStatements } from './held-jobs.sql.ts';
import { notifyWorkers } from './notify-workers.ts';

/** A job that waits until an operator releases or drops it. */
export type HeldJob = { kind: string; company: string; due_at: string; job: string };

/** `companyId` is null for all companies. */
export type HeldFilter = { companyId: string | null };

/** How many jobs one statement changes. */
export type BatchSize = { batchSize?: number };

const BATCH_SIZE = 5_000;

export type HeldJobs = {
  /** What a person calls these jobs, in the plural. */
  kind: string;
  /** Holds the jobs that were due by then, and returns their number. Can be repeated, also after an interruption. */
  hold(db: Executor, until: Instant, size?: BatchSize): Promise<number>;
  list(db: Executor, filter: HeldFilter & { limit: number }): Promise<{ jobs: HeldJob[]; total: number }>;
  /** Returns the number of jobs that workers can claim now. Can be repeated, also after an interruption. */
  release(db: Executor, filter: HeldFilter & BatchSize): Promise<number>;
  /** Ends the jobs without doing them, and returns their number. Can be repeated, also after an interruption. */
  drop(db: Database, filter: HeldFilter & BatchSize, now: Instant): Promise<number>;
};

export async function countOf(db: Executor, query: Query): Promise<number> {
  return (await db.queryFirst<{ count: number }>(query))?.count ?? 0;
}

/** Changes a batch of jobs after the other until none is left, and returns their number. */
export async function inBatches(
  { batchSize = BATCH_SIZE }: BatchSize,
  change: (batchSize: number) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await change(batchSize);
    total += count;
    if (count < batchSize) return total;
  }
}

export const heldJobs = (
  kind: string,
  { hold, list, release }: ReturnType<typeof heldStatements>,
  drop: HeldJobs['drop'],
): HeldJobs => ({
  kind,
  drop,
  hold: (db, until, size = {}) =>
    inBatches(size, (batch_size) => countOf(db, hold({ due_until: toSql(until), batch_size }))),
  list: async (db, { companyId, limit }) => {
    const rows = await db.queryRows<HeldJob & { total: number }>(list({ company_id: companyId, limit }));
    return { jobs: rows.map(({ total: _total, ...job }) => job), total: rows[0]?.total ?? 0 };
  },
  release: async (db, { companyId, ...size }) => {
    const released = await inBatches(size, (batch_size) => countOf(db, release({ company_id: companyId, batch_size })));
    notifyWorkers(db);
    return released;
  },
});
