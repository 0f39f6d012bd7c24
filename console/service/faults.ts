import { CaseRecordsError } from '@case-records/client';
import { texts } from '../texts.ts';

/** What is wrong with the values of a form, by field. The empty name has what belongs to no field. */
export type Faults = Readonly<Record<string, string>>;

/** Returns the faults of a refused request. `fields` are the names that the form shows. */
export function faultsOf(error: unknown, fields: readonly string[], labelOf: (name: string) => string): Faults {
  if (!(error instanceof CaseRecordsError)) throw error;
  if (error.faults.length === 0) return { '': messageOf(error) };
  const faults: Record<string, string> = {};
  for (const { field, message } of error.faults) {
    // An entry of a list that is one field has its fault there.
    const name = [field, field.replace(/\[\d+\]$/, '')].find((one) => fields.includes(one)) ?? '';
    const text = sentence(name === '' ? `${labelOf(field)}: ${message}` : message);
    faults[name] = faults[name] === undefined ? text : `${faults[name]} ${text}`;
  }
  return faults;
}

/** Returns what to tell the person. */
export function messageOf(error: unknown): string {
  if (!(error instanceof CaseRecordsError)) return texts.errors.unexpected;
  const known = (texts.errors.byCode as Readonly<Record<string, string>>)[error.code];
  return known ?? error.detail;
}

/** Returns what to tell the person about a button, which has no fields: what is wrong with the record is said as it is. */
export function failureOf(error: unknown): string {
  const faults = error instanceof CaseRecordsError ? error.faults : [];
  return faults.map(({ message }) => sentence(message)).join(' ') || messageOf(error);
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
