import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CodedError } from '../errors.ts';

export type RecordOptions = {
  signal: AbortSignal;
  logger: Logger;
  /** What the log calls it. */
  what: string;
  /** Whether a database that is there, and refuses, ends it in time. */
  mayGiveUp: boolean;
  pausesMs?: readonly number[] | undefined;
};

const PAUSES_MS = [100, 500, 2_000, 5_000, 10_000];

/** What has happened outside must be written down: a database that is away is waited for until the worker stops. */
export async function retryUntilRecorded<T>(
  { signal, logger, what, mayGiveUp, pausesMs = PAUSES_MS }: RecordOptions,
  write: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      const away = error instanceof CodedError && error.code === 'unavailable';
      if (signal.aborted || (mayGiveUp && !away && attempt >= pausesMs.length)) throw error;
      logger.warn({ err: error }, `what became of ${what} could not be written down yet`);
      await pause(pausesMs[attempt] ?? pausesMs.at(-1), undefined, { signal }).catch(() => {});
    }
  }
}
