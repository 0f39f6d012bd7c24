import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from './http.ts';
import { type Operation, type Paths, readDocument } from './openapi-document.ts';

export const document = readDocument();

/** The twelve specified operations in all their forms, without the additions of the service. */
export const specified: Paths = Object.fromEntries(
  Object.entries(document.paths)
    .map(([path, operations]): [string, Paths[string]] => [
      path,
      Object.fromEntries(Object.entries(operations).filter(([, operation]) => operation['x-specified'])),
    ])
    .filter(([, operations]) => Object.keys(operations).length > 0),
);

const patterns = Object.entries(document.paths).map(([path, operations]) => ({
  match: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operations,
}));
// Each format has a pattern beside it, which is checked; `examples` and `default` are for readers.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const validators = new Map<object, ValidateFunction>();
/** By the text of the schema. Most operations describe the same problems, and compiling a schema takes milliseconds. */
const compiled = new Map<string, ValidateFunction>();

/** The public pages that are not operations of the API, and so not in the document. */
const PUBLIC_PAGES =
  /^\/(healthz|readyz|metrics|openapi\.json|favicon\.(ico|svg)|docs(\/.*)?|sign-in(\/page\.[\w-]+\.(css|js))?)?$/;

/**
 * Fails if the answer is not one that the document describes. `isRawPath`: the path was sent as it is, perhaps with a
 * fragment or odd bytes, so a path that matches no operation here may still lead to one.
 */
export function assertDescribed(method: string, path: string, answer: Answer, isRawPath = false): void {
  assert.ok(answer.headers['x-request-id'], 'every answer carries X-Request-Id');
  const pathname = path.split('?', 1)[0] ?? '';
  const operations = patterns.find(({ match }) => match.test(pathname))?.operations;
  const operation = operations?.[method.toLowerCase()];
  const where = `${method} ${pathname}: ${answer.status}`;
  if (operation) assertResponse(operation, answer, where);
  // Preflight requests of browsers, and HEAD instead of GET, are answered for every route.
  else if (
    !isRawPath &&
    method !== 'OPTIONS' &&
    !(method === 'HEAD' && operations?.get) &&
    !PUBLIC_PAGES.test(pathname)
  ) {
    assert.ok(answer.status >= 400, `${where}, but the route is not in the document`);
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/, where);
  }
}

function assertResponse(operation: Operation, answer: Answer, where: string): void {
  const described = operation.responses[answer.status];
  assert.ok(described, `${where} is not in the document`);
  assert.equal(answer.text === '', answer.status === 304, `${where}: only 304 has no body`);
  if (answer.status === 304) return;
  const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
  const schema = described.content?.[type]?.schema;
  assert.ok(schema, `${where}: ${type} is not in the document`);
  const validate = validators.get(schema) ?? validatorOf(schema);
  validators.set(schema, validate);
  assert.ok(
    validate(type === 'text/csv' ? answer.text : answer.body),
    `${where} differs from the document: ${ajv.errorsText(validate.errors)}\n${answer.text}`,
  );
}

function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  return validate;
}
