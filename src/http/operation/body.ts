import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { FaultCode } from '../../kernel/errors.ts';
import { Form, readForm } from '../../kernel/validation/form.ts';
import type { UnfinishedBodies } from '../plugins/unfinished-bodies.ts';
import { isTooDeep, MAX_DEPTH } from './json-depth.ts';
import { hasDecimals, LONG_NUMBER, quoteLongNumbers } from './long-numbers.ts';
import { unsafeText } from './unsafe-text.ts';

export const BODY_LIMIT = 1024 * 1024;

/**
 * Bodies are kept as bytes until a verb asks for them: whether a body can be read at all is judged only after the
 * path has been (an unknown case is 404 whatever the body holds).
 */
export function rawBodies(app: FastifyInstance, bodies: UnfinishedBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', bodies.parser(BODY_LIMIT));
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
  // Only an escape can bring these in: raw ones are no valid JSON and no valid UTF-8.
  if (text.includes('\\') && UNSAFE_ESCAPE.test(text)) {
    for (const { field, code, message } of unsafeText(body)) form.addFault(field, code, message);
  }
  return form;
}

export const rejectedForm = <T>(code: FaultCode, message: string): Form<T> =>
  new Form({} as T, [{ field: 'body', code, message }]);

const UNSAFE_ESCAPE = /\\u(0000|d[89a-f])/i;
