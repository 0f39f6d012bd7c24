import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Fault, FaultCode } from '../kernel/errors.ts';
import { Form, readForm } from '../kernel/form.ts';
import { DECIMAL_PATTERN } from '../kernel/money.ts';

/**
 * Bodies are kept as bytes until a verb asks for them: whether a body can be read at all is judged only after the
 * path has been (an unknown case is 404 whatever the body holds).
 */
export function rawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

export function formOf<S extends TSchema>(schema: S, bytes: unknown): Form<Static<S>> {
  if (!(bytes instanceof Buffer) || bytes.length === 0) return refused('required', 'must be one JSON object');
  if (!isUtf8(bytes)) return refused('format', 'must be UTF-8');
  const text = bytes.toString('utf8');
  let body: unknown;
  try {
    body = parse(text);
  } catch {
    return refused('format', 'is not valid JSON');
  }
  const form = readForm(schema, body);
  // Only an escape can bring these in: raw ones are no valid JSON and no valid UTF-8.
  if (UNSAFE_ESCAPE.test(text))
    for (const fault of unsafeText(body, '')) form.fault(fault.field, fault.code, fault.message);
  return form;
}

export const refused = <T>(code: FaultCode, message: string): Form<T> =>
  new Form({} as T, [{ field: 'body', code, message }]);

// A double gives back at most 15 digits as they were written; longer numbers are kept as their text.
const LONG_NUMBER = /\d[\d.]{15}/;
const PLAIN_DECIMAL = new RegExp(DECIMAL_PATTERN);

function parse(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(text, ((_key, value, { source }: { source?: string } = {}) => {
    const long = typeof value === 'number' && source !== undefined && source.length > 15 && PLAIN_DECIMAL.test(source);
    return long ? source : value;
  }) as (this: unknown, key: string, value: unknown) => unknown);
}

const UNSAFE_ESCAPE = /\\u(0000|d[89a-f])/i;

function unsafeText(value: unknown, field: string): Fault[] {
  if (typeof value === 'string') return isSafe(value) ? [] : [unsafe(field)];
  if (Array.isArray(value)) return value.flatMap((item, i) => unsafeText(item, `${field}[${i}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    isSafe(key) ? unsafeText(item, field ? `${field}.${key}` : key) : [unsafe(field || 'body')],
  );
}

// PostgreSQL stores neither NUL nor half a surrogate pair; changing them silently would not give back what was sent.
const isSafe = (text: string) => !text.includes('\0') && text.isWellFormed();

const unsafe = (field: string): Fault => ({
  field,
  code: 'invalid_character',
  message: 'must not contain NUL characters or unpaired surrogates',
});
