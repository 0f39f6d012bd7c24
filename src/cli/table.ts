/** Formats records for a terminal. Control characters are replaced, so that stored text cannot control the terminal. */

type Fields = Record<string, unknown>;

export function formatTable(rows: readonly Fields[], columns: readonly string[]): string {
  const lines = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((c) => formatCell(row[c]))),
  ];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => characterCount(line[i] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((text, i) => pad(text, widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function formatFields(record: Fields): string {
  const names = Object.keys(record);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${formatCell(record[name])}`.trimEnd()).join('\n');
}

export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(formatCell).join(', ');
  if (typeof value === 'object') return Object.values(value).filter(isName).map(formatCell).join(' ');
  return String(value)
    .replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z$/, '$1Z')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

/** A nested record is shown by its texts, without identifiers and times. */
const isName = (value: unknown) => typeof value === 'string' && value !== '' && !/^[0-9a-f]{8}-|T[^T]*Z$/.test(value);

const characterCount = (text: string) => [...text].length;
const pad = (text: string, width: number) => text + ' '.repeat(width - characterCount(text));
