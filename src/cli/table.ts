/** Records as people read them. What people wrote into a record must not steer the terminal it is shown on. */

type Fields = Record<string, unknown>;

export function table(rows: readonly Fields[], columns: readonly string[]): string {
  const lines = [columns.map((column) => column.toUpperCase()), ...rows.map((row) => columns.map((c) => cell(row[c])))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => lengthOf(line[i] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((text, i) => pad(text, widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function fields(record: Fields): string {
  const names = Object.keys(record);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${cell(record[name])}`.trimEnd()).join('\n');
}

export function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(cell).join(', ');
  if (typeof value === 'object') return Object.values(value).filter(isName).map(cell).join(' ');
  return String(value)
    .replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z$/, '$1Z')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

/** Of a record within a record its names say enough. */
const isName = (value: unknown) => typeof value === 'string' && value !== '' && !/^[0-9a-f]{8}-|T[^T]*Z$/.test(value);

const lengthOf = (text: string) => [...text].length;
const pad = (text: string, width: number) => text + ' '.repeat(width - lengthOf(text));
