import type { Logger } from 'pino';

/**
 * An uncaught exception or rejection leaves the process in an unknown state. Logs the error and calls `end`, so that
 * the process shuts down gracefully and can be replaced.
 */
export function onUncaughtError(logger: Logger, end: (reason: string) => void): void {
  process.on('uncaughtException', (thrown: unknown) => {
    // Errors of pg refer to the client and so to its session keys, so only message and stack are logged.
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    logger.fatal({ reason: message, stack }, 'uncaught error: stopping the process');
    end('an uncaught error');
  });
}
