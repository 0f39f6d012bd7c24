import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Fault, FaultCode } from '../kernel/errors.ts';
import { Form, readForm } from '../kernel/form.ts';
import { DECIMAL_PATTERN, plainText } from '../kernel/money.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';

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
  if (!(bytes instanceof Buffer) || bytes.length === 0) return refused('required', 'must be one JSON object');
  if (!isUtf8(bytes)) return refused('format', 'must be UTF-8');
  const text = bytes.toString('utf8');
  let body: unknown;
  let exact: unknown;
  try {
    body = JSON.parse(text);
    exact = LONG_NUMBER.test(text) ? parseExact(text) : body;
  } catch {
    return refused('format', 'is not valid JSON');
  }
  const form = readForm(schema, body, exact);
  // Only an escape can bring these in: raw ones are no valid JSON and no valid UTF-8.
  if (text.includes('\\') && UNSAFE_ESCAPE.test(text)) {
    for (const { field, code, message } of unsafeText(body)) form.fault(field, code, message);
  }
  return form;
}

export const refused = <T>(code: FaultCode, message: string): Form<T> =>
  new Form({} as T, [{ field: 'body', code, message }]);

// A double gives back at most 15 digits as they were written; longer numbers are kept as their text.
const LONG_NUMBER = /\d[\d.]{15}/;
const PLAIN_DECIMAL = new RegExp(DECIMAL_PATTERN);

function parseExact(text: string): unknown {
  return JSON.parse(text, ((_key, value, { source }: { source?: string } = {}) => {
    if (typeof value !== 'number' || source === undefined || source.length < 16) return value;
    const plain = plainText(source);
    return PLAIN_DECIMAL.test(plain) ? plain : value;
  }) as (this: unknown, key: string, value: unknown) => unknown);
}

const UNSAFE_ESCAPE = /\\u(0000|d[89a-f])/i;

// Deeper than any field that is read: what lies below is named by the field down to here.
const DEEPEST_NAME = 10;

/** Not recursive: a body may be nested deeper than the stack. */
function unsafeText(body: unknown): Fault[] {
  const faults: Fault[] = [];
  const open: [value: unknown, field: string, depth: number][] = [[body, '', 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, field, depth] = next;
    if (typeof value === 'string' && !isSafe(value)) faults.push(unsafe(field));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, part] of Object.entries(value)) {
      if (!isSafe(key)) faults.push(unsafe(field || 'body'));
      else open.push([part, depth < DEEPEST_NAME ? nameOf(field, key, value) : field, depth + 1]);
    }
  }
  return faults;
}

const nameOf = (field: string, key: string, whole: object) =>
  Array.isArray(whole) ? `${field}[${key}]` : field ? `${field}.${key}` : key;

// PostgreSQL stores neither NUL nor half a surrogate pair; changing them silently would not give back what was sent.
const isSafe = (text: string) => !text.includes('\0') && text.isWellFormed();

const unsafe = (field: string): Fault => ({
  field,
  code: 'invalid_character',
  message: 'must not contain NUL characters or unpaired surrogates',
});
