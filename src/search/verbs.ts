import type { Context } from '../kernel/context.ts';
import { InvalidValue } from '../kernel/errors.ts';
import { eventLoopPauses } from '../kernel/event-loop.ts';
import type { Scope } from '../kernel/scopes.ts';
import type { Form } from '../kernel/validation/form.ts';
import {
  type ContextRow,
  contextText,
  type DocumentRow,
  matches,
  type TextWords,
  textsOf,
  wordsOf,
} from './document.ts';
import { KINDS, type Kind, loadContexts, loadDocuments } from './documents.sql.ts';
import { fragmentOf, openingOf } from './fragment.ts';
import { columnsOf } from './indexer.ts';
import { queriesOf } from './queries.ts';
import { MAX_TERMS, parseQuery, type Term } from './query.ts';
import { DEFAULT_HITS, MAX_HITS, type SearchHit, type SearchQuery } from './schema.ts';
import { findDocuments } from './statements.sql.ts';

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

/** Returns the best hits as JSON. */
export async function search(context: Context, query: Form<SearchQuery>): Promise<string> {
  const { db, company } = context;
  const terms = query.read('q', query.body.q, (text) => readTerms(text, company.phoneRegion)) ?? [];
  const asked = query.read('kinds', query.body.kinds, readKinds) ?? KINDS;
  const limit = query.read('limit', query.body.limit, readLimit) ?? DEFAULT_HITS;
  query.check();
  const kinds = asked.filter((kind) => mayRead(context, kind));
  if (kinds.length === 0) return JSON.stringify({ hits: [], complete: true });
  // The reference and the customers of a case are found only by a caller who may read them.
  const readsCases = mayRead(context, 'case');
  const found = await db.queryRows<FoundRow>(
    findDocuments({ company_id: company.id, ...queriesOf(terms, kinds, readsCases), kinds, limit }),
  );
  const keys = found.filter((row): row is FoundKey => row.id !== null);
  const hits = keys.length > 0 ? await readHits(context, keys, terms, readsCases) : [];
  return JSON.stringify({ hits, complete: found[0]?.complete ?? false });
}

type FoundKey = { complete: boolean; kind: Kind; case_id: string; id: string; at: string };
type FoundRow = FoundKey | { complete: boolean; id: null };

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

/** Reads the records as they are now. One that does not match any more is left out. */
async function readHits(
  { db, company }: Context,
  keys: readonly FoundKey[],
  terms: readonly Term[],
  readsCases: boolean,
): Promise<SearchHit[]> {
  const caseIds = [...new Set(keys.map(({ case_id }) => case_id))];
  const [rows, contexts] = await Promise.all([
    db.queryRows<DocumentRow>(loadDocuments({ company_id: company.id, ...columnsOf(keys) })),
    readsCases ? db.queryRows<ContextRow>(loadContexts({ company_id: company.id, case_ids: caseIds })) : [],
  ]);
  const rowByKey = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  const contextByCase = new Map(contexts.map((one) => [one.case_id, one]));
  const hits: SearchHit[] = [];
  const pause = eventLoopPauses();
  for (const { kind, id } of keys) {
    await pause();
    const row = rowByKey.get(`${kind} ${id}`);
    const hit = row && hitOf(row, contextByCase.get(row.case_id), terms, company.phoneRegion);
    if (hit) hits.push(hit);
  }
  return hits;
}

function hitOf(
  row: DocumentRow,
  context: ContextRow | undefined,
  terms: readonly Term[],
  region: string,
): SearchHit | undefined {
  const texts = textsOf(row);
  const known = mergeWords(texts.map(([field, text]) => wordsOf(field, text, region)));
  const withContext = context
    ? mergeWords([known, { words: wordsOf('', contextText(context), region).words, phones: [] }])
    : known;
  if (!terms.every((term) => matches(term, known) || matches(term, withContext))) return undefined;
  const fragments = texts.map(([field, text]) => fragmentOf(field, text, terms, region));
  const [field, text] = texts[0] ?? ['', ''];
  return {
    kind: row.kind,
    id: row.id,
    case: { id: row.case_id, reference: context?.reference ?? null },
    title: titleOf(row.kind, new Map(texts)),
    fragment: bestOf(fragments) ?? openingOf(field, text),
    at: row.at,
  };
}

const mergeWords = (all: readonly TextWords[]): TextWords => ({
  words: new Set(all.flatMap(({ words }) => [...words])),
  phones: all.flatMap(({ phones }) => phones),
});

/** The fragment with the most matches; of equals, that of the field which comes first. */
function bestOf(fragments: readonly (SearchHit['fragment'] | undefined)[]): SearchHit['fragment'] | undefined {
  const count = (fragment: SearchHit['fragment']) => fragment.pieces.filter(({ match }) => match).length;
  return fragments
    .filter((fragment) => fragment !== undefined)
    .reduce<SearchHit['fragment'] | undefined>(
      (best, one) => (best && count(best) >= count(one) ? best : one),
      undefined,
    );
}

/** The field that a record is known by. Appointments have no name. */
const TITLES: Record<Kind, string> = {
  case: 'reference',
  customer: 'name',
  entry: 'name',
  interaction: 'type',
  invoice: 'invoice_number',
  appointment: 'type',
};

const titleOf = (kind: Kind, texts: ReadonlyMap<string, string>): string => texts.get(TITLES[kind]) ?? kind;
