/**
 * Far deeper than any field. A body of 1 MiB can be nested half a million deep, and what JSON.parse makes of that keeps
 * the garbage collector busy for 0.4 s and takes hundreds of megabytes (RFC 8259, section 9, allows a limit).
 */
export const MAX_DEPTH = 256;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\[]{}'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number];

/** Whether the JSON text is nested deeper than any body may be. A short text is not looked at: it cannot be. */
export function isTooDeep(json: string): boolean {
  if (json.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) {
      inText = true;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--;
    }
  }
  return false;
}
