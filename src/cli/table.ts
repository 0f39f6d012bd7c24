import { styleText } from 'node:util';
import type { Display } from './terminal.ts';

/** Formats records for people. Control characters are replaced, so that stored text cannot control the terminal. */

export type Fields = Record<string, unknown>;
type CellDisplay = Display & { shortTimes?: boolean };
type Style = Parameters<typeof styleText>[0];

const GAP = '  ';
const MIN_COLUMN_WIDTH = 10;
/** Longer words are broken. */
const MAX_WORD_WIDTH = 36;

const STATE_STYLES: Record<string, Style> = {
  ok: 'green',
  active: 'green',
  delivered: 'green',
  warning: 'yellow',
  pending: 'yellow',
  fault: 'red',
  failing: 'red',
  failed: 'red',
  disabled: 'gray',
  revoked: 'gray',
};

/** On a terminal, texts are wrapped within their columns. A terminal that is too narrow gets one record after another. */
export function formatTable(rows: readonly Fields[], columns: readonly string[], display?: Display): string {
  const header = columns.map((column) => (display ? column.replaceAll('_', ' ') : column).toUpperCase());
  const cells = rows.map((row) => columns.map((column) => formatCell(row[column], display && inTable(display))));
  const natural = columns.map((_, i) => Math.max(...[header, ...cells].map((line) => widthOf(line[i] ?? ''))));
  const minimal = columns.map((_, i) => Math.max(...[header, ...cells].map((line) => minWidthOf(line[i] ?? ''))));
  const widths = display ? fitWidths(natural, minimal, display.columns) : natural;
  if (!widths) return rows.map((row) => formatFields(pick(row, columns), display)).join('\n\n');
  const formatLine = (line: readonly string[], styleOf: (i: number) => Style | undefined) => {
    const wrapped = line.map((text, i) => wrapText(text, widths[i] ?? 0));
    const height = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, y) =>
      wrapped
        .map((lines, i) => paint(lines[y] ?? '', styleOf(i), display) + fill(lines[y] ?? '', widths[i] ?? 0))
        .join(GAP)
        .trimEnd(),
    ).join('\n');
  };
  return [
    formatLine(header, () => 'bold'),
    ...cells.map((line) => formatLine(line, (i) => (columns[i] === 'state' ? STATE_STYLES[line[i] ?? ''] : undefined))),
  ].join('\n');
}

/** A column has no room for seconds and the offset. */
const inTable = (display: Display): CellDisplay => ({ ...display, shortTimes: true });

export function formatFields(record: Fields, display?: Display): string {
  const names = Object.keys(record);
  const width = Math.max(...names.map((name) => name.length));
  const indent = ' '.repeat(width + GAP.length);
  const valueWidth = display && Math.max(display.columns - indent.length, MIN_COLUMN_WIDTH);
  return names
    .map((name) => {
      const value = formatCell(record[name], display);
      const lines = valueWidth ? wrapText(value, valueWidth) : [value];
      const label = paint(name, 'bold', display) + fill(name, width);
      return `${label}${GAP}${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join('\n');
}

/** A text with its line breaks. */
export const formatLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => formatCell(line))
    .join('\n');

export function formatCell(value: unknown, display?: CellDisplay): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((item) => formatCell(item, display)).join(', ');
  if (typeof value === 'object')
    return Object.values(value)
      .filter(isName)
      .map((item) => formatCell(item))
      .join(' ');
  return formatTime(String(value), display).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

/** A time without its fraction: in UTC for scripts, on a terminal as the clock of the person shows it. */
function formatTime(text: string, display: CellDisplay | undefined): string {
  const [, seconds] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z$/.exec(text) ?? [];
  if (seconds === undefined) return text;
  if (!display) return `${seconds}Z`;
  const local = Temporal.Instant.from(`${seconds}Z`).toZonedDateTimeISO(display.timeZone);
  const time = `${local.toPlainDate()} ${local.toPlainTime().toString({ smallestUnit: 'second' })}`;
  return display.shortTimes ? time.slice(0, -':00'.length) : `${time} ${local.offset}`;
}

/** A nested record is shown by its texts, without identifiers and times. */
const isName = (value: unknown) => typeof value === 'string' && value !== '' && !/^[0-9a-f]{8}-|T[^T]*Z$/.test(value);

const pick = (row: Fields, columns: readonly string[]): Fields =>
  Object.fromEntries(columns.map((column) => [column, row[column]]));

/** The width in which no word, such as an identifier or an email, has to be broken. */
const minWidthOf = (text: string): number =>
  Math.max(
    Math.min(widthOf(text), MIN_COLUMN_WIDTH),
    Math.min(MAX_WORD_WIDTH, Math.max(...text.split(' ').map(widthOf))),
  );

/** Narrows the widest columns until the table fits. Returns undefined if it cannot fit. */
function fitWidths(natural: number[], minWidths: number[], available: number): number[] | undefined {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  for (; excess > 0; excess--) {
    const [widest] = widths
      .map((width, i) => ({ i, width, spare: width - (minWidths[i] ?? 0) }))
      .filter(({ spare }) => spare > 0)
      .sort((a, b) => b.width - a.width);
    if (!widest) return undefined;
    widths[widest.i] = widest.width - 1;
  }
  return widths;
}

/** Breaks between words, and within a word that is longer than the line. */
function wrapText(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (widthOf(line) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
    for (let last = lines.at(-1) ?? ''; widthOf(last) > width; last = lines.at(-1) ?? '') {
      const characters = [...last];
      let taken = 0;
      for (let used = 0; taken < characters.length; taken++) {
        used += widthOf(characters[taken] ?? '');
        if (used > width) break;
      }
      lines.splice(
        -1,
        1,
        characters.slice(0, Math.max(1, taken)).join(''),
        characters.slice(Math.max(1, taken)).join(''),
      );
    }
  }
  return lines;
}

/** Chinese, Japanese and Korean characters and emoji take two columns of a terminal, combining marks none. */
const widthOf = (text: string): number => {
  let width = 0;
  for (const character of text) width += /\p{Mn}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
};
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

const fill = (text: string, width: number) => ' '.repeat(Math.max(0, width - widthOf(text)));

const paint = (text: string, style: Style | undefined, display: Display | undefined) =>
  display?.color && style && text !== '' ? styleText(style, text, { validateStream: false }) : text;
