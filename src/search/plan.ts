import type { Kind } from './documents.sql.ts';
import { periodsBetween, startOf } from './periods.ts';
import { LAST_PHASE, NAMES, type Phase, WHOLE_NAMES } from './phases.ts';
import { SIGNS } from './query.ts';
import { COMPANY_PLACEHOLDER, NEWEST_RECORDS } from './statements.sql.ts';

/** What a page of a search asks the index for. */

/**
 * A page looks back as far as the rarest of its words occurs so often, and twice as far after each page that ended before it
 * was full. So words that are all frequent but hardly ever meet cost no more in a large company: their search has pages.
 */
const MAX_OCCURRENCES = 2_000;
const MAX_DOUBLINGS = 4;
/** The index compares each record that it finds with all periods of a step. */
const MAX_STEP_PERIODS = 8;
/** A sample of few records, or of records of one moment, says little of how often they are written. */
const MIN_SAMPLED_SECONDS = 60;

/**
 * Where a page ends: in a phase, before a record. `hasHits`: there were some up to it. `stops`: how many pages up to it
 * ended before they were full.
 */
export type Position = { phase: number; at: string; id: string; hasHits: boolean; stops: number };
/** `phase`: the first one that finds the record. */
export type FoundKey = { phase: number; kind: Kind; case_id: string; id: string; at: string };
/** All records are before it. */
export const TOP = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** The newest records before the position where a page begins, and what they tell of the others. */
export type Newest = {
  company_number: number;
  /** Whether the index is complete. */
  complete: boolean;
  /** How many were looked through. Fewer than `NEWEST_RECORDS`: there are no others. */
  records: number;
  newest_at: string;
  oldest_at: string;
  /** How often each of `sampledConditions` matches in a sample, and the time that the sample spans. */
  frequencies: number[];
  sampled_seconds: number;
  /** The first hits of each phase, one more than a page has. */
  hits: FoundKey[];
};

/** A page that is looked for, and what is known of the newest records before it. */
type PageToFind = { phases: readonly Phase[]; newest: Newest; from: Position; limit: number };
type End = Pick<Position, 'phase' | 'at' | 'id'>;
/** Periods that are looked through together in a phase: records before a position, and not before a time. */
export type Step = {
  phase: number;
  before: Pick<Position, 'at' | 'id'>;
  from: string;
  /** Queries of PostgreSQL: what the index is asked for, what else is true, and the phases before this one. */
  conditions: string[];
  checksFirst: boolean;
  others: string | null;
  earlier: string | null;
};
/** `newest`: hits among the newest records, which follow those of the steps. */
export type Plan = { steps: Step[]; newest: FoundKey[]; next: End | undefined };

/**
 * The newest records are enough for a phase of which they have a page of hits. `namesTogether`: the steps of beginnings of
 * names find whole names too.
 */
export function planOf(page: PageToFind, first: number, last: number, namesTogether = false): Plan {
  const { phases, newest, from, limit } = page;
  const plan: Plan = { steps: [], newest: [], next: undefined };
  // There are none if no record is left.
  const periods = newest.records === 0 ? [] : periodsBetween(new Date(newest.newest_at), new Date(newest.oldest_at));
  for (let phase = first; phase <= last; phase++) {
    if (phases[phase]?.query === '' || (namesTogether && phase === WHOLE_NAMES)) continue;
    // The newest records are those before the position, while another phase begins with the newest of all.
    if (phase !== from.phase && from.at !== TOP.at) return { ...plan, next: { phase, ...TOP } };
    const hits = hitsOfPhase(newest, phase, from);
    if (newest.records < NEWEST_RECORDS) {
      plan.newest.push(...hits);
    } else if (hits.length > limit) {
      return { ...plan, newest: hits };
    } else {
      const { steps, next } = stepsOf(page, phase, { periods, findsEarlier: namesTogether && phase === NAMES });
      plan.steps.push(...steps);
      if (next) return { ...plan, next };
    }
  }
  return plan;
}

