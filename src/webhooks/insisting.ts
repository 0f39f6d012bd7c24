import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CodedError } from '../kernel/errors.ts';

/** Asking the database again, outside of any transaction: nobody keeps a connection while it waits for somebody. */

const LOCKED = '55P03';
const LOCKED_MS = [5, 10, 20, 50, 100, 200];
const PAUSES_MS = [100, 500, 2_000, 5_000, 10_000];

const isLocked = (error: unknown): boolean => (error as { code?: string }).code === LOCKED;

/** Until nobody else holds the rows that `work` fails on at once. */
export async function unlocked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isLocked(error)) throw error;
      const most = LOCKED_MS[attempt] ?? 200;
      await pause(most / 2 + (Math.random() * most) / 2, undefined, { signal }).catch(() => {});
    }
  }
}

type Insisting = { signal: AbortSignal; logger: Logger; mayGiveUp: boolean; pausesMs?: readonly number[] };

/** What has happened outside must be written down: a database that is away is waited for until the worker stops. */
export async function insist<T>(
  { signal, logger, mayGiveUp, pausesMs = PAUSES_MS }: Insisting,
  write: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await unlocked(signal, write);
    } catch (error) {
      const away = error instanceof CodedError && error.code === 'unavailable';
      if (signal.aborted || (mayGiveUp && !away && attempt >= pausesMs.length)) throw error;
      logger.warn({ err: error }, 'what became of a webhook could not be written down yet');
      await pause(pausesMs[attempt] ?? pausesMs.at(-1), undefined, { signal }).catch(() => {});
    }
  }
}
