/** Lines of comma-separated values as RFC 4180 describes them. */

/** A number is written as it is; a text must not become a formula in the program that opens the file. */
export type CsvCell = string | boolean | null | CsvNumber;
export class CsvNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What spreadsheets take for the beginning of a formula, also in the width of Asian scripts (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NEEDS_QUOTES = /[",\r\n]/;

export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(toText).join(',')}\r\n`;

function toText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'boolean') return String(cell);
  if (cell instanceof CsvNumber) return cell.text;
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
