import { text } from 'node:stream/consumers';
import packageJson from '../../package.json' with { type: 'json' };
import { readConfig } from '../config.ts';
import { parseArguments } from './arguments.ts';
import { type Command, type CommandResult, type Daemon, type FlagValues, type Group, UsageError } from './command.ts';
import { GROUPS } from './groups.ts';
import { commandHelp, groupHelp, PROGRAM, programHelp } from './help.ts';
import { didYouMean } from './suggestion.ts';
import { formatCell, formatFields, formatLines, formatTable } from './table.ts';
import { type Display, NO_TERMINAL, type Terminal } from './terminal.ts';

const HELP_WORDS: readonly string[] = ['help', '--help', '-h'];

type Output = { text: string; note?: string | undefined; failed?: boolean | undefined };

/** Runs the command and returns its output, or the daemon that the caller is to start. */
export async function runCommandLine(
  args: readonly string[],
  env: Record<string, string | undefined>,
  terminal: Terminal = NO_TERMINAL,
): Promise<{ output: Output } | { daemon: Daemon }> {
  const [word = 'help', ...rest] = args;
  if (HELP_WORDS.includes(word)) {
    return rest.length > 0
      ? runCommandLine([...rest, '--help'], env, terminal)
      : { output: { text: programHelp(GROUPS, terminal.display?.columns) } };
  }
  if (['version', '--version', '-V', '-v'].includes(word))
    return { output: { text: `${PROGRAM} ${packageJson.version}` } };
  const group = GROUPS.find(({ name }) => name === word);
  if (!group) {
    const suggestion = didYouMean(
      word,
      GROUPS.map(({ name }) => name),
    );
    throw new UsageError(`There is no command "${word}".${suggestion}`);
  }
  const { command, args: commandArgs, help } = await findCommand(group, rest, terminal);
  if (!command) return { output: { text: help } };

  const { argument, file, flags: parsedFlags } = parseArguments(command, commandArgs);
  if (parsedFlags.help) return { output: { text: commandHelp(command, terminal.display?.columns) } };
  const flags = await withStdin(parsedFlags);
  const invocation = {
    argument,
    file,
    flags,
    terminal,
    // Read on access, because the doctor also runs with invalid settings.
    get config() {
      return readConfig(env);
    },
  };
  const result = await command.run(invocation).catch((error: unknown) => {
    throw new CommandError(command, flags, error);
  });
  return 'start' in result ? { daemon: result } : { output: formatResult(result, flags, terminal.display) };
}

/**
 * Replaces "-" as the value of a secret or of a long text by standard input: a secret there is neither in the shell
 * history nor in `ps`.
 */
async function withStdin(flags: FlagValues): Promise<FlagValues> {
  const name = Object.keys(flags).find((flag) => /(secret|-text)$/.test(flag) && flags[flag] === '-');
  return name ? { ...flags, [name]: (await text(process.stdin)).trim() } : flags;
}

/** Wraps an error with the command that failed and its flags, which name the fields at fault. */
export class CommandError extends Error {
  readonly command: Command;
  readonly flags: FlagValues;

  constructor(command: Command, flags: FlagValues, cause: unknown) {
    super((cause as Error).message, { cause });
    this.command = command;
    this.flags = flags;
  }
}

type FoundCommand =
  | { command: Command; args: string[]; help?: never }
  | { command?: never; args: string[]; help: string };

async function findCommand(group: Group, rest: string[], { display }: Terminal): Promise<FoundCommand> {
  const { commands } = await group.load();
  const [firstCommand] = commands;
  if (firstCommand?.name === group.name) return { command: firstCommand, args: rest };
  const [word = '--help', ...args] = rest;
  if (HELP_WORDS.includes(word)) return { args, help: groupHelp(group, commands, display?.columns) };
  const command = commands.find(({ name }) => name === `${group.name} ${word}`);
  if (!command) {
    const words = commands.map(({ name }) => name.slice(group.name.length + 1));
    throw new UsageError(`There is no command "${group.name} ${word}".${didYouMean(word, words)}`, group.name);
  }
  return { command, args };
}

function formatResult(
  { json, text, columns, rows, note, failed }: CommandResult,
  flags: FlagValues,
  display: Display | undefined,
): Output {
  if (typeof flags.only === 'string') return { text: selectField(JSON.parse(json), flags.only), failed };
  if (flags.json) return { text: JSON.stringify(JSON.parse(json), null, 2), failed };
  if (text !== undefined) return { text, note, failed };
  const value = rows ?? JSON.parse(json);
  return { text: columns ? formatTable(value, columns, display) : formatFields(value, display), note, failed };
}

/** Returns the field of one record with its line breaks, or of each record of a list, one per line. */
function selectField(value: unknown, field: string): string {
  const records = [value].flat() as Record<string, unknown>[];
  const incomplete = records.find((record) => !Object.hasOwn(record, field));
  if (incomplete) {
    const fields = Object.keys(incomplete);
    throw new UsageError(`--only must be one of ${fields.join(', ')}.${didYouMean(field, fields)}`);
  }
  const [first] = records;
  const only = Array.isArray(value) ? undefined : first?.[field];
  return typeof only === 'string' ? formatLines(only) : records.map((record) => formatCell(record[field])).join('\n');
}
