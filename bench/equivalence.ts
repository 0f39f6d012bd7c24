import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Dataset } from './dataset.ts';
import type { Operation } from './operations.ts';
import type { Server } from './servers.ts';

/** The comparison is fair only if both servers do the same work: same response, same rows. Checked before measuring. */

/** Far above the numbers of the requests that the load generator sends. */
const FIRST_REQUEST_NUMBER = 1_000_000_000;

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
  for (const [i, server] of servers.entries()) {
    const before = await countRows(client);
    const n = operation.kind === 'read' ? FIRST_REQUEST_NUMBER : FIRST_REQUEST_NUMBER + i;
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
