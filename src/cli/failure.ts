import { ConfigError } from '../config.ts';
import { CodedError } from '../kernel/errors.ts';
import { UsageError } from './command.ts';
import { CommandError } from './command-line.ts';
import { PROGRAM } from './help.ts';
import { fieldFlag } from './schema-flags.ts';

type Failure = { lines: readonly string[]; exitCode: number };

/** Returns the lines to print for an error, and the exit code that tells scripts its kind. */
export function toFailure(thrown: unknown): Failure {
  const error = thrown instanceof CommandError ? thrown.cause : thrown;
  if (error instanceof ConfigError) return { lines: error.faults, exitCode: 2 };
  if (error instanceof UsageError) {
    const help = [PROGRAM, error.command, '--help'].filter(Boolean).join(' ');
    return { lines: [error.message, `Run "${help}" for help.`], exitCode: 2 };
  }
  if (!(error instanceof CodedError)) return { lines: [(error as Error).message], exitCode: 1 };
  if (error.code === 'not_found') return { lines: [error.message], exitCode: 4 };
  if (error.code !== 'invalid_request') return { lines: [error.message], exitCode: 1 };
  const body = thrown instanceof CommandError ? thrown.command.body : undefined;
  return { lines: error.faults.map(({ field, message }) => `${fieldFlag(body, field)} ${message}`), exitCode: 3 };
}
