/** What a search finds, by the words of `docs/search.md`, of texts whose words are separated by single spaces. */

/** A record by its own text, and by the reference and the customers of its case. */
export type SearchedTexts = { text: string; context?: string };

/** The other words may only be beginnings if nothing has them as typed. */
type Mode = 'as typed' | 'all may be beginnings';

const isNumber = (word: string): boolean => /^\d+$/.test(word);
const MAX_PHONE_DIGITS = 15;
const MIN_STORED_DIGITS = 7;
const MIN_TYPED_DIGITS = 4;

/** Groups of digits side by side may be one phone number, so they stay together as long as it is not too long for one. */
function termsOf(text: string): string[][] {
  const terms: string[][] = [];
  for (const word of text.split(' ')) {
    const term = terms.at(-1);
    const isPart = term?.every(isNumber) && isNumber(word) && [...term, word].join('').length <= MAX_PHONE_DIGITS;
    if (term && isPart) term.push(word);
    else terms.push([word]);
  }
  return terms;
}

const digitsOf = (term: readonly string[]): string => (term.every(isNumber) ? term.join('') : '');

/** Whether some of the words of a search may be a phone number. */
export const mayBeNumber = (query: string): boolean =>
  termsOf(query).some((term) => digitsOf(term).length >= MIN_TYPED_DIGITS);

/** Whether a search finds a record. The numbers have no country and no zero before them. */
export function isExpected(query: string, { text, context = '' }: SearchedTexts, mode: Mode = 'as typed'): boolean {
  const numbers = termsOf(text)
    .map(digitsOf)
    .filter(({ length }) => length >= MIN_STORED_DIGITS);
  const words = [...text.split(' '), ...context.split(' '), ...numbers];
  const has = (typed: string, isBeginning: boolean) =>
    words.some((word) => word === typed || (isBeginning && typed.length > 1 && word.startsWith(typed)));
  return termsOf(query).every((term, nth, terms) => {
    // Of a typed number only the last group can be incomplete.
    const isIncomplete = mode === 'all may be beginnings' || nth === terms.length - 1;
    if (term.every((word, i) => has(word, isIncomplete && i === term.length - 1))) return true;
    const digits = digitsOf(term);
    return (
      digits.length >= MIN_TYPED_DIGITS &&
      (has(digits, isIncomplete || digits.length >= MIN_STORED_DIGITS) || numbers.some((one) => one.endsWith(digits)))
    );
  });
}
