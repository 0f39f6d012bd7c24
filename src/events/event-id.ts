import { createCipheriv, createDecipheriv } from 'node:crypto';

const PREFIX = 'evt_';
const PADDING = Buffer.alloc(8);

/**
 * Encrypts the position as one AES block under the company's key. A position counts the events of all companies, so it
 * must not be visible. The id is invalid for other companies, and needs no column and no index.
 */
export function eventId(key: Buffer, position: bigint): string {
  const block = Buffer.alloc(16);
  block.writeBigUInt64BE(position);
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return PREFIX + Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
}

/** Returns undefined if the id does not belong to an event of this company. */
export function eventPosition(key: Buffer, id: string): bigint | undefined {
  const block = Buffer.from(id.slice(PREFIX.length), 'base64url');
  if (!id.startsWith(PREFIX) || block.length !== 16) return undefined;
  const cipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const plain = Buffer.concat([cipher.update(block), cipher.final()]);
  return plain.subarray(8).equals(PADDING) ? plain.readBigUInt64BE() : undefined;
}
