import { digitRuns, typedPhone } from './phone-words.ts';
import { queryWords } from './words.ts';

/** A search as typed, as the terms that a record must have, and as queries of PostgreSQL. */

/** A record matches a term if one of its words begins with one of the `starts`, or a phone number ends with an end. */
export type Term = {
  /** All of them must match; one letter or ideograph matches only a whole word. */
  words: readonly string[];
  /** Or else one of these, if the words may be a phone number. */
  phone?: { starts: readonly string[]; ends: readonly string[] } | undefined;
};

export const MAX_TERMS = 10;

/** Words of English questions: "the man who rang about the Smith will". `will` is not one of them in this trade. */
const IGNORED = new Set(
  'a an and are as at about by for from he her his i in is it of on or our she that the their them they this to was we were which who whom with'.split(
    ' ',
  ),
);

/** Returns the terms of a search text; none if it has neither letters nor digits. */
export function parseQuery(text: string, region: string): Term[] {
  const terms: Term[] = [];
  let end = 0;
  for (const { index, text: run } of digitRuns(text, region)) {
    terms.push(...queryWords(text.slice(end, index)).map((word) => ({ words: [word] })));
    terms.push({ words: queryWords(run), phone: typedPhone(run, region) });
    end = index + run.length;
  }
  terms.push(...queryWords(text.slice(end)).map((word) => ({ words: [word] })));
  const kept = terms.filter(({ words, phone }) => phone || words.some((word) => !IGNORED.has(word)));
  return kept.length > 0 ? kept : terms;
}

/** Which words of a document a query looks at. Each is a sign between the company's number and the word. */
export const SIGNS = { identity: '!', own: ':', context: '~', phone: '=', kind: '#' } as const;

export const lexeme = (company: number | string, sign: keyof typeof SIGNS, word: string): string =>
  `'${company}${SIGNS[sign]}${word}'`;

/** Whether a word of a query also matches longer words. */
export const isPrefix = (word: string): boolean => word.length > 1;

/**
 * `exact`: whole words. `begun`: the last word may go on, as while it is typed. `prefix`: every word may. The index reads
 * everything that begins with a word, so the later ones are for searches that have found too little.
 */
export type Mode = 'exact' | 'begun' | 'prefix';

/** Fewer digits begin too many phone numbers. */
const MIN_NARROW_DIGITS = 7;

export type Place = {
  company: number | string;
  /** Where each word may be found. */
  signs: readonly (keyof typeof SIGNS)[];
  /** Only documents of these kinds. */
  kinds?: readonly string[] | undefined;
  mode: Mode;
};

/** The further groups of a typed number share one condition. */
const MAX_GROUPS = 4;

/**
 * Returns what must all be true, as queries of PostgreSQL. Each group of a typed number is a condition of its own, so that
 * two frequent years are no condition that only their meeting fulfils: (a and b) or n is (a or n) and (b or n).
 */
export function conditionsOf(terms: readonly Term[], { company, signs, kinds, mode }: Place): string[] {
  const oneOf = (word: string, prefix: boolean) =>
    `(${signs.map((sign) => `${lexeme(company, sign, word)}${prefix ? ':*' : ''}`).join(' | ')})`;
  const conditions = terms.flatMap(({ words, phone }, nth) => {
    const isIncomplete = mode === 'prefix' || (mode === 'begun' && nth === terms.length - 1);
    // Of a typed number only the last group can be incomplete.
    const groups = words.map((word, i) => oneOf(word, isPrefix(word) && isIncomplete && i === words.length - 1));
    if (!phone) return groups;
    const starts = phone.starts.map((start) =>
      oneOf(start, start.length >= MIN_NARROW_DIGITS || (isPrefix(start) && isIncomplete)),
    );
    const ends = phone.ends.map((digits) => `${lexeme(company, 'phone', digits)}:*`);
    if (groups.length > MAX_GROUPS) groups.push(`(${groups.splice(MAX_GROUPS - 1).join(' & ')})`);
    return groups.map((group) => `(${[group, ...starts, ...ends].join(' | ')})`);
  });
  return kinds ? [...conditions, `(${kinds.map((kind) => lexeme(company, 'kind', kind)).join(' | ')})`] : conditions;
}
