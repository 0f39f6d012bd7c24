/** Schemas of the OpenAPI document as TypeScript. It knows the keywords that the document uses, and refuses others. */

export type Schema = {
  type?: string | string[];
  description?: string;
  enum?: (string | number | boolean | null)[];
  anyOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
};

/** What is sent may hold undefined, which JSON leaves out. */
export type Direction = 'sent' | 'received';

const SAID_BY_TYPES = ['type', 'enum', 'anyOf', 'items', 'required', 'properties', 'additionalProperties'];
/** Types cannot say it: the service checks it, or it is for readers. */
const LEFT_OUT = ['description', 'examples', 'default', 'format', 'pattern', 'minLength', 'maxLength'];
const LIMITS = ['minimum', 'maximum', 'maxItems', 'maxProperties'];
const KNOWN = new Set([...SAID_BY_TYPES, ...LEFT_OUT, ...LIMITS]);

export function typeOf(schema: Schema, direction: Direction, at: string): string {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown) throw new Error(`${at}: what "${unknown}" means for a type is not known (scripts/schema-types.ts)`);
  if (schema.anyOf) return schema.anyOf.map((one, i) => typeOf(one, direction, `${at}/${i}`)).join(' | ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) throw new Error(`${at}: a schema without a type`);
  return types.map((type) => simpleType(type, schema, direction, at)).join(' | ');
}

function simpleType(type: string, schema: Schema, direction: Direction, at: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      if (!schema.items) throw new Error(`${at}: a list of what?`);
      return listOf(typeOf(schema.items, direction, `${at}[]`));
    case 'object':
      return objectType(schema, direction, at);
    default:
      throw new Error(`${at}: the type "${type}" is not known`);
  }
}

const listOf = (type: string): string => (/^\w+$/.test(type) ? `${type}[]` : `Array<${type}>`);

function objectType(schema: Schema, direction: Direction, at: string): string {
  const { properties = {}, required = [], additionalProperties: more } = schema;
  const fields = Object.entries(properties).map(([name, field]) =>
    fieldOf(name, typeOf(field, direction, `${at}.${name}`), required.includes(name), direction, field.description),
  );
  if (typeof more !== 'object') return fields.length > 0 ? `{\n${fields.join('\n')}\n}` : 'Record<string, never>';
  if (fields.length > 0) throw new Error(`${at}: fields with names and without in one object`);
  return `Record<string, ${typeOf(more, direction, `${at}{}`)}>`;
}

export function fieldOf(name: string, type: string, required: boolean, direction: Direction, about = ''): string {
  const optional = direction === 'sent' ? ' | undefined' : '';
  return `${comment(about)}${JSON.stringify(name)}${required ? ':' : '?:'} ${type}${required ? '' : optional};`;
}

export const comment = (text: string): string => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');
