import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { recordLastUsed } from './authenticate.sql.ts';

const WRITE_INTERVAL_MS = 60_000;

/** When each key was last used: collected here, written at most once a minute for all of them. */
export class LastUsedRecorder {
  readonly #db: Executor;
  readonly #clock: Clock;
  #pending = new Map<string, { companyId: string; at: string }>();
  #lastFlushMs = Number.NEGATIVE_INFINITY;
  #flushed = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Executor, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  record(companyId: string, keyId: string): void {
    const now = this.#clock();
    this.#pending.set(keyId, { companyId, at: toSql(now) });
    const since = now.epochMilliseconds - this.#lastFlushMs;
    if (since < 0 || since >= WRITE_INTERVAL_MS) void this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), WRITE_INTERVAL_MS - since).unref();
  }

  /** Writes what has been collected, after what is being written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastFlushMs = this.#clock().epochMilliseconds;
    this.#flushed = this.#flushed.then(() => this.#write());
    return this.#flushed;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    const uses = this.#pending;
    this.#pending = new Map();
    const noted = [...uses.values()];
    const columns = [noted.map(({ companyId }) => companyId), [...uses.keys()], noted.map(({ at }) => at)];
    try {
      await this.#db.queryRows(recordLastUsed, columns);
    } catch {
      // Kept for the next time, unless the key has been used again: no request may fail for this.
      for (const [key, use] of uses) if (!this.#pending.has(key)) this.#pending.set(key, use);
    }
  }
}
