import type { Logger } from 'pino';
import type { TObject, TSchema } from 'typebox';
import type { Config } from '../config.ts';
import type { Fields } from './table.ts';
import type { Terminal } from './terminal.ts';

/** The definition of a command. Help, parsing and printing are derived from it. */

export type Flag = {
  type: 'string' | 'boolean';
  /** Whether the flag may be repeated. */
  multiple?: boolean;
  required?: boolean;
  /** The words that the flag accepts; any text if undefined. */
  words?: readonly string[];
  /** The name of the value in the help. */
  placeholder?: string;
  description: string;
};
export type Flags = Record<string, Flag>;
export type FlagValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type Invocation = {
  config: Config;
  /** The positional argument; empty if the command takes none. */
  argument: string;
  /** The second positional argument; empty if the command takes none. */
  file: string;
  flags: FlagValues;
  terminal: Terminal;
};

export type CommandResult = {
  /** The result for programs. */
  json: string;
  /** The result for people, if it is neither a table nor a list of fields. */
  text?: string;
  /** The columns of the table that people see. */
  columns?: readonly string[];
  /** The rows of that table, if they differ from `json`. */
  rows?: readonly Fields[];
  /** A remark for people, printed to standard error. */
  note?: string | undefined;
  /** Sets exit code 1 although the command ran to its end. */
  failed?: boolean;
};

/** A daemon that has been started. */
type RunningDaemon = {
  /** Resolves with the reason if the daemon cannot continue. */
  failed: Promise<Error>;
  stop(): Promise<void>;
};

/** A command that runs until it receives a signal. */
export type Daemon = { config: Config; start(logger: Logger): Promise<RunningDaemon> };

export type Command = {
  /** The words after the name of the program, such as `key create`. */
  name: string;
  summary: string;
  description?: string;
  /** The name of the positional argument in the help. */
  argument?: string;
  /** Whether a file is the second positional argument. */
  takesFile?: true;
  flags?: Flags;
  /** The words that `all` stands for, by flag. */
  all?: Readonly<Record<string, readonly string[]>>;
  /** The request body: each of its properties becomes a flag. */
  body?: TObject;
  /** The schema of the result. `--only` is checked against it before the command runs. */
  resultSchema?: TSchema;
  examples: readonly string[];
  run(invocation: Invocation): Promise<CommandResult | Daemon>;
};

/** The modules are loaded on demand, so that a small command does not wait for the code of the HTTP server. */
export type Group = { name: string; summary: string; load(): Promise<{ commands: Command[] }> };

/** The command line is invalid. */
export class UsageError extends Error {
  /** The command whose help the error text points to. */
  readonly command: string;

  constructor(message: string, command = '') {
    super(message);
    this.command = command;
  }
}
