import type { CaseRecordsError } from './errors.ts';

/** What may be over at the next attempt. A refusal never is. */
const PASSING_CODES = ['unreachable', 'timed_out', 'request_in_progress'];
const PASSING_STATUSES = [429, 500, 502, 503, 504];

const FIRST_MS = 250;
const LONGEST_MS = 10_000;
/** Longer than any limit of the service; beyond it, waiting is for the caller to decide. */
const LONGEST_ASKED_MS = 90_000;

/** How long to wait before attempt `attempts + 1`; undefined where another attempt is of no use. */
export function retryDelay(error: CaseRecordsError, attempts: number, now: number): number | undefined {
  const { code, status, retryAfter } = error;
  if (!PASSING_CODES.includes(code) && !PASSING_STATUSES.includes(status ?? 0)) return undefined;
  const asked = retryAfter === undefined ? 0 : readRetryAfter(retryAfter, now);
  if (asked > LONGEST_ASKED_MS) return undefined;
  // Doubles each time. The random half keeps callers who failed together from coming back together.
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempts - 1));
  return asked + most / 2 + (Math.random() * most) / 2;
}

/** Seconds, or a date. */
function readRetryAfter(header: string, now: number): number {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export const pause: Pause = (ms, signal) => {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return unlessAborted(over, signal).finally(() => clearTimeout(timer));
};

/** Stops waiting, not the work: others may wait for it too. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
