import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 'v1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Secrets that have to be read again, at rest: AES-256-GCM with a nonce of its own for each. `owner` is bound to what
 * is sealed, so that a value copied to another row does not open there.
 */
export class SecretBox {
  readonly #keys: readonly Buffer[];

  /** The first key seals, all of them open: a new one is put in front of the old ones until everything is sealed anew. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
  }

  seal(secret: string, owner: readonly string[]): string {
    const [key] = this.#keys;
    if (!key) throw new Error('There is no key to seal with.');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(aad(owner));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return VERSION + sealed.toString('base64url');
  }

  /** Undefined where no key opens it. */
  open(sealed: string, owner: readonly string[]): string | undefined {
    return openWith(this.#keys, sealed, owner);
  }

  /** Whether the key that seals now opens it: then the keys behind it are not needed for it. */
  isCurrent(sealed: string, owner: readonly string[]): boolean {
    return openWith(this.#keys.slice(0, 1), sealed, owner) !== undefined;
  }
}

function openWith(keys: readonly Buffer[], sealed: string, owner: readonly string[]): string | undefined {
  const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
  if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  for (const key of keys) {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(aad(owner));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      // Sealed with another key, or for another owner.
    }
  }
  return undefined;
}

const aad = (owner: readonly string[]): Buffer => Buffer.from(owner.join('\0'));
