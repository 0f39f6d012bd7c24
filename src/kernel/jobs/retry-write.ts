import type { Logger } from 'pino';
import { UnavailableError } from '../errors.ts';
import { retry } from '../retry.ts';

type RecordOptions = {
  signal: AbortSignal;
  logger: Logger;
  /** What the log calls the result, such as "message result". */
  subject: string;
  /** Whether to give up after the last delay if the database is reachable but rejects the write. */
  giveUpOnError: boolean;
  delaysMs?: readonly number[] | undefined;
};

const DELAYS_MS = [100, 500, 2_000, 5_000, 10_000];

/** The side effect has already happened, so the write is retried until it succeeds or the worker stops. */
export const retryUntilRecorded = <T>(
  { signal, logger, subject, giveUpOnError, delaysMs = DELAYS_MS }: RecordOptions,
  write: () => Promise<T>,
): Promise<T> =>
  retry(
    {
      while: (error, attempt) => !giveUpOnError || error instanceof UnavailableError || attempt <= delaysMs.length,
      delayMs: (attempt) => delaysMs[attempt - 1] ?? delaysMs.at(-1) ?? 0,
      signal,
      onRetry: (error) => logger.warn({ err: error }, `failed to record ${subject}; retrying`),
    },
    write,
  );
