import { KINDS, type Kind } from './documents.sql.ts';
import { type Mode, type Place, type Term, tsquery } from './query.ts';
import { COMPANY_PLACEHOLDER } from './statements.sql.ts';

/**
 * The ways to find a record, better ones first: all records that are found in one way come before those of the next. The
 * queries have a placeholder for the number of the company.
 */
export type Phase = {
  /** The query of PostgreSQL; empty if nothing is found in this way. */
  query: string;
  /** What must all be true, as queries of their own. */
  conditions: readonly string[];
};

/** The phase in which every word may be the beginning of another. It is for searches that have found nothing else. */
export const LAST_PHASE = 4;
/** These phases find names and numbers that records are known by. */
const isOfNames = (phase: number): boolean => phase < 2;

type Search = { terms: readonly Term[]; kinds: readonly Kind[]; readsCases: boolean };

/** Only a caller who may read cases finds records by their case. */
export function phasesOf({ terms, kinds, readsCases }: Search): Phase[] {
  const anywhere = readsCases ? (['own', 'context'] as const) : (['own'] as const);
  const phase = (signs: Place['signs'], mode: Mode): Phase => ({
    query: queryOf(terms, signs, mode),
    conditions: [
      // Only the last word of a search may go on, unless all of them may.
      ...terms.map((term, i) => queryOf([term], signs, mode === 'begun' && i < terms.length - 1 ? 'exact' : mode)),
      ...(kinds.length < KINDS.length ? [tsquery([], { company: COMPANY_PLACEHOLDER, signs, kinds, mode })] : []),
    ],
  });
  const phases = [
    phase(['identity'], 'exact'),
    phase(['identity'], 'begun'),
    phase(anywhere, 'exact'),
    phase(anywhere, 'begun'),
    phase(anywhere, 'prefix'),
  ];
  // Interactions and appointments have no name, and their external ids are found as other words are.
  const areNamed = kinds.some((kind) => !['interaction', 'appointment'].includes(kind));
  return phases.map((one, i) => {
    const isSame = (i === 1 || i === 3) && one.query === phases[i - 1]?.query;
    return isSame || (isOfNames(i) && !areNamed) ? { query: '', conditions: [] } : one;
  });
}

const queryOf = (terms: readonly Term[], signs: Place['signs'], mode: Mode): string =>
  tsquery(terms, { company: COMPANY_PLACEHOLDER, signs, mode });
