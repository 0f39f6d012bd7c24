import pg from 'pg';
import { isArrayType } from '../sql/inputs.ts';
import { LOCK_ORDER, type PreparedStatement, type Query } from '../sql/statement.ts';

// A batch of two costs as much as two statements.
const MIN_BATCH_SIZE = 3;

/** A statement to be sent, and the requests that it serves. */
export type PlannedStatement<Request> = {
  statement: Pick<PreparedStatement, 'name' | 'text'>;
  values: unknown[];
  requests: Request[];
};

/**
 * Splits pending requests into transactions. Requests with the same batchable statement and different records become one
 * statement in a transaction of its own; the others share one, except lists and searches, which would wait for each
 * other. Within each transaction rows are locked in one order, so two of them cannot deadlock. (On a small table the
 * planner may read in the order of the heap; then PostgreSQL ends one of the two, and each request is sent singly.)
 */
export function planTransactions<Request extends { query: Query }>(pending: Request[]): PlannedStatement<Request>[][] {
  const batches = new Map<PreparedStatement, Request[]>();
  const singles: Request[] = [];
  for (const request of pending.toSorted((a, b) => compareKeys(a.query, b.query))) {
    const { statement } = request.query;
    const batch = batches.get(statement);
    const last = batch?.at(-1);
    // A statement can change a record only once.
    const repeatsRecord = last && !statement.readOnly && compareKeys(last.query, request.query) === 0;
    if (!statement.batch || repeatsRecord) singles.push(request);
    else if (batch) batch.push(request);
    else batches.set(statement, [request]);
  }
  const transactions: PlannedStatement<Request>[][] = [];
  for (const [statement, requests] of batches) {
    if (requests.length >= MIN_BATCH_SIZE) transactions.push([mergeRequests(statement, requests)]);
    else singles.push(...requests);
  }
  singles.sort((a, b) => compareKeys(a.query, b.query));
  const planned = singles.map((request) => ({ ...request.query, requests: [request] }));
  const isShort = pending[0]?.query.statement.pool === 'short';
  transactions.push(...(isShort ? [planned] : planned.map((single) => [single])));
  return transactions.filter(({ length }) => length > 0);
}

/** Compares company, case and record; a statement without one of them comes first. */
function compareKeys(a: Query, b: Query): number {
  for (let i = 0; i < LOCK_ORDER.length; i++) {
    const [one, other] = [keyPart(a, i), keyPart(b, i)];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Identifiers may be sent in capitals. */
function keyPart({ statement, values }: Query, i: number): string {
  const index = statement.key[i];
  return index === undefined ? '' : String(values[index]).toLowerCase();
}

/** Turns the values of each input into one array. */
function mergeRequests<Request extends { query: Query }>(
  { batch }: PreparedStatement,
  requests: Request[],
): PlannedStatement<Request> {
  if (!batch) throw new Error('The statement cannot be batched.');
  const values = batch.types.map((type, i) => {
    const column = requests.map(({ query }) => query.values[i]);
    return isArrayType(type) ? column.map(arrayText) : column;
  });
  return { statement: batch, values, requests };
}

/** The text that `pg` would send for an array. `pg` exports the function, but its types do not. */
const { prepareValue: arrayText } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;
