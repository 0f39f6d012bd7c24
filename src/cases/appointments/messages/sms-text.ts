import type { Kind, OutgoingMessage } from './message.ts';
import { formatShortDay, formatTime, zoneName } from './templates.ts';

/** Pure functions that render the text of an SMS, in one segment if possible. */

const GSM7 = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡' +
    'ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Characters that are sent with an escape, so they count twice (GSM 03.38). */
const GSM7_EXTENSION = new Set('\f^{}\\[~]|€');

/** Segment sizes of a text with a single segment and of a longer one, which loses some to the segments' headers. */
const SEGMENT_SIZES = { gsm7: { single: 160, multiple: 153 }, ucs2: { single: 70, multiple: 67 } };

/** A segment holds 160 septets, or 70 UTF-16 units if any character is outside GSM-7. */
export function countSegments(text: string): number {
  const encoding = [...text].every((character) => GSM7.has(character) || GSM7_EXTENSION.has(character))
    ? 'gsm7'
    : 'ucs2';
  const { single, multiple } = SEGMENT_SIZES[encoding];
  const sizes = encoding === 'ucs2' ? [...text].map((character) => character.length) : [...text].map(septets);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= single) return total === 0 ? 0 : 1;
  // A character that counts twice is never split: it starts the next segment.
  let count = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > multiple) {
      count++;
      used = 0;
    }
    used += size;
  }
  return count;
}

const septets = (character: string): number => (GSM7_EXTENSION.has(character) ? 2 : 1);

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

const OPENINGS: Record<Kind, [long: string, short: string]> = {
  confirmation: ['your appointment is on', 'appointment'],
  reminder: ['reminder of your appointment on', 'reminder:'],
  cancellation: ['cancelled: your appointment on', 'cancelled:'],
};

/** The company's name is never altered, even if a character outside GSM-7 costs another segment. */
export function renderSms(message: OutgoingMessage): string {
  const { candidates, shortest } = renderCandidates(message);
  for (const maxSegments of [1, 2, 3]) {
    const fitting = candidates.find((text) => countSegments(text) <= maxSegments);
    if (fitting !== undefined) return fitting;
  }
  // The link stays however many segments it takes: without it the client cannot join.
  return message.joinUrl ? (candidates.at(-1) ?? shortest) : shortest;
}

/** Joins the lines of an address. Split and trim take linear time; a regex for blanks around line breaks would not. */
const oneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(', ');

/**
 * `candidates` run from the longest to the shortest and all include the link, if there is one; `shortest` has no link.
 */
function renderCandidates({ kind, company, start, end, timeZone, location, joinUrl }: OutgoingMessage): {
  candidates: string[];
  shortest: string;
} {
  const [long, short] = OPENINGS[kind];
  const day = formatShortDay(start, timeZone);
  const from = formatTime(start, timeZone);
  const until = start.until(end).total('hours') < 24 ? `-${formatTime(end, timeZone)}` : '';
  const zone = zoneName(start, timeZone, 'short');
  const place = location?.trim() ? `, ${toGsm7(oneLine(location))}` : '';
  const link = joinUrl && kind !== 'cancellation' ? ` ${joinUrl}` : '';
  const name = company.replace(/\s+/g, ' ').trim();
  const candidates = [
    `${name}: ${long} ${day}, ${from}${until} ${zone}${place}.${link}`,
    `${name}: ${long} ${day}, ${from}${until} ${zone}.${link}`,
    `${name}: ${long} ${day}, ${from} ${zone}.${link}`,
    `${name}: ${short} ${day} ${from}${link}`,
  ];
  return { candidates, shortest: `${name}: ${short} ${day} ${from}` };
}
