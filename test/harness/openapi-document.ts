import { readFileSync } from 'node:fs';

/**
 * The committed OpenAPI document in a form that is easy to walk: without references, with every alternative method and
 * path as an operation of its own, with the scope of every operation, and with each status that `default` stands for.
 */

export type Response = { $ref?: string; content?: Record<string, { schema: object }> };
export type Operation = {
  operationId: string;
  tags: string[];
  responses: Record<string, Response>;
  parameters?: { name: string; in: string }[];
  requestBody?: object;
  security?: Record<string, string[]>[];
  'x-specified'?: boolean;
  'x-alternatives'?: string[];
  /** One of the alternatives of another operation. */
  isAlternative?: boolean;
};
export type Paths = Record<string, Record<string, Operation>>;
export type Document = { paths: Paths };

/** The statuses that the text of the common response names. */
const COMMON_STATUSES = ['413', '415', '429', '500', '503'];

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
type Part = any;

export function readDocument(): Document {
  const raw: Part = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const document: Document = withoutReferences(raw, raw);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  for (const { operation } of operations) complete(operation);
  for (const { operation } of operations) addAlternatives(operation, document.paths);
  return document;
}

function withoutReferences(part: Part, root: Part): Part {
  if (Array.isArray(part)) return part.map((element) => withoutReferences(element, root));
  if (typeof part !== 'object' || part === null) return part;
  if (typeof part.$ref === 'string') {
    const { $ref, ...beside } = part;
    const target = $ref
      .split('/')
      .slice(1)
      .reduce((at: Part, key: string) => at[key], root);
    return { ...withoutReferences(target, root), ...beside };
  }
  const replaced = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, withoutReferences(value, root)]),
  );
  const [option, orNull, ...others] = replaced.anyOf ?? [];
  if (orNull?.type !== 'null' || others.length > 0) return replaced;
  const { anyOf, ...beside } = replaced;
  return {
    ...option,
    ...beside,
    type: [option.type, 'null'].flat(),
    ...(option.enum && { enum: [...option.enum, null] }),
  };
}

function complete(operation: Operation): void {
  // The harness and the clients of the tests always send Content-Type.
  operation.parameters &&= operation.parameters.filter(({ name }) => name !== 'Content-Type');
  const { default: common, ...responses } = operation.responses;
  for (const status of COMMON_STATUSES) if (common) responses[status] ??= common;
  operation.responses = responses;
  const scopes = (operation.security ?? []).flatMap(({ oauth2 = [] }) => oauth2);
  // One of these scopes is enough.
  for (const scheme of operation.security ?? [])
    if (scheme.bearer) scheme.bearer = scopes.length > 0 ? scopes : ['operator'];
}

/** POST of an appointment is an alternative of two operations, and its body decides between them. */
function addAlternatives(operation: Operation, paths: Paths): void {
  for (const form of operation['x-alternatives'] ?? []) {
    const [method = '', path = ''] = form.split(' ');
    paths[path] ??= {};
    const other = paths[path][method.toLowerCase()];
    const alternative = structuredClone({ ...operation, isAlternative: true });
    paths[path][method.toLowerCase()] = other ? combined(other, alternative) : alternative;
  }
}

function combined(first: Operation, second: Operation): Operation {
  const schemas = [first, second].map(({ responses }) => responses[200]?.content?.['application/json']?.schema);
  const requestBody = first.requestBody ?? second.requestBody;
  return {
    ...first,
    ...(requestBody && { requestBody: { ...requestBody, required: false } }),
    responses: { ...first.responses, 200: { ...first.responses[200], ...jsonOf({ anyOf: schemas }) } },
  };
}

const jsonOf = (schema: object) => ({ content: { 'application/json': { schema } } });
