import { ConfigError } from '../config.ts';
import { CodedError, type Fault } from '../kernel/errors.ts';
import { allFlags } from './arguments.ts';
import { UsageError } from './command.ts';
import { CommandError } from './command-line.ts';
import { PROGRAM } from './help.ts';
import { AmbiguousNameError } from './lookup.ts';
import { fieldFlag } from './schema-flags.ts';
import { didYouMean } from './suggestion.ts';

type Failure = { lines: readonly string[]; exitCode: number };

/** Returns the lines to print for an error, and the exit code that tells scripts its kind. */
export function toFailure(thrown: unknown): Failure {
  const error = thrown instanceof CommandError ? thrown.cause : thrown;
  if (error instanceof ConfigError) return { lines: error.faults, exitCode: 2 };
  if (error instanceof UsageError) {
    const help = [PROGRAM, error.command, '--help'].filter(Boolean).join(' ');
    return { lines: [error.message, `Run "${help}" for help.`], exitCode: 2 };
  }
  if (error instanceof AmbiguousNameError) {
    return { lines: [error.message, ...error.candidates.map((candidate) => `  ${candidate}`)], exitCode: 3 };
  }
  if (!(error instanceof CodedError)) return { lines: [(error as Error).message], exitCode: 1 };
  if (error.code === 'not_found') return { lines: [error.message], exitCode: 4 };
  if (error.code !== 'invalid_request') return { lines: [error.message], exitCode: 1 };
  const failed = thrown instanceof CommandError ? thrown : undefined;
  const lines = error.faults.map((fault) => {
    const flag = fieldFlag(failed?.command.body, fault.field);
    return `${flag} ${fault.message}${failed ? suggestValue(failed, flag.slice('--'.length), fault) : ''}`;
  });
  return { lines, exitCode: 3 };
}

/** Suggests a word that the flag accepts instead of the one that was typed. */
function suggestValue({ command, flags }: CommandError, name: string, { code, field }: Fault): string {
  if (code !== 'not_allowed' && code !== 'unknown') return '';
  const all = command.all?.[name] ? ['all'] : [];
  const words =
    field === 'time_zone' ? Intl.supportedValuesOf('timeZone') : [...(allFlags(command)[name]?.words ?? []), ...all];
  const typed = [flags[name] ?? []].flat().flatMap((text) => String(text).split(','));
  const refused = typed.find((word) => !words.includes(word));
  return refused === undefined ? '' : didYouMean(refused, words).replace(/^ /, '. ');
}
