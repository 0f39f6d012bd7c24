import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { type ClientCredentials, OAuthError } from './verbs.ts';

export const FORM_CONTENT_TYPE = 'application/x-www-form-urlencoded';

export type Parameters = ReadonlyMap<string, string>;

const KNOWN_PARAMETERS = ['grant_type', 'scope', 'token', 'client_id', 'client_secret'];

/**
 * Reads the body as JSON or as a form. A parameter without a value counts as not sent, and an unknown parameter is
 * ignored, whatever its value (RFC 6749, section 3.2).
 */
export function parseParameters({ body, headers }: FastifyRequest): Parameters {
  if (!(body instanceof Buffer) || body.length === 0) throw invalidRequest('The body must contain the parameters.');
  if (!isUtf8(body)) throw invalidRequest('The body must be UTF-8.');
  const text = body.toString('utf8');
  const isForm = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === FORM_CONTENT_TYPE;
  const parameters = new Map<string, string>();
  for (const [name, value] of isForm ? new URLSearchParams(text) : jsonEntries(text)) {
    if (!KNOWN_PARAMETERS.includes(name) || value === '' || value === null) continue;
    if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be text.`);
    if (parameters.has(name)) throw invalidRequest(`The parameter ${name} must not be sent twice.`);
    parameters.set(name, value);
  }
  return parameters;
}

function jsonEntries(text: string): [string, unknown][] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The error is thrown below: undefined is not an object.
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidRequest('The body must be one JSON object.');
  return Object.entries(body);
}

const BASIC_HEADER = /^Basic +([A-Za-z0-9+/]+=*) *$/i;

/** Reads the credentials from HTTP Basic or from the body, never both. Returns undefined if there are none. */
export function readClientCredentials(
  { headers }: FastifyRequest,
  parameters: Parameters,
): ClientCredentials | undefined {
  const [id, secret] = [parameters.get('client_id'), parameters.get('client_secret')];
  if (headers.authorization === undefined) return id && secret ? { id, secret } : undefined;
  if (secret !== undefined) throw invalidRequest('The client must authenticate in one way only.');
  const basic = parseBasicAuth(headers.authorization);
  // A client_id is a UUID, so letter case does not matter.
  if (id !== undefined && basic && id.toLowerCase() !== basic.id.toLowerCase()) {
    throw invalidRequest('The client_id in the body differs from the one in the Authorization header.');
  }
  return basic;
}

/** Returns undefined if the header is missing or cannot be read. */
export function parseBasicAuth(header: string | undefined): ClientCredentials | undefined {
  const text = Buffer.from(BASIC_HEADER.exec(header ?? '')?.[1] ?? '', 'base64').toString('utf8');
  const [, id, secret] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { id: decode(id), secret: decode(secret) };
  } catch {
    return undefined;
  }
}

/** Id and secret are form-encoded before they are joined (RFC 6749, section 2.3.1). */
const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

const invalidRequest = (message: string) => new OAuthError('invalid_request', message);
