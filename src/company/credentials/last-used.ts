import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import type { recordLastUsed } from './last-used.sql.ts';

const WRITE_INTERVAL_MS = 60_000;

/** Records when each key or session was last used. Collects the times in memory and writes them at most once a minute. */
export class LastUsedRecorder {
  readonly #db: Executor;
  readonly #clock: Clock;
  readonly #record: typeof recordLastUsed;
  #pending = new Map<string, { companyId: string; at: string }>();
  #lastFlushMs = Number.NEGATIVE_INFINITY;
  #flushed = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Executor, clock: Clock, record: typeof recordLastUsed) {
    this.#db = db;
    this.#clock = clock;
    this.#record = record;
  }

  record(companyId: string, keyId: string): void {
    const now = this.#clock();
    this.#pending.set(keyId, { companyId, at: toSql(now) });
    const sinceFlushMs = now.epochMilliseconds - this.#lastFlushMs;
    if (sinceFlushMs < 0 || sinceFlushMs >= WRITE_INTERVAL_MS) void this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), WRITE_INTERVAL_MS - sinceFlushMs).unref();
  }

  /** Writes the collected times, after a write that is still running. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastFlushMs = this.#clock().epochMilliseconds;
    this.#flushed = this.#flushed.then(() => this.#write());
    return this.#flushed;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    const written = this.#pending;
    this.#pending = new Map();
    const entries = [...written.values()];
    try {
      await this.#db.queryRows(
        this.#record({
          company_ids: entries.map(({ companyId }) => companyId),
          ids: [...written.keys()],
          last_used_at: entries.map(({ at }) => at),
        }),
      );
    } catch {
      // No request may fail because of this. The times go into the next write, unless the key has been used since.
      for (const [key, use] of written) if (!this.#pending.has(key)) this.#pending.set(key, use);
    }
  }
}
