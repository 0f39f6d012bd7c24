import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { noteUses } from './authenticate.sql.ts';

const PAUSE_MS = 60_000;

/** When each key was last used: collected here, written at most once a minute for all of them. */
export class KeyUses {
  readonly #db: Executor;
  readonly #clock: Clock;
  #uses = new Map<string, { companyId: string; at: string }>();
  #written = Number.NEGATIVE_INFINITY;
  #writing = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Executor, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  note(companyId: string, keyId: string): void {
    const now = this.#clock();
    this.#uses.set(keyId, { companyId, at: toSql(now) });
    const since = now.epochMilliseconds - this.#written;
    if (since < 0 || since >= PAUSE_MS) void this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), PAUSE_MS - since).unref();
  }

  /** Writes what has been collected, after what is being written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#clock().epochMilliseconds;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    const noted = [...uses.values()];
    const columns = [noted.map(({ companyId }) => companyId), [...uses.keys()], noted.map(({ at }) => at)];
    try {
      await this.#db.queryRows(noteUses, columns);
    } catch {
      // Kept for the next time, unless the key has been used again: no request may fail for this.
      for (const [key, use] of uses) if (!this.#uses.has(key)) this.#uses.set(key, use);
    }
  }
}
