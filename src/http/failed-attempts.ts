import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time.ts';

const WINDOW_SECONDS = 60;
const MOST_PER_WINDOW = 30;
const MOST_ADDRESSES = 10_000;

/**
 * Counts refused credentials per address. It never stands in the way of a valid token: many callers may share an
 * address with one that is set up wrongly.
 */
export class FailedAttempts {
  readonly #clock: Clock;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Seconds to wait when the address is over its limit, else 0. */
  add(address: string): number {
    const now = this.#clock().epochMilliseconds / 1000;
    const window = Math.floor(now / WINDOW_SECONDS);
    // A new map each minute: nothing to clean up. When it is full, strangers share one count.
    if (window !== this.#window) this.#counts = new Map();
    this.#window = window;
    const key = this.#counts.has(address) || this.#counts.size < MOST_ADDRESSES ? address : 'others';
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count > MOST_PER_WINDOW ? Math.ceil((window + 1) * WINDOW_SECONDS - now) : 0;
  }
}

/** Counts a refusal against the address that it came from; throws where that has had too many. */
export function countFailure(attempts: FailedAttempts, { ip }: FastifyRequest, reply: FastifyReply): void {
  const wait = attempts.add(ip);
  if (wait === 0) return;
  reply.header('retry-after', String(wait));
  throw new CodedError('too_many_attempts', 'Too many requests without valid credentials came from this address.');
}
