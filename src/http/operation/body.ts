import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { FaultCode } from '../../kernel/errors.ts';
import { Form, readForm } from '../../kernel/validation/form.ts';
import type { UnfinishedBodies } from '../plugins/unfinished-bodies.ts';
import { isTooDeep, MAX_DEPTH } from './json-depth.ts';
import { hasDecimals, LONG_NUMBER, quoteLongNumbers } from './long-numbers.ts';
import { unsafeText } from './unsafe-text.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Passes bodies on as bytes. They are parsed only after the path is checked: an unknown case is 404 whatever the body
 * is.
 */
export function rawBodies(app: FastifyInstance, bodies: UnfinishedBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', bodies.parser(MAX_BODY_BYTES));
}

export function formOf<S extends TSchema>(schema: S, bytes: unknown): Form<Static<S>> {
  if (!(bytes instanceof Buffer) || bytes.length === 0) return rejectedForm('required', 'must be one JSON object');
  if (!isUtf8(bytes)) return rejectedForm('format', 'must be UTF-8');
  const text = bytes.toString('utf8');
  if (isTooDeep(text)) return rejectedForm('format', `must not be nested more than ${MAX_DEPTH} deep`);
  let body: unknown;
  let exact: unknown;
  try {
    body = JSON.parse(text);
    exact = LONG_NUMBER.test(text) && hasDecimals(schema) ? JSON.parse(quoteLongNumbers(text)) : body;
  } catch {
    return rejectedForm('format', 'is not valid JSON');
  }
  const form = readForm(schema, body, exact);
  // Only escapes can produce these characters: unescaped, they are not valid JSON or UTF-8.
  if (text.includes('\\') && UNSAFE_ESCAPE.test(text)) {
    for (const { field, code, message } of unsafeText(body)) form.addFault(field, code, message);
  }
  return form;
}

export const rejectedForm = <T>(code: FaultCode, message: string): Form<T> =>
  new Form({} as T, [{ field: 'body', code, message }]);

const UNSAFE_ESCAPE = /\\u(0000|d[89a-f])/i;
