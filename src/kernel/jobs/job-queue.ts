import type { QueueStatements } from './job-queue.sql.ts';

/** The primary key of a claimed job. */
export type JobKey = { company_id: string } & Record<string, string>;

export type Lease = {
  /**
   * The value of `lease_by` while the job is leased to this worker. Changes if the lease expired and was claimed again.
   */
  id: string;
  /** Aborted when the worker stops without waiting any longer. */
  signal: AbortSignal;
};

/** One kind of job that a worker runs. */
export type JobQueue = {
  name: string;
  key: readonly string[];
  statements: QueueStatements;
  /**
   * Runs the job in small steps that are safe to repeat. Errors are logged; the job is due again when its lease
   * expires.
   */
  handle(key: JobKey, lease: Lease): Promise<void>;
};
