import type { Context } from '../kernel/context.ts';
import { InvalidValue } from '../kernel/errors.ts';
import type { Scope } from '../kernel/scopes.ts';
import { readCursor, toCursor } from '../kernel/validation/cursor.ts';
import type { Form } from '../kernel/validation/form.ts';
import { KINDS, type Kind } from './documents.sql.ts';
import { find } from './find.ts';
import { readHits } from './hits.ts';
import type { Position } from './plan.ts';
import { MAX_TERMS, parseQuery, type Term } from './query.ts';
import { DEFAULT_HITS, MAX_HITS, type SearchQuery } from './schema.ts';

/** Scopes that read a kind of record; one of them suffices. */
const SCOPES_OF_KINDS: Record<Kind, readonly Scope[]> = {
  case: ['cases:read', 'manage'],
  customer: ['cases:read', 'manage'],
  entry: ['address_book:read'],
  interaction: ['interactions:read'],
  invoice: ['invoices:read'],
  appointment: ['appointments:read'],
};

/** A search needs one of them, and finds what they allow. */
export const SEARCH_SCOPES: readonly Scope[] = [...new Set(Object.values(SCOPES_OF_KINDS).flat())];

const mayRead = ({ scopes }: Context, kind: Kind): boolean =>
  scopes === undefined || SCOPES_OF_KINDS[kind].some((scope) => scopes.has(scope));

/** A page as JSON, and the cursor of the next one if there may be one. */
type SearchPage = { json: string; next: string | undefined };

export async function search(context: Context, query: Form<SearchQuery>): Promise<SearchPage> {
  const { eventKey, phoneRegion } = context.company;
  const terms = query.read('q', query.body.q, (text) => readTerms(text, phoneRegion)) ?? [];
  const asked = query.read('kinds', query.body.kinds, readKinds) ?? KINDS;
  const limit = query.read('limit', query.body.limit, readLimit) ?? DEFAULT_HITS;
  const kinds = asked.filter((kind) => mayRead(context, kind));
  // The reference and the customers of a case are found only by a caller who may read them.
  const readsCases = mayRead(context, 'case');
  const list = JSON.stringify(['search', query.body.q, kinds, readsCases]);
  const from = query.read('cursor', query.body.cursor, (cursor) => {
    const position = readCursor(eventKey, list, cursor);
    if (!position) throw new InvalidValue('unknown', 'is not a cursor of this search with these kinds');
    return fromKey(position);
  });
  query.check();
  if (kinds.length === 0) return { json: JSON.stringify({ hits: [], complete: true }), next: undefined };
  const { keys, complete, next } = await find(context, { terms, kinds, readsCases, limit }, from);
  const hits = keys.length > 0 ? await readHits(context, keys, terms, readsCases) : [];
  return {
    json: JSON.stringify({ hits, complete }),
    next: next && toCursor(eventKey, list, { key: toKey(next), id: next.id }),
  };
}

const toKey = ({ phase, hasHits, stops, at }: Position): string => [phase, Number(hasHits), stops, at].join(' ');

function fromKey({ key, id }: { key: string; id: string }): Position {
  const [phase, hasHits, stops, at = ''] = key.split(' ');
  return { phase: Number(phase), hasHits: hasHits === '1', stops: Number(stops), at, id };
}

function readTerms(text: string, region: string): Term[] {
  if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
  const terms = parseQuery(text, region);
  if (terms.length === 0) throw new InvalidValue('format', 'must contain a letter or a digit');
  if (terms.length > MAX_TERMS) throw new InvalidValue('too_many', `must not have more than ${MAX_TERMS} words`);
  return terms;
}

function readKinds(text: string): Kind[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !KINDS.includes(name as Kind));
  if (unknown !== undefined) throw new InvalidValue('not_allowed', `must only name ${KINDS.join(', ')}`);
  return [...new Set(names as Kind[])];
}

function readLimit(value: string): number {
  if (Number(value) > MAX_HITS) throw new InvalidValue('out_of_range', `must not be more than ${MAX_HITS}`);
  return Number(value);
}
