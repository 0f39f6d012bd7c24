import type { CaseRecordsError } from './errors.ts';

/** Failures that may not happen again. Other refusals are final. */
const TRANSIENT_CODES = ['unreachable', 'timed_out', 'request_in_progress'];
const TRANSIENT_STATUSES = [429, 500, 502, 503, 504];

export const DEFAULT_RETRIES = 4;
const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** Longer than any Retry-After of the service. With a longer one the caller decides whether to wait. */
const MAX_RETRY_AFTER_MS = 90_000;

/** Returns the delay in milliseconds before the next attempt; undefined if another attempt is pointless. */
export function retryDelay(error: CaseRecordsError, attempts: number, now: number): number | undefined {
  const { code, status, retryAfter } = error;
  if (!TRANSIENT_CODES.includes(code) && !TRANSIENT_STATUSES.includes(status ?? 0)) return undefined;
  const retryAfterMs = retryAfter === undefined ? 0 : parseRetryAfter(retryAfter, now);
  if (retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  // Exponential back-off. The random half keeps clients that failed together from retrying together.
  const maxDelay = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempts - 1));
  return retryAfterMs + maxDelay / 2 + (Math.random() * maxDelay) / 2;
}

/** Parses Retry-After, which is a number of seconds or a date. Returns milliseconds. */
function parseRetryAfter(header: string, now: number): number {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export const pause: Pause = (ms, signal) => {
  let timer: ReturnType<typeof setTimeout>;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return rejectOnAbort(elapsed, signal).finally(() => clearTimeout(timer));
};

/** Rejects when the signal aborts. The work itself continues, because other calls may wait for it. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
