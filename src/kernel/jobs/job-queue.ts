import type { DueStatements } from './job-queue.sql.ts';

/** One kind of work that is due later, as the worker knows it. */

/** The key of a row that has been taken. */
export type JobKey = { company_id: string } & Record<string, string>;

export type Lease = {
  /** What `lease_by` holds as long as the row is ours. Another one after the lease has run out and was taken again. */
  id: string;
  /** Aborted when the worker cannot wait any longer. */
  signal: AbortSignal;
};

export type JobQueue = {
  name: string;
  key: readonly string[];
  statements: DueStatements;
  /** Small steps, safe to repeat. What it throws is logged, and the row comes again when its lease has run out. */
  handle(key: JobKey, claim: Lease): Promise<void>;
};
