import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { COMPANIES, type Company, ID_LENGTH, type Route, routeOf } from './baseline/routes.ts';
import type { Dataset } from './dataset.ts';
import type { Operation } from './operations.ts';
import type { Pgbench } from './pgbench/pgbench.ts';
import type { Server } from './servers.ts';

/** The comparison is fair only if both servers do the same work: same response, same rows. Checked before measuring. */

/** Far above the numbers of the requests that the load generator sends. No number is used twice for a write. */
const FIRST_REQUEST_NUMBER = 1_000_000_000;
let nextWriteNumber = FIRST_REQUEST_NUMBER;

const COUNT_ROWS = `SELECT
  (SELECT count(*) FROM people) AS people, (SELECT sum(version) FROM people) AS people_versions,
  (SELECT count(*) FROM addresses) AS addresses, (SELECT count(*) FROM relationships) AS relationships,
  (SELECT count(*) FROM interactions) AS interactions, (SELECT sum(version) FROM interactions) AS interaction_versions,
  (SELECT count(*) FROM invoices) AS invoices, (SELECT sum(version) FROM invoices) AS invoice_versions,
  (SELECT count(*) FROM invoice_items) AS invoice_items,
  (SELECT count(*) FROM appointments) AS appointments, (SELECT sum(version) FROM appointments) AS appointment_versions,
  (SELECT count(*) FROM appointments WHERE deleted_at IS NULL) AS appointments_left,
  (SELECT count(*) FROM messages) AS messages,
  (SELECT count(*) FROM messages WHERE state = 'scheduled') AS messages_scheduled`;

export type RowChanges = Record<string, number>;

type WorkResult = { json: unknown; changes: RowChanges };

/** Throws if the two servers do not do the same work. Returns the row changes of one request. */
export async function assertEquivalent(
  operation: Operation,
  dataset: Dataset,
  client: pg.Client,
  servers: readonly [Server, Server],
): Promise<RowChanges> {
  const results: WorkResult[] = [];
  for (const server of servers) {
    const before = await countRows(client);
    const n = operation.kind === 'read' ? FIRST_REQUEST_NUMBER : nextWriteNumber++;
    const json = await sendOne(server, operation, dataset, n);
    results.push({ json, changes: countChanges(before, await countRows(client)) });
  }
  const [first, second] = results as [WorkResult, WorkResult];
  const comparable = ({ json }: WorkResult) => (operation.kind === 'read' ? json : shapeOf(json));
  const difference =
    firstDifference(comparable(first), comparable(second), 'response') ??
    firstDifference(first.changes, second.changes, 'changes');
  if (difference) {
    const [one, other] = servers.map(({ name }) => name);
    throw new Error(`${operation.name}: ${one} and ${other} differ. ${difference}`);
  }
  return first.changes;
}

/** Throws if one request of pgbench does not change what a request to the servers changes. */
export async function assertSameChanges(
  { id, name }: Operation,
  changes: RowChanges,
  client: pg.Client,
  pgbench: Pgbench,
): Promise<void> {
  const before = await countRows(client);
  await pgbench.sendOne(id);
  const difference = firstDifference(changes, countChanges(before, await countRows(client)), 'changes');
  if (difference) throw new Error(`${name}: the service and pgbench differ. ${difference}`);
}

/**
 * Throws if the best baseline's statement for several requests does not do the same work as its statement for one. The
 * changes are rolled back.
 */
export async function assertBatchEquivalent(
  { name, request }: Operation,
  changes: RowChanges,
  dataset: Dataset,
  client: pg.Client,
): Promise<void> {
  const requests = Array.from({ length: BATCH_SIZE }, () => request(dataset, nextWriteNumber++));
  const { rows: companies } = await client.query<Company>(COMPANIES);
  const { rows: cases } = await client.query<{ id: string; company_id: string }>('SELECT id, company_id FROM cases');
  const route = routeOf(requests[0]?.method ?? '', requests[0]?.path ?? '') as Route;
  const values = requests.map(({ path, params, body }) => {
    const owner = cases.find(({ id }) => id === params.caseId)?.company_id;
    const company = companies.find(({ id }) => id === owner) as Company;
    return route.values(company, params.caseId ?? '', path.slice(-ID_LENGTH), body);
  });
  const { text, batch } = route.statement;
  const columns = batch.types.map((type, i) =>
    values.map((row) => (type.endsWith('[]') ? pgText(row[i]) : (row[i] ?? null))),
  );
  const run = async (sql: string, parameters: unknown[]): Promise<{ json: unknown[]; changes: RowChanges }> => {
    await client.query('BEGIN');
    try {
      const before = await countRows(client);
      const { rows } = await client.query<string[]>({ text: sql, values: parameters, rowMode: 'array' });
      const json = rows.map((row) => shapeOf(JSON.parse(row.at(-1) as string)));
      return { json, changes: countChanges(before, await countRows(client)) };
    } finally {
      await client.query('ROLLBACK');
    }
  };
  const single = await run(text, values[0] as unknown[]);
  const several = await run(batch.text, columns);
  const expected = Object.fromEntries(Object.entries(changes).map(([key, change]) => [key, change * BATCH_SIZE]));
  const difference =
    firstDifference(Array(BATCH_SIZE).fill(single.json[0]), several.json, 'responses') ??
    firstDifference(single.changes, changes, 'changes') ??
    firstDifference(expected, several.changes, 'changes');
  if (difference) throw new Error(`${name}: the best baseline does not batch what it does singly. ${difference}`);
}

const BATCH_SIZE = 3;
/** The text that `pg` sends for an array. `pg` exports the function, but its types do not. */
const { prepareValue: pgText } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

async function sendOne(server: Server, operation: Operation, dataset: Dataset, n: number): Promise<unknown> {
  const { method, path, token, body } = operation.request(dataset, n);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`${operation.name}: the ${server.name} answered ${response.status}: ${text}`);
  }
  return JSON.parse(text);
}

/** Replaces every value by the name of its type, so that responses with different values can be compared. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object') return typeof value;
  const keys = Object.keys(value).filter((key) => !IDENTIFIER.test(key));
  return Object.fromEntries(keys.map((key) => [key, shapeOf(value[key as keyof typeof value])]));
}

/** Keys that are identifiers differ between cases, so they are ignored. */
const IDENTIFIER = /^[0-9a-f]{8}-/;

/** Describes the first difference between two values; undefined if they are equal. */
export function firstDifference(one: unknown, other: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(one, other)) return undefined;
  if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const found = firstDifference(one[key], other[key], `${path}.${key}`);
      if (found) return found;
    }
  }
  return `${path}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

async function countRows(client: pg.Client): Promise<Record<string, string>> {
  return (await client.query<Record<string, string>>(COUNT_ROWS)).rows[0] ?? {};
}

function countChanges(before: Record<string, string>, after: Record<string, string>): RowChanges {
  const changes = Object.keys(before).map((key) => [key, Number(after[key]) - Number(before[key])] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}
