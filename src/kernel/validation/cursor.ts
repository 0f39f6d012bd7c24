import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** Where a page of a list ended: what the list is sorted by, and the id of the record. */
export type Position = { key: string; id: string };

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 16;
/** More than the cursor of the longest key, a name of 202 characters of four bytes each. */
export const MAX_CURSOR_LENGTH = 1_500;
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

/**
 * Encrypts a position under the company's key: it can be the name of a person, and URLs are written to logs. `list` names
 * the list with its filters and its sort, and the cursor can be read with the same one only.
 */
export function toCursor(companyKey: Buffer, list: string, { key, id }: Position): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-128-gcm', cursorKey(companyKey), nonce).setAAD(Buffer.from(list));
  const text = [cipher.update(id.replaceAll('-', ''), 'hex'), cipher.update(key, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, ...text, cipher.getAuthTag()]).toString('base64url');
}

/** Returns undefined if the cursor was made for another company, list, filter or sort. */
export function readCursor(companyKey: Buffer, list: string, cursor: string): Position | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length < NONCE_BYTES + ID_BYTES + TAG_BYTES) return undefined;
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)];
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-128-gcm', cursorKey(companyKey), nonce, options).setAAD(Buffer.from(list));
  try {
    const text = decipher.setAuthTag(tag).update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    const id = text.toString('hex', 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { key: text.toString('utf8', ID_BYTES), id };
  } catch {
    return undefined;
  }
}

/** A key of its own: ids of events are encrypted under the company's key in another mode. */
const cursorKey = (companyKey: Buffer) => createHmac('sha256', companyKey).update('cursor').digest().subarray(0, 16);
