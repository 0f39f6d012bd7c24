import type { Clock } from '../../kernel/time/time.ts';

const WINDOW_SECONDS = 60;
const MAX_KEYS = 10_000;

export type Count = { count: number; secondsLeft: number };

/** Counts events per key in the current minute of the clock. */
export class FixedWindowCounter {
  readonly #clock: Clock;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds one. `secondsLeft` is the time until the count restarts. */
  add(key: string): Count {
    return this.#count(key, 1);
  }

  read(key: string): Count {
    return this.#count(key, 0);
  }

  #count(key: string, increment: 0 | 1): Count {
    const now = this.#clock().epochMilliseconds / 1000;
    const window = Math.floor(now / WINDOW_SECONDS);
    // A new map each minute needs no clean-up. When it is full, new keys share one count.
    if (window !== this.#window) this.#counts = new Map();
    this.#window = window;
    const counted = this.#counts.has(key) || this.#counts.size < MAX_KEYS ? key : 'others';
    const count = (this.#counts.get(counted) ?? 0) + increment;
    if (increment > 0) this.#counts.set(counted, count);
    return { count, secondsLeft: Math.ceil((window + 1) * WINDOW_SECONDS - now) };
  }
}
