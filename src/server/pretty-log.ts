import { styleText } from 'node:util';
import { wrapWords } from '../kernel/word-wrap.ts';

/** Turns lines of the log into lines for people. */

type Style = Parameters<typeof styleText>[0];

const LEVELS: Record<number, [label: string, style: Style]> = {
  10: ['TRACE', 'dim'],
  20: ['DEBUG', 'dim'],
  30: ['INFO ', 'green'],
  40: ['WARN ', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
};
const INDENT = ' '.repeat(6);

type Entry = {
  level: number;
  time: string;
  msg?: string;
  /** Printed as a table below the line. */
  summary?: Record<string, string>;
  err?: { message?: string; stack?: string };
  stack?: string;
  [field: string]: unknown;
};
type RequestEntry = Entry & { method: string; route: string | null; status: number; ms: number };

/** A value of several lines has commands to copy, so only a single line is wrapped. */
function wrappedLines(value: string, indent: number): string[] {
  const lines = value.split('\n').map(visible);
  const { columns } = process.stdout;
  return columns && lines.length === 1 ? wrapWords(lines.join(), columns - indent) : lines;
}

/** Returns the lines for one JSON object of the log. Colours are left out unless standard output is a terminal. */
export function prettyLine(json: string): string {
  const { level, time, msg = '', summary = {}, err, stack = err?.stack, ...fields } = JSON.parse(json) as Entry;
  const [label, style] = LEVELS[level] ?? [String(level), 'dim'];
  const isRequest = msg === 'request' && typeof fields.status === 'number';
  const head = isRequest ? requestText(fields as RequestEntry) : [visible(msg), fieldsText(fields)];
  const labelWidth = Math.max(0, ...Object.keys(summary).map((key) => key.length)) + 2;
  const rows = Object.entries(summary).map(([key, value]) => [
    styleText('bold', key.padEnd(labelWidth)),
    wrappedLines(value, INDENT.length + labelWidth).join(`\n${INDENT}${' '.repeat(labelWidth)}`),
  ]);
  return [
    [styleText('dim', localTime(time)), styleText(style, label), ...head].filter((part) => part !== '').join(' '),
    ...(stack ?? err?.message ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => INDENT + visible(line)),
    ...rows.map((row) => INDENT + row.join('')),
    '',
  ].join('\n');
}

function requestText({ method, route, status, ms, ...rest }: RequestEntry): string[] {
  const style = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const line = [styleText(style, String(status)), method, route ?? '(no route)', styleText('dim', `${ms} ms`)];
  // Identifiers help only if something has to be found out.
  return status < 400 ? line : [...line, fieldsText(rest)];
}

function fieldsText(fields: Record<string, unknown>): string {
  const set = Object.entries(fields).filter(([, value]) => value !== null);
  const words = set.map(([key, value]) => `${key}=${shortText(value)}`);
  return words.length === 0 ? '' : styleText('dim', visible(words.join(' ')));
}

const shortText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(Array.isArray(value) ? value.length : value);

/** Text of strangers, such as the answer of a mail server, must not control the terminal. */
const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, '0')}`,
  );

function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  const milliseconds = String(time.getMilliseconds()).padStart(3, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${milliseconds}`;
}
