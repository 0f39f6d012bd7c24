import { KINDS, type Kind } from './documents.sql.ts';
import { conditionsOf, type Mode, type Place, type Term } from './query.ts';
import { COMPANY_PLACEHOLDER } from './statements.sql.ts';

/**
 * The ways to find a record, better ones first: all records that are found in one way come before those of the next. The
 * queries have a placeholder for the number of the company.
 */
export type Phase = {
  /** The query of PostgreSQL; empty if nothing is found in this way. */
  query: string;
  /** What must all be true, as queries of their own; also the kind, if not all are searched. */
  conditions: readonly string[];
};

/** The phase in which every word may be the beginning of another. It is for searches that have found nothing else. */
export const LAST_PHASE = 4;
/** These phases find names and numbers that records are known by: as whole words, and those that begin with the last word. */
export const WHOLE_NAMES = 0;
export const NAMES = 1;

type Search = { terms: readonly Term[]; kinds: readonly Kind[]; readsCases: boolean };

/** Only a caller who may read cases finds records by their case. */
export function phasesOf({ terms, kinds, readsCases }: Search): Phase[] {
  const anywhere = readsCases ? (['own', 'context'] as const) : (['own'] as const);
  const phase = (signs: Place['signs'], mode: Mode): Phase => {
    const place = { company: COMPANY_PLACEHOLDER, signs, mode };
    const words = conditionsOf(terms, place);
    const conditions = kinds.length < KINDS.length ? conditionsOf(terms, { ...place, kinds }) : words;
    return { query: words.join(' & '), conditions };
  };
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
    return isSame || (i <= NAMES && !areNamed) ? { query: '', conditions: [] } : one;
  });
}
