import { text } from 'node:stream/consumers';
import { readConfig } from '../config.ts';
import { readArguments } from './arguments.ts';
import { type Answer, type Command, type FlagValues, type Starter, UsageError } from './command.ts';
import { GROUPS, type Group } from './groups.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import { cell, fields, table } from './table.ts';

export type Output = { text: string; note?: string | undefined; failed?: boolean | undefined };

/** What was typed, done. Gives what is to be printed, or what is to be started. */
export async function runCommandLine(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<{ output: Output } | { starter: Starter }> {
  const [word = 'help', ...rest] = args;
  if (['help', '--help', '-h'].includes(word)) return { output: { text: programHelp(GROUPS) } };
  const group = GROUPS.find(({ name }) => name === word);
  if (!group) throw new UsageError(`There is no command "${word}".`);
  const { command, args: after, help } = await findCommand(group, rest);
  if (!command) return { output: { text: help } };

  const { argument, flags: typed } = readArguments(command, after);
  if (typed.help) return { output: { text: commandHelp(command) } };
  const flags = await withPiped(typed);
  const call = {
    argument,
    flags,
    // Read when it is asked for: the doctor looks at faulty settings too.
    get config() {
      return readConfig(env);
    },
  };
  const result = await command.run(call).catch((error: unknown) => {
    throw new CommandError(command, error);
  });
  return 'start' in result ? { starter: result } : { output: print(result, flags) };
}

/** "-" for a secret is standard input, so that it stands in no history and no list of processes. */
async function withPiped(flags: FlagValues): Promise<FlagValues> {
  const name = Object.keys(flags).find((flag) => flag.endsWith('secret') && flags[flag] === '-');
  return name ? { ...flags, [name]: (await text(process.stdin)).trim() } : flags;
}

/** Which command it was that failed: its flags have the names of the fields at fault. */
export class CommandError extends Error {
  readonly command: Command;

  constructor(command: Command, cause: unknown) {
    super((cause as Error).message, { cause });
    this.command = command;
  }
}

type Found = { command: Command; args: string[]; help?: never } | { command?: never; args: string[]; help: string };

async function findCommand(group: Group, rest: string[]): Promise<Found> {
  const { commands } = await group.load();
  const [only] = commands;
  if (only?.name === group.name) return { command: only, args: rest };
  const [word = '--help', ...args] = rest;
  if (['help', '--help', '-h'].includes(word)) return { args, help: groupHelp(group, commands) };
  const command = commands.find(({ name }) => name === `${group.name} ${word}`);
  if (!command) throw new UsageError(`There is no command "${group.name} ${word}".`, group.name);
  return { command, args };
}

function print({ json, text, columns, note, failed }: Answer, flags: FlagValues): Output {
  if (typeof flags.only === 'string') return { text: only(JSON.parse(json), flags.only), failed };
  if (flags.json) return { text: JSON.stringify(JSON.parse(json), null, 2), failed };
  if (text !== undefined) return { text, note, failed };
  const value = JSON.parse(json);
  return { text: columns ? table(value, columns) : fields(value), note, failed };
}

/** One line per record. */
function only(value: unknown, field: string): string {
  const records = [value].flat() as Record<string, unknown>[];
  const wrong = records.find((record) => !Object.hasOwn(record, field));
  if (wrong) throw new UsageError(`--only must be one of ${Object.keys(wrong).join(', ')}.`);
  return records.map((record) => cell(record[field])).join('\n');
}
