import { hkdfSync } from 'node:crypto';
import { NONCE_BYTES, open, seal, TAG_BYTES } from '../../kernel/secret-box.ts';

/** A response as it is sent, and as it is stored for a retry with the same Idempotency-Key. */
export type StoredResponse = { status: number; headers: Record<string, string>; body: string };

export type StoredBody = { body: string | null; sealed_body: Buffer | null };

/** A body with a secret is encrypted with what only the caller knows: its token and its Idempotency-Key. */
export function encodeBody({ headers, body }: StoredResponse, callerSecret: string): StoredBody {
  if (headers['cache-control'] !== 'no-store') return { body, sealed_body: null };
  return { body: null, sealed_body: withTagSecond(seal(keyFrom(callerSecret), body)) };
}

/** Returns undefined if the body was encrypted for another token. */
export function decodeBody({ body, sealed_body }: StoredBody, callerSecret: string): string | undefined {
  if (!sealed_body) return body ?? undefined;
  return open(keyFrom(callerSecret), withTagLast(sealed_body));
}

/**
 * A body is stored as nonce, tag and ciphertext, while the envelope has the tag last. The order stays, because during a
 * rolling upgrade a process of the previous release must be able to open what this one stores.
 */
function withTagSecond(sealed: Buffer): Buffer {
  const tag = sealed.subarray(-TAG_BYTES);
  return Buffer.concat([sealed.subarray(0, NONCE_BYTES), tag, sealed.subarray(NONCE_BYTES, -TAG_BYTES)]);
}

function withTagLast(sealed: Buffer): Buffer {
  const [nonce, tag] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
  return Buffer.concat([nonce, sealed.subarray(NONCE_BYTES + TAG_BYTES), tag]);
}

const keyFrom = (secret: string) => new Uint8Array(hkdfSync('sha256', secret, '', 'kept answer', 32));
