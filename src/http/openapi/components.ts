import { isDeepStrictEqual } from 'node:util';

/**
 * Moves what the document repeats to its components. Schemas are named by their titles; a parameter or a header by its
 * name, unless another one has the same name.
 */

export type Schema = {
  title?: string;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  $ref?: string;
};
export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
};
type Header = { schema: Schema; description?: string };
type Content = Record<string, { schema: Schema }>;
export type Response = { $ref?: string; content?: Content; headers?: Record<string, Header> };
export type Operation = {
  operationId: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  security?: Record<string, string[]>[];
  responses: Record<string, Response>;
  'x-body-optional'?: true;
  'x-specified'?: true;
};
export type Components = {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  headers: Record<string, Header>;
  responses: Record<string, Response>;
};

export function shareComponents(operations: readonly Operation[], components: Components): void {
  const { schemas } = components;
  for (const [name, schema] of Object.entries(schemas)) schemas[name] = withReferences(schema, schemas);
  const replaceIn = (content: Content = {}) => {
    for (const media of Object.values(content)) media.schema = withReferences(media.schema, schemas);
  };
  for (const { parameters = [], requestBody, responses } of operations) {
    for (const parameter of parameters) parameter.schema = withReferences(parameter.schema, schemas);
    replaceIn(requestBody?.content);
    for (const { content } of Object.values(responses)) replaceIn(content);
  }

  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  // By the name of the component: `kind_id` in a query and `kindId` in a path have the same one, so neither is shared.
  const sharedParameters = sharedByName(parameters.map((parameter) => [parameterComponent(parameter.name), parameter]));
  const headers = [...operations.flatMap(({ responses }) => Object.values(responses))].flatMap((response) =>
    Object.entries(response.headers ?? {}),
  );
  const sharedHeaders = sharedByName(headers);
  for (const operation of operations) {
    operation.parameters &&= operation.parameters.map((parameter) =>
      sharedParameters.has(parameterComponent(parameter.name))
        ? (reference('parameters', parameterComponent(parameter.name)) as never)
        : parameter,
    );
    for (const response of Object.values(operation.responses)) {
      for (const name in response.headers) {
        if (sharedHeaders.has(name)) response.headers[name] = reference('headers', name) as never;
      }
    }
  }
  components.parameters = Object.fromEntries(sharedParameters);
  components.headers = Object.fromEntries(sharedHeaders);
}

/** Generators make types of schemas and of parameters, so `removed` would meet the schema `Removed`. */
const parameterComponent = (name: string): string =>
  `${name.replaceAll(/[-_](.)/g, (_, letter: string) => letter.toUpperCase()).replace(/^./, (first) => first.toLowerCase())}Parameter`;

const reference = (kind: keyof Components, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Returns the values that are used several times under a name that no other value has. */
function sharedByName<T>(used: readonly (readonly [name: string, value: T])[]): Map<string, T> {
  const shared = new Map<string, T>();
  for (const [name, values] of Map.groupBy(used, ([key]) => key)) {
    const [first, ...others] = values.map(([, value]) => value);
    if (first === undefined || others.length === 0) continue;
    if (others.every((other) => isDeepStrictEqual(other, first))) shared.set(name, first);
  }
  return shared;
}

/** Returns the schema with a reference instead of every schema that has a title; those are added to `schemas`. */
function withReferences(schema: Schema, schemas: Components['schemas']): Schema {
  const { title, ...rest } = schema;
  const replaced: Schema = { ...rest };
  if (rest.properties) {
    const fields = Object.entries(rest.properties).map(([name, field]) => [name, withReferences(field, schemas)]);
    replaced.properties = Object.fromEntries(fields);
  }
  if (rest.items) replaced.items = withReferences(rest.items, schemas);
  if (rest.anyOf) replaced.anyOf = rest.anyOf.map((option) => withReferences(option, schemas));
  if (typeof rest.additionalProperties === 'object') {
    replaced.additionalProperties = withReferences(rest.additionalProperties, schemas);
  }
  return title === undefined ? replaced : namedReference(title, replaced, schemas);
}

/** The use of a schema says what it means there and whether it may be null; the component has everything else. */
function namedReference(name: string, schema: Schema, schemas: Components['schemas']): Schema {
  const { description, ...component } = schema;
  const isNullable = Array.isArray(component.type) && component.type.includes('null');
  if (isNullable) {
    const types = (component.type as string[]).filter((type) => type !== 'null');
    component.type = types.length === 1 ? (types[0] as string) : types;
    if (component.enum) component.enum = component.enum.filter((value) => value !== null);
  }
  const known = schemas[name];
  if (known && !isDeepStrictEqual(known, component)) {
    throw new Error(`Two schemas of the OpenAPI document have the title ${name}.`);
  }
  schemas[name] ??= component;
  const use: Schema = isNullable
    ? { anyOf: [reference('schemas', name), { type: 'null' }] }
    : reference('schemas', name);
  return description === undefined ? use : { ...use, description };
}
