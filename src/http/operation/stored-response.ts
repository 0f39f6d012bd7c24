import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** An answer as it goes over the wire. */
export type StoredResponse = { status: number; headers: Record<string, string>; body: string };

export type StoredBody = { body: string | null; sealed_body: Buffer | null };

const NONCE = 12;
const TAG = 16;

/** What may not be stored is sealed with what only the caller knows: its token and its key. */
export function encodeBody({ headers, body }: StoredResponse, callersSecret: string): StoredBody {
  if (headers['cache-control'] !== 'no-store') return { body, sealed_body: null };
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', keyOf(callersSecret), nonce);
  const sealed = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
  return { body: null, sealed_body: Buffer.concat([nonce, cipher.getAuthTag(), sealed]) };
}

/** Undefined where another token asks for what was shown to the first. */
export function decodeBody({ body, sealed_body }: StoredBody, callersSecret: string): string | undefined {
  if (!sealed_body) return body ?? undefined;
  const decipher = createDecipheriv('aes-256-gcm', keyOf(callersSecret), sealed_body.subarray(0, NONCE));
  decipher.setAuthTag(sealed_body.subarray(NONCE, NONCE + TAG));
  try {
    return decipher.update(sealed_body.subarray(NONCE + TAG), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

const keyOf = (secret: string) => new Uint8Array(hkdfSync('sha256', secret, '', 'kept answer', 32));
