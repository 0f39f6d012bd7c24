import type { TObject } from 'typebox';
import type { Flag, Flags, FlagValues } from './command.ts';

/** Flags from the schema of a body, and a body from flags: what the API takes, the command line takes. */

type Property = {
  type?: string | string[];
  enum?: unknown[];
  items?: Property;
  description?: string;
  examples?: unknown[];
};

const propertiesOf = (schema: TObject): [string, Property][] =>
  Object.entries(schema.properties as Record<string, Property>).filter(([, { items }]) => items?.type !== 'object');

export function flagsOf(schema: TObject): Flags {
  const required = new Set<string>(schema.required as string[] | undefined);
  return Object.fromEntries(
    propertiesOf(schema).map(([name, property]) => [flagName(name, property), toFlag(property, required.has(name))]),
  );
}

/** Only what was given. An empty text clears a field that may be empty. */
export function bodyOf(schema: TObject, flags: FlagValues): Record<string, unknown> {
  return Object.fromEntries(
    propertiesOf(schema)
      .map(([name, property]) => [name, toValue(property, flags[flagName(name, property)])])
      .filter(([, value]) => value !== undefined),
  );
}

/** "scopes[0]", a field that was refused, is `--scope` on the command line. */
export function flagOfField(schema: TObject | undefined, field: string): string {
  const name = field.split(/[.[]/, 1)[0] ?? '';
  const property = schema && Object.fromEntries(propertiesOf(schema))[name];
  return `--${flagName(name, property ?? {})}`;
}

const typesOf = ({ type }: Property): string[] => [type ?? []].flat();

/** A list is given word by word: `scopes` becomes `--scope`. */
function flagName(name: string, property: Property): string {
  const word = typesOf(property).includes('array') ? name.replace(/s$/, '') : name;
  return word.replaceAll('_', '-');
}

function toFlag(property: Property, required: boolean): Flag {
  const types = typesOf(property);
  const list = types.includes('array');
  const words = (list ? property.items?.enum : property.enum)?.filter((word) => word !== null);
  const clears = types.includes('null') && !types.includes('boolean') ? 'Empty text clears it.' : undefined;
  const example = property.examples?.[0];
  const sentences = [
    property.description,
    words && `One of ${words.join(', ')}.`,
    list && 'Several by commas, or the flag again.',
    example !== undefined && !list && !words && `Example: ${example}`,
    clears,
  ];
  return {
    type: types.includes('boolean') ? 'boolean' : 'string',
    multiple: list,
    required,
    value: types.includes('number') ? 'number' : words ? 'word' : 'text',
    description: sentences.filter(Boolean).join(' '),
  };
}

function toValue(property: Property, given: FlagValues[string]): unknown {
  if (Array.isArray(given)) return given.flatMap((words) => String(words).split(','));
  return given === '' && typesOf(property).includes('null') ? null : given;
}
