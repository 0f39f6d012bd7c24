/** The length of SMS texts, as they are billed and sent. */

const GSM7 = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡' +
    'ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Characters that are sent with an escape, so they count twice (GSM 03.38). */
const GSM7_EXTENSION = new Set('\f^{}\\[~]|€');

/** Segment sizes of a text with a single segment and of a longer one, which loses some to the segments' headers. */
const SEGMENT_SIZES = { gsm7: { single: 160, multiple: 153 }, ucs2: { single: 70, multiple: 67 } };

export type Segments = { encoding: keyof typeof SEGMENT_SIZES; texts: string[] };

/** A segment holds 160 septets, or 70 UTF-16 units if any character is outside GSM-7. */
export function splitSegments(text: string): Segments {
  const characters = [...text];
  const isGsm7 = characters.every((character) => GSM7.has(character) || GSM7_EXTENSION.has(character));
  const encoding = isGsm7 ? 'gsm7' : 'ucs2';
  const sizeOf = (character: string) => (isGsm7 ? 1 + Number(GSM7_EXTENSION.has(character)) : character.length);
  const { single, multiple } = SEGMENT_SIZES[encoding];
  if (text === '') return { encoding, texts: [] };
  if (characters.reduce((sum, character) => sum + sizeOf(character), 0) <= single) return { encoding, texts: [text] };
  // A character that counts twice is never split: it starts the next segment.
  const texts: string[] = [];
  let segment = '';
  let used = 0;
  for (const character of characters) {
    const size = sizeOf(character);
    if (used + size > multiple) {
      texts.push(segment);
      segment = '';
      used = 0;
    }
    segment += character;
    used += size;
  }
  return { encoding, texts: [...texts, segment] };
}

export const countSegments = (text: string): number => splitSegments(text).texts.length;

const GSM7_SUBSTITUTES: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '‚': ',',
  '“': '"',
  '”': '"',
  '„': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '‐': '-',
  '‑': '-',
  '…': '...',
  '•': '-',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\u2009': ' ',
  '\t': ' ',
};

/**
 * Replaces typographic characters, any of which would force UCS-2 and so reduce a segment from 160 characters to 70.
 */
export const toGsm7 = (text: string): string =>
  text.replace(/[‘’‚“”„–—−‐‑…•\u00a0\u202f\u2009\t]/g, (sign) => GSM7_SUBSTITUTES[sign] ?? sign);
