import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/**
 * Encrypts a text with AES-256-GCM and a random nonce. The result is nonce, ciphertext and tag. It opens only together
 * with the same additional data, which is authenticated but not part of the result.
 */
export function seal(key: Uint8Array, plaintext: string, additionalData = ''): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(additionalData));
  return Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Returns undefined if the text was sealed with another key or other additional data, or was changed since. */
export function open(key: Uint8Array, sealed: Buffer, additionalData = ''): string | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(additionalData));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const parts = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(parts).toString('utf8');
  } catch {
    return undefined;
  }
}

const VERSION = 'v1.';

/**
 * Encrypts secrets that the service has to read again. A sealed secret is bound to its owner, such as the key of its
 * row, so that a value copied to another row does not open there.
 */
export class SecretBox {
  readonly #keys: readonly Buffer[];

  /** The first key seals; every key opens. To change the key, put the new one first and keep the old one behind it. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
  }

  seal(secret: string, owner: readonly string[]): string {
    const [key] = this.#keys;
    if (!key) throw new Error('SECRETS_KEY is not set: secrets cannot be encrypted. Set it and try again.');
    return VERSION + seal(key, secret, additionalDataOf(owner)).toString('base64url');
  }

  /** Returns undefined if no key opens it. */
  open(sealed: string, owner: readonly string[]): string | undefined {
    return openWithAny(this.#keys, sealed, owner);
  }

  /** Whether the current key opens it, so that it does not depend on the old keys. */
  isCurrent(sealed: string, owner: readonly string[]): boolean {
    return openWithAny(this.#keys.slice(0, 1), sealed, owner) !== undefined;
  }
}

function openWithAny(keys: readonly Buffer[], sealed: string, owner: readonly string[]): string | undefined {
  if (!sealed.startsWith(VERSION)) return undefined;
  const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
  for (const key of keys) {
    const secret = open(key, bytes, additionalDataOf(owner));
    if (secret !== undefined) return secret;
  }
  return undefined;
}

const additionalDataOf = (owner: readonly string[]): string => owner.join('\0');
