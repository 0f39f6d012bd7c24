import type { Logger } from 'pino';
import type { TObject, TSchema } from 'typebox';
import type { Config } from '../config.ts';

/** What a command is made of; help, parsing and printing are the same for all of them. */

export type Flag = {
  type: 'string' | 'boolean';
  /** It may be given more than once. */
  multiple?: boolean;
  required?: boolean;
  /** What stands for the value in the help. */
  value?: string;
  description: string;
};
export type Flags = Record<string, Flag>;
export type FlagValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type Call = {
  config: Config;
  /** The one word that is no flag, where the command takes one; else empty. */
  argument: string;
  flags: FlagValues;
};

export type Answer = {
  /** For programs. */
  json: string;
  /** For people, where a table or a list of fields would not do. */
  text?: string;
  /** Which fields of a list people see, in this order. */
  columns?: readonly string[];
  /** A line for people beside the answer. */
  note?: string | undefined;
  /** Something is wrong although the command did its work. */
  failed?: boolean;
};

/** What a command that stays has started. */
export type Running = {
  /** Resolves with the reason when it cannot go on. */
  failed: Promise<Error>;
  stop(): Promise<void>;
};

/** A command that stays until it is told to end. */
export type Starter = { config: Config; start(logger: Logger): Promise<Running> };

export type Command = {
  /** As it is typed after the name of the program. */
  name: string;
  summary: string;
  description?: string;
  /** What the argument is called. */
  argument?: string;
  flags?: Flags;
  /** Every property is a flag. */
  body?: TObject;
  /** What it answers, or a list of it. `--only` is held against it before anything is done. */
  answer?: TSchema;
  examples: readonly string[];
  run(call: Call): Promise<Answer | Starter>;
};

/** The command line is wrong. */
export class UsageError extends Error {
  /** The command whose help tells more. */
  readonly command: string;

  constructor(message: string, command = '') {
    super(message);
    this.command = command;
  }
}
