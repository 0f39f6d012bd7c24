import type { Database } from '../kernel/database/database.ts';
import type { Clock, Instant } from '../kernel/time/time.ts';
import { openWriters } from './statements.sql.ts';

/**
 * Tells for how long the event log has stood still. Followers are shown nothing new while a transaction that writes to
 * it stays open (settled_events), so the log stands still since the oldest open one was first seen. When that began
 * the server tells only to its own role, so this process remembers it.
 */
export class StallMonitor {
  readonly #db: Database;
  readonly #clock: Clock;
  #firstSeen = new Map<string, Instant>();
  #measuring: Promise<number> | undefined;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Returns the seconds as of now. Callers that ask at the same time share one look at the database. */
  stalledSeconds(): Promise<number> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measure(): Promise<number> {
    const rows = await this.#db.queryRows<{ transaction: string }>(openWriters, []);
    const now = this.#clock();
    this.#firstSeen = new Map(rows.map(({ transaction }) => [transaction, this.#firstSeen.get(transaction) ?? now]));
    const ages = [...this.#firstSeen.values()].map((seen) => seen.until(now).total('seconds'));
    return Math.max(0, ...ages);
  }
}
