import type { Kind, Outgoing } from './message.ts';
import { shortDay, timeOf, zoneName } from './templates.ts';

/** The text of an SMS, in one segment where it can be. Pure. */

const GSM7 = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Behind an escape, so they count twice (GSM 03.38). */
const GSM7_EXTENSION = new Set('\f^{}\\[~]|€');

const SIZES = { gsm7: { one: 160, many: 153 }, ucs2: { one: 70, many: 67 } };

/** How many segments a text takes: 160 septets, or 70 UTF-16 units where a character is outside GSM-7. */
export function segments(text: string): number {
  const encoding = [...text].every((character) => GSM7.has(character) || GSM7_EXTENSION.has(character))
    ? 'gsm7'
    : 'ucs2';
  const { one, many } = SIZES[encoding];
  const sizes = encoding === 'ucs2' ? [...text].map((character) => character.length) : [...text].map(septets);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= one) return total === 0 ? 0 : 1;
  // A character that counts twice is never cut in two: it begins the next segment.
  let count = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > many) {
      count++;
      used = 0;
    }
    used += size;
  }
  return count;
}

const septets = (character: string): number => (GSM7_EXTENSION.has(character) ? 2 : 1);

const PLAIN: Record<string, string> = {
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

/** Typographic signs that would turn the whole text into UCS-2, and with it 160 characters into 70. */
const plain = (text: string): string =>
  text.replace(/[‘’‚“”„–—−‐‑…•\u00a0\u202f\u2009\t]/g, (sign) => PLAIN[sign] ?? sign);

const OPENINGS: Record<Kind, [long: string, short: string]> = {
  confirmation: ['your appointment is on', 'appointment'],
  reminder: ['reminder of your appointment on', 'reminder:'],
  cancellation: ['cancelled: your appointment on', 'cancelled:'],
};

/** The company's name is never changed: a name with letters of its own costs a second segment rather than them. */
export function smsText(message: Outgoing): string {
  const { whole, barest } = wordings(message);
  for (const most of [1, 2, 3]) {
    const found = whole.find((text) => segments(text) <= most);
    if (found !== undefined) return found;
  }
  // A link takes as many as it takes: without it nobody can join.
  return message.joinUrl ? (whole.at(-1) ?? barest) : barest;
}

/** Joins the lines of an address. Splitting takes linear time; one expression for blanks around a line end would not. */
const oneLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(', ');

/** From the fullest to the shortest, all with the link: without it nobody can join. The barest has none. */
function wordings({ kind, company, start, end, timeZone, location, joinUrl }: Outgoing): {
  whole: string[];
  barest: string;
} {
  const [long, short] = OPENINGS[kind];
  const day = shortDay(start, timeZone);
  const from = timeOf(start, timeZone);
  const until = start.until(end).total('hours') < 24 ? `-${timeOf(end, timeZone)}` : '';
  const zone = zoneName(start, timeZone, 'short');
  const place = location?.trim() ? `, ${plain(oneLine(location))}` : '';
  const link = joinUrl && kind !== 'cancellation' ? ` ${joinUrl}` : '';
  const name = company.replace(/\s+/g, ' ').trim();
  const whole = [
    `${name}: ${long} ${day}, ${from}${until} ${zone}${place}.${link}`,
    `${name}: ${long} ${day}, ${from}${until} ${zone}.${link}`,
    `${name}: ${long} ${day}, ${from} ${zone}.${link}`,
    `${name}: ${short} ${day} ${from}${link}`,
  ];
  return { whole, barest: `${name}: ${short} ${day} ${from}` };
}
