import type * as typebox from 'typebox';

/**
 * The builders of TypeBox that the schemas use, with TypeBox's own types. TypeBox loads 373 modules, which takes 0.2 s
 * of CPU time at every start, while a schema is only an object. `npm run check` compares the schemas in openapi.json.
 */

type Options = Record<string, unknown>;

/** The schemas that `Type.Optional` returned. A mark in the schema itself would be published with it. */
const optionalSchemas = new WeakSet<object>();

const builders = {
  String: (options?: Options) => ({ type: 'string', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Union: (anyOf: object[], options?: Options) => ({ anyOf, ...options }),
  /** The keys can be any text. */
  Record: (_key: object, value: object, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Object: (properties: Record<string, object>, options?: Options) => {
    const required = Object.keys(properties).filter((name) => !optionalSchemas.has(properties[name] as object));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** A copy, because the same schema can be required elsewhere. */
  Optional: (schema: object) => {
    const optional = { ...schema };
    optionalSchemas.add(optional);
    return optional;
  },
  Unsafe: (schema: object) => schema,
};

export const Type = builders as unknown as Pick<typeof typebox.Type, keyof typeof builders>;
