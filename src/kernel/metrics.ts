import type { Executor } from './database/database.ts';
import type { Instant } from './time/time.ts';

/** A figure that a feature reads from the database whenever the metrics are collected. */
export type DatabaseGauge = {
  name: string;
  help: string;
  /** A label, and its values that are reported as 0 unless the sample says otherwise. */
  label?: { name: string; values: readonly string[] };
  read: (db: Executor, now: Instant) => Promise<readonly Sample[]>;
};

export type Sample = { label?: string; value: number };
