import type { Context } from '../kernel/context.ts';
import type { Query } from '../kernel/sql/statement.ts';
import type { Kind } from './documents.sql.ts';
import { LAST_PHASE, NAMES, phasesOf } from './phases.ts';
import {
  type FoundKey,
  mayFindNamesTogether,
  type Newest,
  numbered,
  type Plan,
  type Position,
  planOf,
  type Step,
  sampledConditions,
  TOP,
} from './plan.ts';
import type { Term } from './query.ts';
import { findInIndexBy, lookThroughNewest, NEWEST_RECORDS } from './statements.sql.ts';

/**
 * Hits are in the order of their phases, and within a phase the newest come first. A page continues after a position in
 * this order. The newest records are looked through one by one, and the others by the index, one period after another,
 * until the page has enough hits or looks back far enough.
 */

/** `next`: where the next page begins, if there are records left to look through. */
type Found = { keys: FoundKey[]; complete: boolean; next: Position | undefined };
export type Search = { terms: readonly Term[]; kinds: readonly Kind[]; readsCases: boolean; limit: number };

const START: Position = { phase: 0, ...TOP, hasHits: false, stops: 0 };

type Inputs = { company_id: string; kinds: readonly Kind[]; queries: string[]; limit: number };

/** Finds a page of hits. */
export async function find(context: Context, search: Search, from: Position = START): Promise<Found> {
  const page = await findAfter(context, search, from);
  const limit = search.limit - page.keys.length;
  // The next phase begins with the newest records again.
  if (page.next?.at === TOP.at && limit > 0) {
    const rest = await findAfter(context, { ...search, limit }, page.next);
    page.keys.push(...rest.keys);
    page.next = rest.next;
  }
  return page;
}

async function findAfter({ db, company }: Context, search: Search, from: Position): Promise<Found> {
  const { kinds, limit } = search;
  const phases = phasesOf(search);
  const queries = phases.map(({ query }) => query);
  const conditions = sampledConditions(phases);
  // One hit more than the page has shows that the page is full.
  const inputs = { company_id: company.id, kinds, limit: limit + 1 };
  const newest = await db.queryFirst<Newest>(
    lookThroughNewest({ ...inputs, before_at: from.at, before_id: from.id, phases: queries, conditions }),
  );
  if (!newest) return { keys: [], complete: false, next: undefined };
  const { complete } = newest;
  const page = { phases, newest, from, limit };
  const hitsOf = async (plan: Plan): Promise<FoundKey[]> => {
    if (plan.steps.length === 0) return plan.newest;
    const ofCompany = queries.map((query) => numbered(query, newest));
    const indexed = await db.queryRows<FoundKey>(findInSteps(plan.steps, { ...inputs, queries: ofCompany }));
    return [...indexed, ...plan.newest];
  };
  let findsMuch = false;
  if (from === START && newest.records === NEWEST_RECORDS && newest.hits.length === 0) {
    // A search that finds little at all needs one phase only: the last one finds all that the others find.
    const plan = planOf(page, LAST_PHASE, LAST_PHASE);
    const hits = plan.next ? undefined : await hitsOf(plan);
    if (hits && hits.length <= limit) return { keys: bestOf(hits), complete, next: undefined };
    findsMuch = hits !== undefined;
  }
  let plan: Plan | undefined;
  let hits: FoundKey[] = [];
  if (from.phase < LAST_PHASE) {
    const namesTogether = !findsMuch && mayFindNamesTogether(page);
    plan = planOf(page, from.phase, LAST_PHASE - 1, namesTogether);
    hits = (await hitsOf(plan)).sort(byPhase);
    if (namesTogether && hits.filter(({ phase }) => phase <= NAMES).length > limit) {
      // There are more names than expected, and older ones may be better.
      plan = planOf(page, from.phase, LAST_PHASE - 1);
      hits = await hitsOf(plan);
    }
  }
  if (!plan || (!from.hasHits && !plan.next && hits.length === 0)) {
    plan = planOf(page, LAST_PHASE, LAST_PHASE);
    hits = (await hitsOf(plan)).map((hit) => ({ ...hit, phase: LAST_PHASE }));
  }
  const keys = hits.slice(0, limit);
  const isFull = hits.length > limit;
  const end = isFull ? keys.at(-1) : plan.next;
  if (!end) return { keys, complete, next: undefined };
  const hasHits = from.hasHits || keys.length > 0;
  const stops = from.stops + (isFull || end.at === TOP.at ? 0 : 1);
  return { keys, complete, next: { phase: end.phase, at: end.at, id: end.id, hasHits, stops } };
}

const byPhase = (a: FoundKey, b: FoundKey): number => a.phase - b.phase;

/** Hits of the last phase in the order of the phases that find them first. If others find some, these are all. */
function bestOf(hits: readonly FoundKey[]): FoundKey[] {
  const better = hits.filter(({ phase }) => phase < LAST_PHASE);
  return better.length > 0 ? better.sort(byPhase) : [...hits];
}

/** The statement that takes the steps in their order. */
function findInSteps(steps: readonly Step[], inputs: Inputs): Query {
  const hasTwo = steps.some(({ conditions }) => conditions.length === 2);
  const statement = hasTwo ? findInIndexBy.two : findInIndexBy.one;
  return statement({
    ...inputs,
    phases: steps.map(({ phase }) => phase),
    firsts: steps.map(({ conditions }) => conditions[0] ?? null),
    seconds: steps.map(({ conditions }) => (hasTwo ? (conditions[1] ?? conditions[0] ?? null) : null)),
    checks: steps.map(({ checksFirst }) => checksFirst),
    others: steps.map(({ others }) => others),
    earlier: steps.map(({ earlier }) => earlier),
    from_at: steps.map(({ from }) => from),
    before_at: steps.map(({ before }) => before.at),
    before_id: steps.map(({ before }) => before.id),
  });
}
