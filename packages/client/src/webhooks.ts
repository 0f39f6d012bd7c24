import type { WebhookEvent } from './events.ts';

/** Verifies the signature of a webhook; docs/client.md describes the format. */

type HeaderValue = string | readonly string[] | null | undefined;

/** The headers of a request: those of Node and its frameworks, the Headers of fetch, or any record. */
export type WebhookHeaders = { get(name: string): string | null } | { readonly [name: string]: HeaderValue };

export type WebhookOptions = {
  /** The raw body. Parsing and serialising it would change its bytes. */
  body: string | Uint8Array | ArrayBuffer;
  /** The secrets that may have signed it; two during a rotation. */
  secrets: readonly string[];
  /** Maximum difference between the time of the signature and now, in either direction; 300 by default. */
  toleranceSeconds?: number;
  /** Returns the current time in milliseconds since 1970. */
  now?: () => number;
} & (
  | { /** All headers of the request. */ headers: WebhookHeaders }
  | { /** Webhook-Signature. */ signature: HeaderValue }
);

export type VerifiedWebhook<Event = WebhookEvent> = { event: Event; signedAt: Date };

export type WebhookErrorCode = 'malformed_signature' | 'wrong_signature' | 'too_old' | 'too_new' | 'malformed_body';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the event if one of the secrets signed it within the tolerance; otherwise throws. */
export async function verifyWebhook<Event = WebhookEvent>(options: WebhookOptions): Promise<VerifiedWebhook<Event>> {
  const { secrets, toleranceSeconds = 300, now = Date.now } = options;
  if (secrets.length === 0 || secrets.includes(''))
    throw new TypeError('At least one secret is required, and none may be empty.');
  const { timestamp, signatures } = parseSignatureHeader(signatureOf(options));
  const body = typeof options.body === 'string' ? UTF8.encode(options.body) : new Uint8Array(options.body);
  const signed = concatBytes(UTF8.encode(`${timestamp}.`), body);

  // All combinations are compared, so that the time taken does not reveal which secret or signature was close.
  const expected = await Promise.all(secrets.map((secret) => hmac(secret, signed)));
  const matches = expected.flatMap((mac) => signatures.filter((signature) => equalInConstantTime(mac, signature)));
  if (matches.length === 0)
    throw verificationError('wrong_signature', 'No signature matches the body, the time and one of the secrets.');

  const age = now() / 1000 - Number(timestamp);
  if (age > toleranceSeconds) throw verificationError('too_old', `It was signed ${Math.floor(age)} seconds ago.`);
  if (age < -toleranceSeconds)
    throw verificationError('too_new', `It was signed ${Math.floor(-age)} seconds from now.`);
  return { event: parseEvent(body) as Event, signedAt: new Date(Number(timestamp) * 1000) };
}

const UTF8 = new TextEncoder();

const SIGNATURE_HEADER = 'webhook-signature';

function signatureOf(options: WebhookOptions): string {
  const value = 'headers' in options ? headerValue(options.headers) : options.signature;
  return typeof value === 'string' ? value : (value?.join() ?? '');
}

/** Some platforms keep the letters of a name as they were sent. */
function headerValue(headers: WebhookHeaders): HeaderValue {
  if (typeof headers.get === 'function') return headers.get(SIGNATURE_HEADER);
  return Object.entries(headers).find(([name]) => name.toLowerCase() === SIGNATURE_HEADER)?.[1];
}

/** Parses `t=1767225600,v1=<hex>,v1=<hex>`. Other fields belong to future versions and are ignored. */
function parseSignatureHeader(header: string): { timestamp: string; signatures: Uint8Array[] } {
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const values = (name: string) => parts.filter(([key]) => key === name).map(([, value = '']) => value);
  const [timestamp = '', ...extraTimestamps] = values('t');
  const signatures = values('v1').filter((hex) => /^[0-9a-f]{64}$/.test(hex));
  if (!/^\d{1,12}$/.test(timestamp) || extraTimestamps.length > 0 || signatures.length === 0) {
    throw verificationError(
      'malformed_signature',
      'The header must contain one t= and at least one v1= with 64 hex digits.',
    );
  }
  return { timestamp, signatures: signatures.map(hexToBytes) };
}

const hexToBytes = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

async function hmac(secret: string, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', UTF8.encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, data));
}

/** Compares every byte, so that the time does not depend on the position of the first difference. */
function equalInConstantTime(first: Uint8Array, second: Uint8Array): boolean {
  let difference = first.length ^ second.length;
  for (const [i, byte] of first.entries()) difference |= byte ^ (second[i] ?? 0);
  return difference === 0;
}

function concatBytes(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(head.length + tail.length);
  result.set(head);
  result.set(tail, head.length);
  return result;
}

function parseEvent(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw verificationError('malformed_body', 'The body is not JSON in UTF-8.');
  }
}

const verificationError = (code: WebhookErrorCode, message: string) => new WebhookVerificationError(code, message);
