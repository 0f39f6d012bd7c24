/** What a form needs of a field of a request body. */
export type FieldLimits = { required?: true; maxLength?: number; options?: string[] };
export type FormLimits = Record<string, FieldLimits>;

type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  maxLength?: number;
  enum?: unknown[];
  anyOf?: Schema[];
};

/** Returns the limits of a request body of openapi.json. */
export function toFormLimits(schemas: Record<string, Schema>, name: string): FormLimits {
  const resolve = (schema: Schema): Schema => {
    const target = schema.$ref === undefined ? undefined : schemas[schema.$ref.split('/').at(-1) ?? ''];
    return target ? resolve(target) : schema;
  };
  const { properties = {}, required = [] } = resolve({ $ref: `#/components/schemas/${name}` });
  if (Object.keys(properties).length === 0) throw new Error(`openapi.json has no request body named ${name}`);
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const parts = [schema, ...(schema.anyOf ?? [])].map(resolve);
      const maxLength = parts.find((part) => part.maxLength !== undefined)?.maxLength;
      const options = parts.find((part) => part.enum !== undefined)?.enum?.filter((one) => typeof one === 'string');
      return [
        field,
        {
          ...(required.includes(field) && { required: true as const }),
          ...(maxLength !== undefined && { maxLength }),
          ...(options !== undefined && { options }),
        },
      ];
    }),
  );
}
