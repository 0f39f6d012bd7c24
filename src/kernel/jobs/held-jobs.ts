import type { Executor } from '../database/database.ts';
import type { Query } from '../sql/statement.ts';
import { type Instant, toSql } from '../time/time.ts';
import type { heldStatements } from './held-jobs.sql.ts';
import { notifyWorkers } from './notify-workers.ts';

/** A job that waits until an operator releases or drops it. */
export type HeldJob = { kind: string; company: string; due_at: string; job: string };

/** `companyId` is null for all companies. */
export type HeldFilter = { companyId: string | null };

export type HeldJobs = {
  /** What a person calls these jobs, in the plural. */
  kind: string;
  /** Holds the jobs that were due by then, and returns their number. Can be repeated. */
  hold(db: Executor, until: Instant): Promise<number>;
  list(db: Executor, filter: HeldFilter & { limit: number }): Promise<{ jobs: HeldJob[]; total: number }>;
  /** Returns the number of jobs that workers can claim now. */
  release(db: Executor, filter: HeldFilter): Promise<number>;
  /** Ends the jobs without doing them, and returns their number. */
  drop(db: Executor, filter: HeldFilter, now: Instant): Promise<number>;
};

export const DROPPED = 'Dropped by an operator after a restore or an import: it may have been done before.';

export async function countOf(db: Executor, query: Query): Promise<number> {
  return (await db.queryFirst<{ count: number }>(query))?.count ?? 0;
}

export const heldJobs = (
  kind: string,
  { hold, list, release }: ReturnType<typeof heldStatements>,
  drop: HeldJobs['drop'],
): HeldJobs => ({
  kind,
  drop,
  hold: (db, until) => countOf(db, hold({ due_until: toSql(until) })),
  list: async (db, { companyId, limit }) => {
    const rows = await db.queryRows<HeldJob & { total: number }>(list({ company_id: companyId, limit }));
    return { jobs: rows.map(({ total: _total, ...job }) => job), total: rows[0]?.total ?? 0 };
  },
  release: async (db, { companyId }) => {
    const released = await countOf(db, release({ company_id: companyId }));
    notifyWorkers(db);
    return released;
  },
});
