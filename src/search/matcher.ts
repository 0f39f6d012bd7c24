import { postcodeParts } from './document.ts';
import { digitRuns, endsWith, type PhoneWords, storedPhone } from './phone-words.ts';
import { isPrefix, type Term } from './query.ts';
import { documentWords, lettersOf } from './words.ts';

export type Range = { start: number; end: number };

/** What a text has of a search: typed words, the ends of typed numbers, and the places to mark, in any order. */
export type Found = { words: Set<string>; ends: Set<string>; ranges: Range[] };

/** What a token has, which is a part of a text without space. */
type Token = { words: readonly string[]; ranges: readonly Range[] };
const NOTHING: Token = { words: [], ranges: [] };

const CHUNK = /[\p{L}\p{N}\p{M}]+(?:[^\s\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}]+)*/gu;
const PART = /[\p{L}\p{N}\p{M}]+/gu;
/** Of which the result is kept for the texts to come. */
const MAX_TOKENS = 10_000;

/** Compares the terms of a search with texts, as the index does: by the words under which documents are found. */
export class Matcher {
  readonly #terms: readonly Term[];
  readonly #region: string;
  readonly #phones: readonly PhoneWords[];
  /** The typed words, and what typed numbers may begin with. */
  readonly #typed: readonly string[];
  /** It takes long to read phone numbers, and only digits find them. */
  readonly #readsPhones: boolean;
  readonly #tokens = new Map<string, Token>();

  constructor(terms: readonly Term[], region: string) {
    this.#terms = terms;
    this.#region = region;
    this.#phones = terms.flatMap(({ phone }) => phone ?? []);
    this.#typed = [...terms.flatMap(({ words }) => words), ...this.#phones.flatMap(({ starts }) => starts)];
    this.#readsPhones = this.#typed.some((word) => /^\d+$/.test(word));
  }

  /** Whether a record has all terms, if this is found in its texts, and that in its case: the words count, no numbers. */
  isMatch(found: readonly Found[], inCase?: Found): boolean {
    const hasWord = (word: string) => found.some(({ words }) => words.has(word)) || inCase?.words.has(word) === true;
    const hasEnd = (digits: string) => found.some(({ ends }) => ends.has(digits));
    return this.#terms.every(
      ({ words, phone }) => words.every(hasWord) || (phone && (phone.starts.some(hasWord) || phone.ends.some(hasEnd))),
    );
  }

  /** Returns what the text has. Its ranges are empty if that is nothing. */
  find(field: string, text: string): Found {
    const found: Found = { words: new Set(), ends: new Set(), ranges: [] };
    if (this.#readsPhones) this.#findPhones(text, found);
    this.#findTokens(text, found);
    if (field === 'postcode') for (const word of this.#typedAmong(postcodeParts(text))) found.words.add(word);
    // Signs that become letters make longer words: `a™` has the word `atm`, and only a part of it has `a`.
    if (found.words.size === 0 && found.ends.size === 0) return { ...found, ranges: [] };
    // A postcode is also found by its words without the space, and a number by its country.
    if (found.ranges.length === 0) found.ranges.push(rangeOf(0, text));
    return found;
  }

  #findPhones(text: string, { words, ends, ranges }: Found): void {
    const [only] = this.#terms.length === 1 ? this.#phones : [];
    for (const { index, text: run } of digitRuns(text, this.#region)) {
      // It takes some 0.1 ms to read a number.
      const end = only?.ends.find((typed) => endsWith(run, typed));
      if (end !== undefined) {
        ends.add(end);
        ranges.push(rangeOf(index, run));
        continue;
      }
      const stored = storedPhone(run, this.#region);
      for (const word of this.#typedAmong(stored.starts)) words.add(word);
      const known = [...(this.#mayHave(run) ? documentWords(run) : []), ...stored.starts];
      for (const phone of this.#phones) {
        const matching = phone.ends.filter((end) => stored.ends.some((digits) => digits.startsWith(end)));
        for (const end of matching) ends.add(end);
        if (matching.length > 0 || phone.starts.some((start) => begins(known, start))) ranges.push(rangeOf(index, run));
      }
    }
  }

  #findTokens(text: string, { words, ranges }: Found): void {
    let at = 0;
    for (const token of text.split(/\s/)) {
      const known = this.#read(token);
      for (const word of known.words) words.add(word);
      for (const { start, end } of known.ranges) ranges.push({ start: at + start, end: at + end });
      at += token.length + 1;
    }
  }

  /** Texts repeat their words, so each is compared once in a search. */
  #read(token: string): Token {
    let known = this.#tokens.get(token);
    if (!known) {
      known = this.#mayHave(token) ? this.#match(token) : NOTHING;
      if (this.#tokens.size < MAX_TOKENS) this.#tokens.set(token, known);
    }
    return known;
  }

  /** Excludes most texts at little cost: the letters and digits of a word stand side by side, but for signs. */
  #mayHave(text: string): boolean {
    const letters = lettersOf(text);
    return this.#typed.some((word) => letters.includes(word));
  }

  /** To mark are the parts of a token that have a typed word, or that have one only together. */
  #match(token: string): Token {
    const words = this.#typedAmong([...documentWords(token)]);
    const has = (part: string) =>
      part === token ? words.length > 0 : this.#mayHave(part) && this.#typedAmong([...documentWords(part)]).length > 0;
    const ranges = [...token.matchAll(CHUNK)].flatMap(({ index, 0: chunk }) => {
      if (!has(chunk)) return [];
      const parts = [...chunk.matchAll(PART)].filter(([part]) => part !== chunk && has(part));
      return parts.length > 0 ? parts.map((part) => rangeOf(index + part.index, part[0])) : [rangeOf(index, chunk)];
    });
    return { words, ranges };
  }

  #typedAmong(words: readonly string[]): string[] {
    return this.#typed.filter((typed) => begins(words, typed));
  }
}

const rangeOf = (index: number, text: string): Range => ({ start: index, end: index + text.length });

/** Whether the typed word is among the words, or begins one. */
const begins = (words: readonly string[], typed: string): boolean =>
  words.some((word) => word === typed || (isPrefix(typed) && word.startsWith(typed)));
