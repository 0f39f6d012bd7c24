/** The signature of a webhook, as docs/client.md describes it. */

export type WebhookOptions = {
  /** As it came: parsed and written again it would be other bytes. */
  body: string | Uint8Array | ArrayBuffer;
  /** The header Webhook-Signature. */
  signature: string | null | undefined;
  /** All that may have signed it: two while they are being changed. */
  secrets: readonly string[];
  /** How far the time of the signature may be from now, in both directions. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
};

export type VerifiedWebhook<Event = unknown> = { event: Event; signedAt: Date };

export type WebhookFault = 'malformed_signature' | 'wrong_signature' | 'too_old' | 'too_new' | 'malformed_body';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookFault;

  constructor(code: WebhookFault, message: string) {
    super(message);
    this.code = code;
  }
}

/** The event, where one of the secrets has signed it within the tolerance; throws otherwise. */
export async function verifyWebhook<Event = unknown>(options: WebhookOptions): Promise<VerifiedWebhook<Event>> {
  const { secrets, toleranceSeconds = 300, now = Date.now } = options;
  if (secrets.length === 0 || secrets.includes('')) throw new TypeError('A secret must be given, and none be empty.');
  const { timestamp, signatures } = readHeader(options.signature ?? '');
  const body = typeof options.body === 'string' ? UTF8.encode(options.body) : new Uint8Array(options.body);
  const signed = joined(UTF8.encode(`${timestamp}.`), body);

  // All are tried, so that the time it takes does not tell which secret or signature was close.
  const right = await Promise.all(secrets.map((secret) => hmac(secret, signed)));
  const matches = right.flatMap((one) => signatures.filter((given) => areEqual(one, given)));
  if (matches.length === 0) throw refused('wrong_signature', 'None of the secrets has signed this body at this time.');

  const age = now() / 1000 - Number(timestamp);
  if (age > toleranceSeconds) throw refused('too_old', `It was signed ${Math.floor(age)} seconds ago.`);
  if (age < -toleranceSeconds) throw refused('too_new', `It was signed ${Math.floor(-age)} seconds from now.`);
  return { event: readEvent(body) as Event, signedAt: new Date(Number(timestamp) * 1000) };
}

const UTF8 = new TextEncoder();

/** `t=1767225600,v1=<hex>,v1=<hex>`. What else stands there is of a version to come. */
function readHeader(header: string): { timestamp: string; signatures: Uint8Array[] } {
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const values = (name: string) => parts.filter(([key]) => key === name).map(([, value = '']) => value);
  const [timestamp = '', ...further] = values('t');
  const signatures = values('v1').filter((hex) => /^[0-9a-f]{64}$/.test(hex));
  if (!/^\d{1,12}$/.test(timestamp) || further.length > 0 || signatures.length === 0) {
    throw refused('malformed_signature', 'The header must hold one t= and at least one v1= with 64 hex digits.');
  }
  return { timestamp, signatures: signatures.map(bytesOf) };
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

async function hmac(secret: string, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', UTF8.encode(secret), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, data));
}

/** Looks at every byte, wherever the first difference is. */
function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [i, byte] of one.entries()) difference |= byte ^ (other[i] ?? 0);
  return difference === 0;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function readEvent(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw refused('malformed_body', 'The body is not JSON in UTF-8.');
  }
}

const refused = (code: WebhookFault, message: string) => new WebhookVerificationError(code, message);
