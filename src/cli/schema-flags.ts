import type { TObject } from 'typebox';
import type { Flag, Flags, FlagValues } from './command.ts';

/** Converts the schema of a request body to flags, and flags to a body, so that both accept the same fields. */

type Property = {
  type?: string | string[];
  enum?: unknown[];
  items?: Property;
  description?: string;
  examples?: unknown[];
};

const flagProperties = (schema: TObject): [string, Property][] =>
  Object.entries(schema.properties as Record<string, Property>).filter(([, { items }]) => items?.type !== 'object');

export function schemaFlags(schema: TObject): Flags {
  const required = new Set<string>(schema.required as string[] | undefined);
  return Object.fromEntries(
    flagProperties(schema).map(([name, property]) => [flagName(name, property), toFlag(property, required.has(name))]),
  );
}

/** Returns the body with the given flags only. An empty text becomes null if the field is nullable. */
export function flagsToBody(schema: TObject, flags: FlagValues): Record<string, unknown> {
  return Object.fromEntries(
    flagProperties(schema)
      .map(([name, property]) => [name, toValue(property, flags[flagName(name, property)])])
      .filter(([, value]) => value !== undefined),
  );
}

/** Returns the flag of a field at fault: `scopes[0]` is `--scope`. */
export function fieldFlag(schema: TObject | undefined, field: string): string {
  const name = field.split(/[.[]/, 1)[0] ?? '';
  const property = schema && Object.fromEntries(flagProperties(schema))[name];
  return `--${flagName(name, property ?? {})}`;
}

const typesOf = ({ type }: Property): string[] => [type ?? []].flat();

/** A list flag takes one word at a time, so `scopes` becomes `--scope`. */
function flagName(name: string, property: Property): string {
  const word = typesOf(property).includes('array') ? name.replace(/s$/, '') : name;
  return word.replaceAll('_', '-');
}

function toFlag(property: Property, required: boolean): Flag {
  const types = typesOf(property);
  const isList = types.includes('array');
  const words = (isList ? property.items?.enum : property.enum)?.filter((word) => typeof word === 'string');
  const clearHint = types.includes('null') && !types.includes('boolean') ? 'An empty text clears it.' : undefined;
  const example = property.examples?.[0];
  const sentences = [
    property.description,
    words && `One of ${words.join(', ')}.`,
    isList && 'Separate several with commas, or repeat the flag.',
    example !== undefined && !isList && !words && `Example: ${example}`,
    clearHint,
  ];
  return {
    type: types.includes('boolean') ? 'boolean' : 'string',
    multiple: isList,
    required,
    ...(words && { words }),
    placeholder: types.includes('number') ? 'number' : words ? 'word' : 'text',
    description: sentences.filter(Boolean).join(' '),
  };
}

function toValue(property: Property, value: FlagValues[string]): unknown {
  if (Array.isArray(value)) return value.flatMap((words) => String(words).split(','));
  return value === '' && typesOf(property).includes('null') ? null : value;
}
