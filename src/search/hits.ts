import type { Context } from '../kernel/context.ts';
import { eventLoopPauses } from '../kernel/event-loop.ts';
import { contextText, type DocumentRow, textsOf } from './document.ts';
import { type Kind, loadDocuments } from './documents.sql.ts';
import { type Fragment, fragmentOf } from './fragment.ts';
import { columnsOf } from './indexer.ts';
import { Matcher } from './matcher.ts';
import type { FoundKey } from './plan.ts';
import type { Term } from './query.ts';
import type { SearchHit } from './schema.ts';

/**
 * Reads the records as they are now. One that does not match any more is left out. Of a page, those that are found by
 * the words of their case come last.
 */
export async function readHits(
  { db, company }: Context,
  keys: readonly FoundKey[],
  terms: readonly Term[],
  readsCases: boolean,
): Promise<SearchHit[]> {
  const rows = await db.queryRows<DocumentRow>(
    loadDocuments({ company_id: company.id, ...columnsOf(keys), with_cases: readsCases }),
  );
  const rowByKey = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  const matcher = new Matcher(terms, company.phoneRegion);
  const hits: SearchHit[] = [];
  const hitsByCase: SearchHit[] = [];
  const pause = eventLoopPauses();
  for (const { kind, id } of keys) {
    await pause();
    const row = rowByKey.get(`${kind} ${id}`);
    const found = row && hitOf(row, matcher);
    if (found) (found.isByCase ? hitsByCase : hits).push(found.hit);
  }
  return [...hits, ...hitsByCase];
}

function hitOf(row: DocumentRow, matcher: Matcher): { hit: SearchHit; isByCase: boolean } | undefined {
  const texts = textsOf(row).map(([field, text]) => ({ field, text, ...matcher.find(field, text) }));
  const isByCase = !matcher.isMatch(texts);
  if (isByCase && !matcher.isMatch(texts, matcher.find('', contextText(row)))) return undefined;
  const matching = texts.filter(({ ranges }) => ranges.length > 0);
  const fragments = (matching.length > 0 ? matching : texts.slice(0, 1)).map(fragmentOf);
  const hit = {
    kind: row.kind,
    id: row.id,
    case: { id: row.case_id, reference: row.reference },
    title: texts.find(({ field }) => field === TITLES[row.kind])?.text ?? row.kind,
    fragment: fragments.reduce(
      (best, one) => (matchesIn(best) >= matchesIn(one) ? best : one),
      fragments[0] ?? NO_TEXT,
    ),
    at: row.at,
  };
  return { hit, isByCase };
}

/** A hit shows the fragment with the most matches; of equals, that of the field which comes first. */
const matchesIn = ({ pieces }: Fragment): number => pieces.filter(({ match }) => match).length;
/** For a record that is known only by its case. */
const NO_TEXT: Fragment = { field: '', pieces: [] };

/** The field that a record is known by. Appointments have no name. */
const TITLES: Record<Kind, string> = {
  case: 'reference',
  customer: 'name',
  entry: 'name',
  interaction: 'type',
  invoice: 'invoice_number',
  appointment: 'type',
};
