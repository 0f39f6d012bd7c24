import { IDENTITY_FIELDS, type Kind } from './documents.sql.ts';
import { storedPhones } from './phone-words.ts';
import { lexeme } from './query.ts';
import { documentWords } from './words.ts';

/** A record as `loadDocuments` returns it, with its case if that is asked for. */
export type DocumentRow = {
  kind: Kind;
  case_id: string;
  id: string;
  at: string;
  since: string;
  fields: string;
  reference: string | null;
  customers: string | null;
};

/** The fields that have a text. */
export const textsOf = ({ fields }: DocumentRow): [field: string, text: string][] =>
  Object.entries<string>(JSON.parse(fields)).filter(([, text]) => text);

/** What all records of its case are found by. */
export const contextText = ({ reference, customers }: DocumentRow): string => `${reference ?? ''}\n${customers ?? ''}`;

/** The words and the phone numbers of a text. */
export type TextWords = { words: Set<string>; phones: string[] };

export function wordsOf(field: string, text: string, region: string): TextWords {
  const words = documentWords(text);
  const phones = storedPhones(text, region);
  for (const start of phones.flatMap(({ starts }) => starts)) words.add(start);
  if (field === 'postcode') for (const part of postcodeParts(text)) words.add(part);
  return { words, phones: phones.flatMap(({ ends }) => ends) };
}

const INWARD_LENGTH = 3;
/** `AB1 2CD` is also typed `AB12CD`, and the other way round. */
export function postcodeParts(text: string): string[] {
  const [compact = ''] = documentWords(text.replaceAll(/\s/g, ''));
  return [compact, compact.slice(0, -INWARD_LENGTH), compact.slice(-INWARD_LENGTH)].filter(Boolean);
}

/** More words than a long note has. PostgreSQL limits what it indexes of a row to 1 MB. */
const MAX_LEXEMES = 6_000;

/** The words under which a record is found, as a tsvector. `company` is its number in the index. */
export function tsvector(row: DocumentRow, company: number, region: string): string {
  const lexemes = new Set([lexeme(company, 'kind', row.kind)]);
  for (const [field, text] of textsOf(row)) {
    const { words, phones } = wordsOf(field, text, region);
    for (const phone of phones) lexemes.add(lexeme(company, 'phone', phone));
    for (const word of words) {
      lexemes.add(lexeme(company, 'own', word));
      if (IDENTITY_FIELDS.has(field)) lexemes.add(lexeme(company, 'identity', word));
    }
  }
  for (const word of documentWords(contextText(row))) lexemes.add(lexeme(company, 'context', word));
  return [...lexemes].slice(0, MAX_LEXEMES).join(' ');
}
