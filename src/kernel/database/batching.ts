import pg from 'pg';
import { isArray } from '../sql/batch-statement.ts';
import type { Query } from './pipelined-pool.ts';

// Two cost as much by themselves as one statement for both.
const MIN_BATCH_SIZE = 3;
// Company, case, record: what the values of every statement begin with, but for lists, where it only matters that equal ones
// are told apart.
const KEY_LENGTH = 3;

function compareKeys({ values: a }: Query, { values: b }: Query): number {
  for (let i = 0; i < KEY_LENGTH; i++) {
    // An identifier may come in capitals.
    const [one, other] = [String(a[i]).toLowerCase(), String(b[i]).toLowerCase()];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** A statement, and who asked for it. */
export type PlannedStatement<Asked> = { query: Query; asked: Asked[] };

/**
 * The commits for all who ask. One statement for several who ask for the same has a commit to itself, each of them with
 * another record, since a statement changes a record once; the others share one, unless they take their time. In each of them the records
 * come in one order, so that no two commits wait for each other, but for small tables, which the server reads as they lie.
 */
export function planTransactions<Asked extends { query: Query }>(all: Asked[]): PlannedStatement<Asked>[][] {
  const alike = new Map<Query['several'], Asked[]>();
  const others: Asked[] = [];
  for (const one of all.toSorted((a, b) => compareKeys(a.query, b.query))) {
    const { several } = one.query;
    const group = several && alike.get(several);
    const last = group?.at(-1);
    if (!several || (last && compareKeys(last.query, one.query) === 0)) others.push(one);
    else if (group) group.push(one);
    else alike.set(several, [one]);
  }
  const commits: PlannedStatement<Asked>[][] = [];
  for (const [several, asked] of alike) {
    if (several && asked.length >= MIN_BATCH_SIZE) commits.push([{ query: mergeParameters(several, asked), asked }]);
    else others.push(...asked);
  }
  others.sort((a, b) => compareKeys(a.query, b.query));
  const apart = others.map((one) => ({ query: one.query, asked: [one] }));
  // What takes its time would only wait for the others to be done.
  commits.push(...(all[0]?.query.takesTime ? apart.map((one) => [one]) : [apart]));
  return commits.filter((sent) => sent.length > 0);
}

function mergeParameters(several: NonNullable<Query['several']>, asked: { query: Query }[]): Query {
  const { name, text, types } = several;
  if (asked.some(({ query }) => query.values.length !== types.length))
    throw new Error(`Other values than ${name} has.`);
  const values = types.map((type, i) =>
    asked.map(({ query }) => (isArray(type) ? arrayText(query.values[i]) : query.values[i])),
  );
  return { name, text, values };
}

/** As `pg` would send it; it has no types for this. */
const { prepareValue: arrayText } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;
