import type { Logger } from 'pino';

/**
 * An error that no code has caught, nor any handler of a promise, leaves the process in a state that is not known. It is
 * logged, and `end` is called so that the process stops in good order and another one takes its place.
 */
export function onUncaughtError(logger: Logger, end: (reason: string) => void): void {
  process.on('uncaughtException', (thrown: unknown) => {
    // Errors of pg carry the client with the keys of its session, so only their texts are logged.
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    logger.fatal({ reason: message, stack }, 'uncaught error: the process ends');
    end('an uncaught error');
  });
}
