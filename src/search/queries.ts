import { KINDS, type Kind } from './documents.sql.ts';
import { type Mode, type Place, type Term, tsquery } from './query.ts';
import { COMPANY_PLACEHOLDER, CONDITIONS } from './statements.sql.ts';

/** A query of PostgreSQL that matches nothing. */
const NOTHING = '';

/** Returns the queries that the statement of a search takes. Only a caller who may read cases finds records by their case. */
export function queriesOf(terms: readonly Term[], kinds: readonly Kind[], readsCases: boolean) {
  const company = COMPANY_PLACEHOLDER;
  const signs = readsCases ? (['own', 'context'] as const) : (['own'] as const);
  const base = { company, kinds: kinds.length < KINDS.length ? kinds : undefined };
  // Interactions and appointments have no name, and their external ids are found as other words are.
  const named = kinds.some((kind) => !['interaction', 'appointment'].includes(kind));
  const identity = (mode: Mode) => (named ? tsquery(terms, { ...base, signs: ['identity'], mode }) : NOTHING);
  const own = (mode: Mode) => tsquery(terms, { ...base, signs: ['own'], mode });
  const anywhere = (mode: Mode) => tsquery(terms, { ...base, signs, mode });
  const beforeLast = (of: Place['signs']) => tsquery(terms.slice(0, -1), { ...base, signs: of, mode: 'exact' });
  /** The last condition has all words that are left. Fewer words repeat the first. */
  const conditions = (of: Place['signs']) =>
    CONDITIONS.map((nth) => {
      const isLast = nth === CONDITIONS.length;
      const some = terms.slice(nth - 1, isLast ? undefined : nth);
      const place = { company, signs: of, mode: 'exact', kinds: isLast ? base.kinds : undefined } as const;
      return tsquery(some.length > 0 ? some : terms.slice(0, 1), place);
    });
  return {
    identity_exact: identity('exact'),
    identity_begun: identity('begun'),
    own_exact: own('exact'),
    own_begun: own('begun'),
    anywhere_begun: anywhere('begun'),
    anywhere_prefix: anywhere('prefix'),
    identity_before_last: named && terms.length > 1 ? beforeLast(['identity']) : NOTHING,
    anywhere_before_last: terms.length > 1 ? beforeLast(signs) : NOTHING,
    identity: named ? conditions(['identity']) : [],
    anywhere: conditions(signs),
    last_begun: terms.length > 1 ? tsquery(terms.slice(-1), { company, signs, mode: 'prefix' }) : NOTHING,
    beginnings: terms.length > 1 ? terms.map((term) => tsquery([term], { company, signs, mode: 'prefix' })) : [],
  };
}
