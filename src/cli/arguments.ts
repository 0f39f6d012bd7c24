import { parseArgs } from 'node:util';
import type { TObject } from 'typebox';
import { type Command, type Flags, type FlagValues, UsageError } from './command.ts';
import { flagsOf } from './schema-flags.ts';

/** What every command takes. */
export const COMMON_FLAGS: Flags = {
  json: { type: 'boolean', description: 'Print JSON, as the API would answer.' },
  only: { type: 'string', value: 'field', description: 'Print nothing but this field of the answer.' },
  help: { type: 'boolean', description: 'Show this help.' },
};

export const allFlags = ({ flags = {}, body }: Command): Flags => ({
  ...flags,
  ...(body && flagsOf(body)),
  ...COMMON_FLAGS,
});

/** What was typed after the command's name, or why it cannot be understood. */
export function readArguments(command: Command, args: string[]): { argument: string; flags: FlagValues } {
  const { values, positionals } = parse(command, args);
  if (values.help) return { argument: '', flags: values };
  const [argument = '', superfluous] = positionals;
  if (command.argument && argument === '') throw new UsageError(`<${command.argument}> is missing.`, command.name);
  const surplus = command.argument ? superfluous : positionals[0];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" has no meaning here.`, command.name);
  const missing = Object.entries(allFlags(command)).find(
    ([name, { required }]) => required && values[name] === undefined,
  );
  if (missing) throw new UsageError(`--${missing[0]} is missing.`, command.name);
  checkOnly(command, values.only);
  return { argument, flags: values };
}

/** Before anything is done: a secret that was made and not printed would be lost. */
function checkOnly({ name, answer }: Command, only: FlagValues[string]): void {
  if (!answer || typeof only !== 'string') return;
  const { items, properties } = answer as { items?: TObject; properties?: object };
  const fields = Object.keys(items?.properties ?? properties ?? {});
  if (!fields.includes(only)) throw new UsageError(`--only must be one of ${fields.join(', ')}.`, name);
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
    throw new UsageError(sentence.endsWith('.') ? sentence : `${sentence}.`, command.name);
  }
}
