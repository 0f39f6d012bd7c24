import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

let millisecond = 0;
let millisecondText = '';
let counter = 0;

/**
 * Returns a UUID of version 7 that is greater than all earlier ones of this process (RFC 9562, method 1), so that it
 * can break ties in "newest first". Node's randomUUIDv7 has no order within a millisecond.
 */
export function newId(): string {
  const now = Date.now();
  if (now > millisecond) startMillisecond(now);
  else if (++counter > 0xfff) startMillisecond(millisecond + 1);
  return `${millisecondText}-7${counter.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`;
}

function startMillisecond(time: number): void {
  millisecond = time;
  counter = 0;
  const text = time.toString(16).padStart(12, '0');
  millisecondText = `${text.slice(0, 8)}-${text.slice(8)}`;
}

/** No record has this id: every issued id begins with a time. */
export const NEVER_ISSUED_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
