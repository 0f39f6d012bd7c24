import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { type Credentials, Refusal } from './verbs.ts';

export const FORM = 'application/x-www-form-urlencoded';

export type Parameters = ReadonlyMap<string, string>;

const KNOWN = ['grant_type', 'scope', 'token', 'client_id', 'client_secret'];

/**
 * The body as JSON or as a form. A parameter without a value counts as not sent, and one that nobody knows is ignored,
 * whatever it holds (RFC 6749, section 3.2).
 */
export function parametersOf({ body, headers }: FastifyRequest): Parameters {
  if (!(body instanceof Buffer) || body.length === 0) throw invalid('The body must hold the parameters.');
  if (!isUtf8(body)) throw invalid('The body must be UTF-8.');
  const text = body.toString('utf8');
  const isForm = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === FORM;
  const parameters = new Map<string, string>();
  for (const [name, value] of isForm ? new URLSearchParams(text) : jsonEntries(text)) {
    if (!KNOWN.includes(name) || value === '' || value === null) continue;
    if (typeof value !== 'string') throw invalid(`The parameter ${name} must be text.`);
    if (parameters.has(name)) throw invalid(`The parameter ${name} must not be sent twice.`);
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
  // A client_id is a UUID, in which letter case means nothing.
  if (id !== undefined && basic && id.toLowerCase() !== basic.id.toLowerCase()) {
    throw invalid('The body names another client than the header.');
  }
  return basic;
}

/** Returns undefined if the header is missing or cannot be read. */
export function readBasic(header: string | undefined): Credentials | undefined {
  const text = Buffer.from(BASIC.exec(header ?? '')?.[1] ?? '', 'base64').toString('utf8');
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
