import { parseArgs } from 'node:util';
import type { TObject } from 'typebox';
import { type Command, type Flags, type FlagValues, UsageError } from './command.ts';
import { schemaFlags } from './schema-flags.ts';
import { didYouMean } from './suggestion.ts';

/** Flags that every command accepts. */
export const COMMON_FLAGS: Flags = {
  json: { type: 'boolean', description: 'Print JSON, in the format of the API.' },
  only: { type: 'string', placeholder: 'field', description: 'Print only this field of the result.' },
  help: { type: 'boolean', description: 'Show this help.' },
};

export const allFlags = ({ flags = {}, body, all = {} }: Command): Flags => ({
  ...flags,
  ...Object.fromEntries(
    Object.entries(body ? schemaFlags(body) : {}).map(([name, flag]) => [
      name,
      all[name] ? { ...flag, description: `${flag.description} "all" stands for ${all[name].join(', ')}.` } : flag,
    ]),
  ),
  ...COMMON_FLAGS,
});

/** Replaces the word "all" in flags for which the command defines it. */
const expandAll = (flags: FlagValues, all: Command['all'] = {}): FlagValues =>
  Object.fromEntries(
    Object.entries(flags).map(([name, value]) => {
      const words = all[name];
      if (!words) return [name, value];
      if (Array.isArray(value)) return [name, value.flatMap((word) => (word === 'all' ? words : word))];
      return [name, value === 'all' ? words.join(',') : value];
    }),
  );

/** Parses the words after the command's name. Throws UsageError if they do not fit the command. */
export function parseArguments(
  command: Command,
  args: string[],
): { argument: string; file: string; flags: FlagValues } {
  const { values, positionals } = parse(command, args);
  if (values.help) return { argument: '', file: '', flags: values };
  const [argument = '', file = ''] = positionals;
  if (command.argument && argument === '') throw new UsageError(`<${command.argument}> is missing.`, command.name);
  if (command.takesFile && file === '') throw new UsageError('<file> is missing.', command.name);
  const unexpected = positionals[(command.argument ? 1 : 0) + (command.takesFile ? 1 : 0)];
  if (unexpected !== undefined) throw new UsageError(`"${unexpected}" is not expected here.`, command.name);
  const missing = Object.entries(allFlags(command)).find(
    ([name, { required }]) => required && values[name] === undefined,
  );
  if (missing) throw new UsageError(`--${missing[0]} is missing.`, command.name);
  assertOnlyField(command, values.only);
  return { argument, file, flags: expandAll(values, command.all) };
}

/** Runs before the command: a secret that was created but not printed would be lost. */
function assertOnlyField({ name, resultSchema }: Command, only: FlagValues[string]): void {
  if (!resultSchema || typeof only !== 'string') return;
  const { items, properties } = resultSchema as { items?: TObject; properties?: object };
  const fields = Object.keys(items?.properties ?? properties ?? {});
  if (fields.includes(only)) return;
  throw new UsageError(`--only must be one of ${fields.join(', ')}.${didYouMean(only, fields)}`, name);
}

function parse(command: Command, args: string[]): { values: FlagValues; positionals: string[] } {
  const options = Object.fromEntries(
    Object.entries(allFlags(command)).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  );
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, allowNegative: true });
    return { values, positionals };
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    const [sentence = ''] = (error as Error).message.split(/\. |\n/, 1);
    const [, unknown] = /^Unknown option '--([^']*)'/.exec(sentence) ?? [];
    const flags = Object.entries(options).flatMap(([name, { type }]) =>
      type === 'boolean' ? [`--${name}`, `--no-${name}`] : `--${name}`,
    );
    const suggestion = unknown === undefined ? '' : didYouMean(`--${unknown}`, flags);
    throw new UsageError(`${sentence.replace(/\.$/, '')}.${suggestion}`, command.name);
  }
}
