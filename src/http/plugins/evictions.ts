import type { Logger } from 'pino';

/** Why a connection was closed: what the process held for it. */
type EvictionReason = 'unfinished_request' | 'unread_response' | 'pipelined_requests';

const LOG_INTERVAL_MS = 10_000;

/** Counts the connections that were closed because the process held too much for slow peers. */
export class Evictions {
  readonly counts: Record<EvictionReason, number> = {
    unfinished_request: 0,
    unread_response: 0,
    pipelined_requests: 0,
  };
  readonly #logger: Logger;
  #sinceLogged = 0;
  #loggedAt = -Infinity;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Logs at most one line in ten seconds: a flood must not fill the log as well. */
  add(reason: EvictionReason): void {
    this.counts[reason]++;
    this.#sinceLogged++;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#logger.warn(
      { evicted: this.#sinceLogged, reason },
      'slow peers hold too much memory; disconnecting some of them',
    );
    this.#loggedAt = now;
    this.#sinceLogged = 0;
  }
}
