/** Returns the candidate that the word was probably meant to be; undefined if none is close. */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= maxDistance || isBeginning(word, candidate))
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** Returns a sentence to append to an error text, or an empty text. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const closest = closestWord(word, candidates);
  return closest === undefined ? '' : ` Did you mean "${closest}"?`;
}

const MIN_BEGINNING_LENGTH = 3;

const isBeginning = (word: string, candidate: string) =>
  word.length >= MIN_BEGINNING_LENGTH && candidate.toLowerCase().startsWith(word.toLowerCase());

/** The number of inserted, removed, replaced and swapped characters (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