/** The last phase finds what the others find: if a page of it has such a hit, that was written since the first page. */
function hitsOfPhase({ hits }: Newest, phase: number, from: Position): FoundKey[] {
  if (phase !== LAST_PHASE || from.phase !== LAST_PHASE) return hits.filter((hit) => hit.phase === phase);
  return hits.toSorted((a, b) => (a.at === b.at ? compare(b.id, a.id) : compare(b.at, a.at)));
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Few have both names, if the sample has neither. Then one look through all names is cheaper than two. */
export function mayFindNamesTogether({ phases, newest, from }: PageToFind): boolean {
  const isRare = (phase: number) =>
    phases[phase]?.query !== '' &&
    reachMs(frequenciesOf(phases, newest, phases[phase] as Phase), newest) === Number.POSITIVE_INFINITY;
  const isStart = from.phase === WHOLE_NAMES && from.at === TOP.at;
  return isStart && newest.hits.every(({ phase }) => phase > NAMES) && isRare(WHOLE_NAMES) && isRare(NAMES);
}

type StepOptions = { periods: readonly string[]; findsEarlier: boolean };

function stepsOf(
  { phases, newest, from }: PageToFind,
  phase: number,
  { periods: all, findsEarlier }: StepOptions,
): Pick<Plan, 'steps' | 'next'> {
  const frequencies = frequenciesOf(phases, newest, phases[phase] as Phase);
  const queries = queriesOf(phases, phase, frequencies);
  const until = Date.parse(newest.newest_at) - reachMs(frequencies, newest) * 2 ** Math.min(from.stops, MAX_DOUBLINGS);
  const others = numbered(queries.others, newest) || null;
  const earlier = findsEarlier ? null : numbered(queries.earlier, newest) || null;
  const steps: Step[] = [];
  let before: Step['before'] = from.phase === phase ? from : TOP;
  for (let taken = 0; taken < all.length; ) {
    // As many periods as all before: a word that is not in them is so rare that asking for many at once costs little.
    const periods = all.slice(taken, taken + Math.min(Math.max(1, taken), MAX_STEP_PERIODS));
    taken += periods.length;
    const isLast = taken === all.length;
    const start = isLast ? '-infinity' : startOf(periods.at(-1) as string).toISOString();
    steps.push({
      phase,
      before,
      from: start,
      conditions: queries.indexed.map((condition) => inPeriods(condition, periods, newest)),
      checksFirst: queries.checksFirst,
      others,
      earlier,
    });
    before = { at: start, id: LOWEST_ID };
    if (!isLast && Date.parse(start) <= until) return { steps, next: { phase, ...before } };
  }
  return { steps, next: undefined };
}

/** Words that are found in all periods at once, as the function `words_of_period` has them. */
const IN_ALL_PERIODS = /^(?:=|[!:~]\d{7})/;

/** A query for words in periods. All words of a record are in the same one. */
const inPeriods = (query: string, periods: readonly string[], { company_number }: Newest): string =>
  query.replaceAll(/'@([^']+)'(:\*)?/g, (_, word: string, goesOn = '') => {
    const prefixes = IN_ALL_PERIODS.test(word) ? [''] : periods.map((period) => `${period}.`);
    return `(${prefixes.map((prefix) => `'${prefix}${company_number}${word}'${goesOn}`).join(' | ')})`;
  });

/** A query with the number of the company. */
export const numbered = (query: string, { company_number }: Newest): string =>
  query.replaceAll(COMPANY_PLACEHOLDER, String(company_number));

/** How far a page looks back in a phase: without limit if its rarest condition is not in the sample. */
function reachMs(frequencies: readonly number[], { sampled_seconds }: Newest): number {
  const lowest = Math.min(...frequencies);
  if (lowest === 0) return Number.POSITIVE_INFINITY;
  return (Math.max(sampled_seconds, MIN_SAMPLED_SECONDS) * 1000 * MAX_OCCURRENCES) / lowest;
}

/**
 * The index is asked for the two rarest conditions, or for one that is rare enough. The others, and whether a hit is one of an
 * earlier phase, are read from the hits.
 */
function queriesOf(phases: readonly Phase[], phase: number, frequencies: readonly number[]) {
  const { conditions } = phases[phase] as Phase;
  const rarest = conditions
    .map((condition, i) => ({ condition, frequency: frequencies[i] ?? 0 }))
    .sort((a, b) => a.frequency - b.frequency);
  const [first, second] = rarest;
  // The index reads all that begins with a word before it looks for where conditions meet.
  const isExpensive = phase === LAST_PHASE || second?.condition.includes(`${COMPANY_PLACEHOLDER}${SIGNS.phone}`);
  // Two words of which the sample has none may both be frequent in older records: which is rarer is not known.
  const isRareEnough = first?.frequency === 0 && second?.frequency !== 0 && isExpensive;
  const indexed = isRareEnough ? 1 : 2;
  // Nobody may be called by a word that the sample lacks. Then nothing that begins with the other one needs to be read.
  const isFrequentBeginning = second?.condition.includes(':*') === true && second.frequency > 0;
  const checksFirst = phase <= NAMES && first?.frequency === 0 && isFrequentBeginning && indexed === 2;
  const earlier =
    phase === LAST_PHASE ? [] : phases.slice(0, phase).flatMap(({ query }) => (query === '' ? [] : [query]));
  return {
    indexed: rarest.slice(0, indexed).map(({ condition }) => condition),
    checksFirst,
    others: rarest
      .slice(indexed)
      .map(({ condition }) => `(${condition})`)
      .join(' & '),
    earlier: earlier.map((query) => `(${query})`).join(' | '),
  };
}

/** The conditions whose frequency decides how far a page looks back. A single one needs no sample: what it matches are hits. */
export const sampledConditions = (phases: readonly Phase[]): string[] => [
  ...new Set(phases.flatMap(({ conditions }) => (conditions.length > 1 ? conditions : []))),
];

/** How often the sample has each condition of a phase; 0 for one that is not sampled. */
function frequenciesOf(phases: readonly Phase[], { frequencies }: Newest, { conditions }: Phase): number[] {
  const sampled = sampledConditions(phases);
  return conditions.map((condition) => frequencies[sampled.indexOf(condition)] ?? 0);
}
