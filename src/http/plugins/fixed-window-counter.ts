import type { Clock } from '../../kernel/time/time.ts';

const WINDOW_SECONDS = 60;
const MOST_KEYS = 10_000;

export type Count = { count: number; left: number };

/** How often something has happened in the minute of the clock that is running. */
export class FixedWindowCounter {
  readonly #clock: Clock;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts once more. `left`: seconds until the count begins anew. */
  add(key: string): Count {
    return this.#count(key, 1);
  }

  read(key: string): Count {
    return this.#count(key, 0);
  }

  #count(key: string, more: 0 | 1): Count {
    const now = this.#clock().epochMilliseconds / 1000;
    const window = Math.floor(now / WINDOW_SECONDS);
    // A new map each minute: nothing to clean up. When it is full, strangers share one count.
    if (window !== this.#window) this.#counts = new Map();
    this.#window = window;
    const counted = this.#counts.has(key) || this.#counts.size < MOST_KEYS ? key : 'others';
    const count = (this.#counts.get(counted) ?? 0) + more;
    if (more > 0) this.#counts.set(counted, count);
    return { count, left: Math.ceil((window + 1) * WINDOW_SECONDS - now) };
  }
}
