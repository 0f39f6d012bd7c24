/** What a form needs of a field of a request body. The service checks everything else and names the field. */
export type FieldLimits = { required?: true };
export type FormLimits = Record<string, FieldLimits>;

type Schema = { $ref?: string; properties?: Record<string, Schema>; required?: string[] };

/** Returns the required fields of a request body of openapi.json. */
export function toFormLimits(schemas: Record<string, Schema>, name: string): FormLimits {
  const resolve = (schema: Schema): Schema => {
    const target = schema.$ref === undefined ? undefined : schemas[schema.$ref.split('/').at(-1) ?? ''];
    return target ? resolve(target) : schema;
  };
  const { properties = {}, required = [] } = resolve({ $ref: `#/components/schemas/${name}` });
  if (Object.keys(properties).length === 0) throw new Error(`openapi.json has no request body named ${name}`);
  return Object.fromEntries(required.map((field) => [field, { required: true }]));
}
