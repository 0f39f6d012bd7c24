import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { type Credentials, Refusal } from './oauth.ts';

export const FORM = 'application/x-www-form-urlencoded';

export type Parameters = ReadonlyMap<string, string>;

/** The body as JSON or as a form. A parameter without a value counts as not sent (RFC 6749, section 3.2). */
export function parametersOf({ body, headers }: FastifyRequest): Parameters {
  if (!(body instanceof Buffer) || body.length === 0) throw invalid('The body must hold the parameters.');
  if (!isUtf8(body)) throw invalid('The body must be UTF-8.');
  const text = body.toString('utf8');
  const isForm = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === FORM;
  const parameters = new Map<string, string>();
  for (const [name, value] of isForm ? new URLSearchParams(text) : jsonEntries(text)) {
    if (value === '' || value === null) continue;
    if (typeof value !== 'string') throw invalid('Every parameter must be text.');
    if (parameters.has(name)) throw invalid('A parameter must not be sent twice.');
    parameters.set(name, value);
  }
  return parameters;
}

function jsonEntries(text: string): [string, unknown][] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Falls through: null is no object either.
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('The body must be one JSON object.');
  return Object.entries(body);
}

const BASIC = /^Basic +([A-Za-z0-9+/]+=*) *$/i;

/** By HTTP Basic or in the body, never both. Undefined where there are none that could be read. */
export function credentialsOf({ headers }: FastifyRequest, parameters: Parameters): Credentials | undefined {
  const [id, secret] = [parameters.get('client_id'), parameters.get('client_secret')];
  if (headers.authorization === undefined) return id && secret ? { id, secret } : undefined;
  if (secret !== undefined) throw invalid('The client must authenticate in one way only.');
  const basic = readBasic(headers.authorization);
  if (id !== undefined && basic && id !== basic.id) throw invalid('The body names another client than the header.');
  return basic;
}

function readBasic(header: string): Credentials | undefined {
  const text = Buffer.from(BASIC.exec(header)?.[1] ?? '', 'base64').toString('utf8');
  const [, id, secret] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { id: decode(id), secret: decode(secret) };
  } catch {
    return undefined;
  }
}

/** Both halves are written as in a form (RFC 6749, section 2.3.1). */
const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

const invalid = (message: string) => new Refusal('invalid_request', message);
