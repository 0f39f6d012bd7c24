import { hasAny, matches, wordsOf } from './document.ts';
import { digitRuns } from './phone-words.ts';
import type { Term } from './query.ts';
import { documentWords } from './words.ts';

/** A piece of a fragment. Pieces instead of marks in one text: nothing in a record can look like a mark. */
export type Piece = { text: string; match: boolean };
export type Fragment = { field: string; pieces: Piece[] };

/** About as many UTF-16 units of the text surround the first match. */
const BEFORE = 60;
const LENGTH = 200;
const CHUNK = /[\p{L}\p{N}\p{M}]+(?:[^\s\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}]+)*/gu;
const PART = /[\p{L}\p{N}\p{M}]+/gu;

type Range = { start: number; end: number };

/** Returns the part of a text around the first match, with the matches marked; undefined if nothing matches. */
export function fragmentOf(field: string, text: string, terms: readonly Term[], region: string): Fragment | undefined {
  const ranges = matchingRanges(field, text, terms, region);
  const [first] = ranges;
  if (!first) return undefined;
  const start = wordBoundary(text, Math.max(0, first.start - BEFORE), first.start);
  const end = Math.max(first.end, wordBoundary(text, start + LENGTH, text.length));
  return { field, pieces: piecesOf(text, ranges, { start, end }) };
}

/** Returns the beginning of a text, for a hit whose words are only in its case. */
export const openingOf = (field: string, text: string): Fragment => ({
  field,
  pieces: piecesOf(text, [], { start: 0, end: wordBoundary(text, LENGTH, text.length) }),
});

/** The parts of the text that match a term, in order and without overlap. */
function matchingRanges(field: string, text: string, terms: readonly Term[], region: string): Range[] {
  const typed = terms.flatMap(({ words, phone }) => [...words, ...(phone?.starts ?? [])]);
  const isMatching = (part: string) => hasAny(documentWords(part), typed);
  const rangeOf = (index: number, part: string): Range => ({ start: index, end: index + part.length });
  const chunks = [...text.matchAll(CHUNK)].flatMap(({ index, 0: chunk }) => {
    if (!isMatching(chunk)) return [];
    const parts = [...chunk.matchAll(PART)].filter(([part]) => isMatching(part));
    return parts.length > 0 ? parts.map((part) => rangeOf(index + part.index, part[0])) : [rangeOf(index, chunk)];
  });
  const phones = terms.flatMap(({ phone }) => (phone ? [{ words: [NEVER_A_WORD], phone }] : []));
  const numbers = phones.length === 0 ? [] : digitRuns(text, region);
  const matchingNumbers = numbers.filter(({ text: run }) =>
    phones.some((term) => matches(term, wordsOf('', run, region))),
  );
  const ranges = [...matchingNumbers.map(({ index, text: run }) => rangeOf(index, run)), ...chunks];
  // A postcode is also found by its words without the space.
  if (ranges.length === 0 && hasAny(wordsOf(field, text, region).words, typed)) return [rangeOf(0, text)];
  return withoutOverlap(ranges);
}

const NEVER_A_WORD = '\0';

function withoutOverlap(ranges: Range[]): Range[] {
  const kept: Range[] = [];
  for (const range of ranges.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (range.start >= (kept.at(-1)?.end ?? 0)) kept.push(range);
  }
  return kept;
}

/** Returns the next place from `index` on, and at most `max`, that is not within a word or a pair of surrogates. */
function wordBoundary(text: string, index: number, max: number): number {
  if (index === 0 || index >= max) return Math.min(index, max);
  const gap = /\s+/.exec(text.slice(index, Math.min(max, index + BEFORE)));
  return gap ? index + gap.index + gap[0].length : boundaryOfCharacter(text, index);
}

const boundaryOfCharacter = (text: string, index: number): number =>
  /[\uDC00-\uDFFF]/.test(text[index] ?? '') ? index + 1 : index;

function piecesOf(text: string, ranges: readonly Range[], { start, end }: Range): Piece[] {
  const pieces: Piece[] = [];
  const add = (from: number, to: number, match: boolean) => {
    if (to > from) pieces.push({ text: text.slice(from, to), match });
  };
  let at = start;
  for (const range of ranges) {
    if (range.start < at || range.end > end) continue;
    add(at, range.start, false);
    add(range.start, range.end, true);
    at = range.end;
  }
  add(at, end, false);
  return pieces;
}
