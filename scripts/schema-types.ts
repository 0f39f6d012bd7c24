/** Converts schemas of the OpenAPI document to TypeScript types. Throws on keywords that it does not know. */

export type Schema = {
  /** Leads to a component, which has a type of its own. */
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: (string | number | boolean | null)[];
  anyOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
};

/** Fields that are sent may be undefined, which JSON omits. */
export type Direction = 'sent' | 'received';

const TYPE_KEYWORDS = ['type', 'enum', 'anyOf', 'items', 'required', 'properties', 'additionalProperties'];
/** Keywords that a type cannot express: the service checks them, or they are for readers. */
const IGNORED_KEYWORDS = [
  'description',
  'contentMediaType',
  'examples',
  'default',
  'format',
  'pattern',
  'minLength',
  'maxLength',
];
const IGNORED_LIMITS = ['minimum', 'maximum', 'maxItems', 'maxProperties'];
const KNOWN_KEYWORDS = new Set([...TYPE_KEYWORDS, ...IGNORED_KEYWORDS, ...IGNORED_LIMITS]);

export function toType(schema: Schema, direction: Direction, location: string): string {
  if (schema.$ref) return componentName(schema.$ref);
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword));
  if (unknown) throw new Error(`${location}: unknown keyword "${unknown}"; add it to scripts/schema-types.ts`);
  if (schema.anyOf) return schema.anyOf.map((option, i) => toType(option, direction, `${location}/${i}`)).join(' | ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) throw new Error(`${location}: the schema has no type`);
  return types.map((type) => simpleType(type, schema, direction, location)).join(' | ');
}

export const componentName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

function simpleType(type: string, schema: Schema, direction: Direction, location: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      if (!schema.items) throw new Error(`${location}: the array has no items`);
      return arrayType(toType(schema.items, direction, `${location}[]`));
    case 'object':
      return objectType(schema, direction, location);
    default:
      throw new Error(`${location}: unknown type "${type}"`);
  }
}

const arrayType = (type: string): string => (/^\w+$/.test(type) ? `${type}[]` : `Array<${type}>`);

function objectType(schema: Schema, direction: Direction, location: string): string {
  const { properties = {}, required = [], additionalProperties: additional } = schema;
  const fields = Object.entries(properties).map(([name, field]) =>
    toField(
      name,
      toType(field, direction, `${location}.${name}`),
      required.includes(name),
      direction,
      field.description,
    ),
  );
  if (typeof additional !== 'object') return fields.length > 0 ? `{\n${fields.join('\n')}\n}` : 'Record<string, never>';
  if (fields.length > 0) throw new Error(`${location}: properties and additionalProperties cannot be combined`);
  return `Record<string, ${toType(additional, direction, `${location}{}`)}>`;
}

export function toField(name: string, type: string, required: boolean, direction: Direction, description = ''): string {
  const optional = direction === 'sent' ? ' | undefined' : '';
  return `${comment(description)}${JSON.stringify(name)}${required ? ':' : '?:'} ${type}${required ? '' : optional};`;
}

export const comment = (text: string): string => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');
