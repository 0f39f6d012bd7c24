import type { Range } from './matcher.ts';

/** A piece of a fragment. Pieces instead of marks in one text: nothing in a record can look like a mark. */
export type Piece = { text: string; match: boolean };
export type Fragment = { field: string; pieces: Piece[] };

/** About as many UTF-16 units of the text surround the first match. */
const BEFORE = 60;
const LENGTH = 200;

type Text = { field: string; text: string; ranges: readonly Range[] };

/** Returns the part of a text around the first match, with the matches marked; its beginning if nothing matches. */
export function fragmentOf({ field, text, ranges: matches }: Text): Fragment {
  const ranges = withoutOverlap(matches);
  const first = ranges[0] ?? { start: 0, end: 0 };
  const start = wordBoundary(text, Math.max(0, first.start - BEFORE), first.start);
  const end = Math.max(first.end, wordBoundary(text, start + LENGTH, text.length));
  return { field, pieces: piecesOf(text, ranges, { start, end }) };
}

function withoutOverlap(ranges: readonly Range[]): Range[] {
  const kept: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
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
