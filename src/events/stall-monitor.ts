import type { Database } from '../kernel/database/database.ts';
import type { Clock, Instant } from '../kernel/time/time.ts';
import { openWriters } from './statements.sql.ts';

/**
 * Measures how long the event log has been stalled. Readers see no new events while a transaction that wrote to the log
 * stays open, so the log is stalled since the oldest of them began. The server shows that time only to the role of the
 * transaction, so this process remembers when it first saw each one.
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

  /** Concurrent calls share one query. */
  stalledSeconds(): Promise<number> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measure(): Promise<number> {
    const rows = await this.#db.queryRows<{ transaction: string }>(openWriters({}));
    const now = this.#clock();
    this.#firstSeen = new Map(rows.map(({ transaction }) => [transaction, this.#firstSeen.get(transaction) ?? now]));
    const ages = [...this.#firstSeen.values()].map((seen) => seen.until(now).total('seconds'));
    return Math.max(0, ...ages);
  }
}
