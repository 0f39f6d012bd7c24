/** How texts become words. Documents and queries are folded by the same code, so that a text is found as it was stored. */

/** Longer words are cut off, in documents and in queries. */
const MAX_WORD_LENGTH = 40;

/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: Record<string, string> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ς: 'σ' },
};
const UNDECOMPOSED = /[ßæœøđðłþħŧŋıς]/gu;

/** Without accents, case, ligatures and width: `Łódź`, `ﬁrm`, `Ｓｍｉｔｈ` and `Strauß` become `lodz`, `firm`, `smith`, `strauss`. */
export const fold = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : // Lower case can add a mark (İ), so the marks are removed last.
      text
        .normalize('NFKD')
        .toLowerCase()
        .normalize('NFKD')
        .replaceAll(/\p{M}+/gu, '')
        .replaceAll(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter);

const ASCII = /^\p{ASCII}*$/u;

/** The letters and digits of a text side by side: each of its words, but for leading zeros, is a part of them. */
export const lettersOf = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Each character of a script without spaces between words is a word. */
const WORD =
  /(?=\p{L})[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|(?:(?!(?=\p{L})[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])[\p{L}\p{N}])+/gu;
/** Words that single signs join: `O'Brien`, `INV-0042`, `john.smith@client.example`. */
const CHUNK = /[\p{L}\p{N}]+(?:[^\s\p{L}\p{N}][\p{L}\p{N}]+)*/gu;

/** Numbers are compared without leading zeros, so that `42` finds `0042` and `7700` finds `07700`. */
const normalize = (word: string): string =>
  (word.startsWith('0') ? word.replace(/^0+(?=\d)/, '') : word).slice(0, MAX_WORD_LENGTH);

/** The words of a query in their order. */
export const queryWords = (text: string): string[] =>
  (fold(text).match(WORD) ?? []).map(normalize).filter((word) => word.isWellFormed());

/**
 * The words under which a text is found: those that a query of the same text has, and other ways to type it, such as
 * `obrien` for `O'Brien`, and `inv` and `42` for `INV0042`.
 */
export function documentWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const chunk of fold(text).match(CHUNK) ?? []) {
    const parts = chunk.match(WORD) ?? [];
    for (const part of parts) {
      words.add(normalize(part));
      const pieces = /\p{N}/u.test(part) ? (part.match(/\p{N}+|\P{N}+/gu) ?? []) : [];
      if (pieces.length > 1) for (const piece of pieces) words.add(normalize(piece));
    }
    if (parts.length > 1) words.add(normalize(parts.join('')));
  }
  return words;
}
