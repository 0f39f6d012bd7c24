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
/**
 * What begins a cell for a spreadsheet that separates cells by semicolons, as in countries with a decimal comma, or by
 * tabs. There the quotes of RFC 4180 are within a cell, so neither a separator nor a line end between them is protected.
 */
const FORMULA_IN_TEXT = /([;,\t\r\n](?:[^\S\t\r\n]|")*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g;
const NEEDS_QUOTES = /[";,\t\r\n]/;

export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(toText).join(',')}\r\n`;

function toText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'boolean') return String(cell);
  if (cell instanceof CsvNumber) return cell.text;
  const safe = `${FORMULA.test(cell) ? "'" : ''}${cell.replaceAll(FORMULA_IN_TEXT, "$1'$2")}`;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
