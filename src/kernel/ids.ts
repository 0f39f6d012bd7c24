import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

let millisecond = 0;
let millisecondText = '';
let counter = 0;

/**
 * A UUID of version 7 that is greater than every one this process made before (RFC 9562, method 1), so that it can
 * break ties in "newest first". Node's own randomUUIDv7 has no order within a millisecond.
 */
export function newId(): string {
  const now = Date.now();
  if (now > millisecond) begin(now);
  else if (++counter > 0xfff) begin(millisecond + 1);
  return `${millisecondText}-7${counter.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`;
}

function begin(time: number): void {
  millisecond = time;
  counter = 0;
  const text = time.toString(16).padStart(12, '0');
  millisecondText = `${text.slice(0, 8)}-${text.slice(8)}`;
}

/** Given to nothing: every identifier that is made here begins with its time. */
export const NEVER_ISSUED_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
