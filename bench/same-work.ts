import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Operation } from './operations.ts';
import type { Server } from './servers.ts';
import type { World } from './world.ts';

/** The floor is one only if it does what the service does: the same answer, the same rows. Looked at before measuring. */

/** Far from what the load sends. */
const FIRST = 1_000_000_000;

const LEDGER = `SELECT
  (SELECT count(*) FROM people) AS people, (SELECT sum(version) FROM people) AS people_versions,
  (SELECT count(*) FROM addresses) AS addresses, (SELECT count(*) FROM relationships) AS relationships,
  (SELECT count(*) FROM interactions) AS interactions, (SELECT sum(version) FROM interactions) AS interaction_versions,
  (SELECT count(*) FROM invoices) AS invoices, (SELECT sum(version) FROM invoices) AS invoice_versions,
  (SELECT count(*) FROM invoice_items) AS invoice_items,
  (SELECT count(*) FROM appointments) AS appointments, (SELECT sum(version) FROM appointments) AS appointment_versions,
  (SELECT count(*) FROM appointments WHERE deleted_at IS NULL) AS appointments_left,
  (SELECT count(*) FROM messages) AS messages,
  (SELECT count(*) FROM messages WHERE state = 'scheduled') AS messages_scheduled`;

export type Change = Record<string, number>;

/** Throws where the two do not do the same; gives what one request changes. */
export async function requireSameWork(
  operation: Operation,
  world: World,
  client: pg.Client,
  [one, other]: [Server, Server],
): Promise<Change> {
  const seen: { json: unknown; change: Change }[] = [];
  for (const [i, server] of [one, other].entries()) {
    const before = await readLedger(client);
    const n = operation.kind === 'read' ? FIRST : FIRST + i;
    const json = await ask(server, operation, world, n);
    seen.push({ json, change: difference(before, await readLedger(client)) });
  }
  const [mine, theirs] = seen as [(typeof seen)[0], (typeof seen)[0]];
  const seenOf = ({ json }: (typeof seen)[0]) => (operation.kind === 'read' ? json : shapeOf(json));
  const place =
    firstDifference(seenOf(mine), seenOf(theirs), 'answer') ?? firstDifference(mine.change, theirs.change, 'changes');
  if (place) throw new Error(`${operation.name}: ${one.name} and ${other.name} differ. ${place}`);
  return mine.change;
}

async function ask(server: Server, operation: Operation, world: World, n: number): Promise<unknown> {
  const { method, path, token, body } = operation.request(world, n);
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

/** Which keys there are, and of what type their values; of a list, that of its entries. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object') return typeof value;
  const keys = Object.keys(value).filter((key) => !IDENTIFIER.test(key));
  return Object.fromEntries(keys.map((key) => [key, shapeOf(value[key as keyof typeof value])]));
}

/** Where identifiers are keys, those of two cases differ. */
const IDENTIFIER = /^[0-9a-f]{8}-/;

/** Where two values differ first, and how. */
export function firstDifference(one: unknown, other: unknown, place: string): string | undefined {
  if (isDeepStrictEqual(one, other)) return undefined;
  if (isObject(one) && isObject(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const found = firstDifference(one[key], other[key], `${place}.${key}`);
      if (found) return found;
    }
  }
  return `${place}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

async function readLedger(client: pg.Client): Promise<Record<string, string>> {
  return (await client.query<Record<string, string>>(LEDGER)).rows[0] ?? {};
}

function difference(before: Record<string, string>, after: Record<string, string>): Change {
  const changes = Object.keys(before).map((key) => [key, Number(after[key]) - Number(before[key])] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}
