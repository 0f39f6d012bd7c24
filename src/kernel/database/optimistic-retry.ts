import { UnavailableError } from '../errors.ts';
import { retry } from '../retry.ts';

// Of a hundred concurrent updates of one appointment, the last one succeeded in attempt 15. Without the delay it took
// 48 attempts and 1.5 times as long, because the attempts that failed slowed down the others.
const MAX_ATTEMPTS = 20;
const MAX_DELAY_STEP_MS = 20;

class ConflictError extends UnavailableError {}

/**
 * Calls `write` until it returns a record. If it wrote nothing, `explainRejection` either throws the reason or returns,
 * which means that a concurrent update won; then the write is retried, up to MAX_ATTEMPTS times.
 */
export const retryOnConflict = <T extends object | string>(
  write: () => Promise<T | false | undefined>,
  explainRejection: () => Promise<void> = async () => {},
): Promise<T> =>
  retry(
    {
      while: (error) => error instanceof ConflictError,
      delayMs: (attempt) => Math.random() * attempt * MAX_DELAY_STEP_MS,
      maxAttempts: MAX_ATTEMPTS,
    },
    async () => {
      const record = await write();
      if (record) return record;
      await explainRejection();
      throw new ConflictError('Others kept changing the same record. Try again.');
    },
  );
