import { KINDS, type Kind } from './documents.sql.ts';
import { type Mode, type Place, type Term, tsquery } from './query.ts';
import { COMPANY_PLACEHOLDER, MAX_CONDITIONS } from './statements.sql.ts';

/** Returns the queries that the statement of a search takes. Only a caller who may read cases finds records by their case. */
export function queriesOf(terms: readonly Term[], kinds: readonly Kind[], readsCases: boolean) {
  const company = COMPANY_PLACEHOLDER;
  const anySigns = readsCases ? (['own', 'context'] as const) : (['own'] as const);
  const ofKinds = kinds.length < KINDS.length ? kinds : undefined;
  // Interactions and appointments have no name, and their external ids are found as other words are.
  const areNamed = kinds.some((kind) => !['interaction', 'appointment'].includes(kind));
  const whole = (signs: Place['signs'], mode: Mode) => tsquery(terms, { company, kinds: ofKinds, signs, mode });
  /** One query for each term, and the last one for all that are left. */
  const conditions = (signs: Place['signs'], mode: Mode) =>
    terms.slice(0, MAX_CONDITIONS).map((_, nth) => {
      const isLast = nth === Math.min(terms.length, MAX_CONDITIONS) - 1;
      const own = terms.slice(nth, isLast ? undefined : nth + 1);
      // Only the last word of a search may go on.
      const ownMode = mode === 'begun' && !isLast ? 'exact' : mode;
      return tsquery(own, { company, kinds: isLast ? ofKinds : undefined, signs, mode: ownMode });
    });
  return {
    identity_exact: areNamed ? whole(['identity'], 'exact') : NOTHING,
    identity_begun: areNamed ? whole(['identity'], 'begun') : NOTHING,
    own_exact: whole(['own'], 'exact'),
    own_begun: whole(['own'], 'begun'),
    anywhere_prefix: whole(anySigns, 'prefix'),
    identity_words: areNamed ? conditions(['identity'], 'exact') : [],
    identity_words_begun: areNamed ? conditions(['identity'], 'begun') : [],
    words: conditions(anySigns, 'exact'),
    words_begun: conditions(anySigns, 'begun'),
    words_prefix: conditions(anySigns, 'prefix'),
  };
}

/** A query of PostgreSQL that matches nothing. */
const NOTHING = '';
