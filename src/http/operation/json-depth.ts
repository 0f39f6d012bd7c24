/**
 * Far deeper than any field. A body of 1 MiB can have half a million levels; parsed, it takes hundreds of megabytes and
 * 0.4 s of garbage collection. RFC 8259, section 9, allows a limit.
 */
export const MAX_DEPTH = 256;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\[]{}'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number];

/** Whether the JSON text is nested deeper than MAX_DEPTH. A short text cannot be. */
export function isTooDeep(json: string): boolean {
  if (json.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) {
      inString = true;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--;
    }
  }
  return false;
}
