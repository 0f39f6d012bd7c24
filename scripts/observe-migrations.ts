import type pg from 'pg';
import { type Effect, LOCKS, type Work } from '../src/kernel/schema/migration-effects.ts';
import { isConcurrent, type Migration, separateStatements } from '../src/kernel/schema/migrations.ts';

/**
 * Applies migrations to an empty database and notes what each does to tables that were there before it: the locks that
 * its transaction holds at the end, and what it reads or writes of them. Locks do not depend on the rows of a table.
 */
export async function observeMigrations(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<Record<string, Effect[]>> {
  const effects: Record<string, Effect[]> = {};
  for (const { name, sql } of migrations) {
    const statements = separateStatements(sql);
    if (statements) {
      const before = await readTables(client);
      const observed = await Array.fromAsync(statements, (statement) => observeStatement(client, statement));
      effects[name] = merge(observed.flat().filter(({ table }) => before.has(table)));
    } else effects[name] = await observeTransaction(client, sql);
  }
  return effects;
}

async function observeTransaction(client: pg.Client, sql: string): Promise<Effect[]> {
  const before = await readState(client);
  await client.query('BEGIN');
  await client.query(sql);
  const effects = await effectsOf(client, before);
  await client.query('COMMIT');
  return effects;
}

/** A statement with CONCURRENTLY refuses a transaction. Its lock is the same for each. */
async function observeStatement(client: pg.Client, sql: string): Promise<Effect[]> {
  if (!isConcurrent(sql)) return observeTransaction(client, sql);
  const before = await readState(client);
  await client.query(sql);
  const { rows } = await client.query(`SELECT i.oid, i.relation::regclass::text AS table FROM (${INDEXES}) AS i`);
  return rows
    .filter(({ oid }) => !before.indexes.has(oid))
    .map(({ table }) => ({ table, lock: 'SHARE UPDATE EXCLUSIVE', work: ['index'] }));
}

/** Statements outside of a transaction take their locks one after the other, so each lock is a line of its own. */
function merge(effects: Effect[]): Effect[] {
  const merged = new Map<string, Effect>();
  for (const effect of effects) {
    const key = `${effect.table} ${effect.lock}`;
    const work = [...new Set([...(merged.get(key)?.work ?? []), ...effect.work])].sort();
    merged.set(key, { ...effect, work });
  }
  return [...merged.values()].sort((a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : 0));
}

const readTables = async (client: pg.Client): Promise<Set<string>> =>
  new Set(
    (await client.query(`SELECT oid::regclass::text AS name FROM (${TABLES}) AS t`)).rows.map(({ name }) => name),
  );

type State = {
  /** The file of each table, by its number: a rewritten table has another one. */
  files: Map<number, number>;
  indexes: Set<number>;
  constraints: Set<number>;
  /** Columns that may be null. Only if one of them becomes required, its values are checked. */
  optional: Set<string>;
};

const TABLES = `SELECT oid, relfilenode AS file FROM pg_class WHERE relkind IN ('r', 'p') AND oid >= 16384`;
const INDEXES = 'SELECT indexrelid AS oid, indrelid AS relation FROM pg_index WHERE indexrelid >= 16384';
const CONSTRAINTS = `SELECT oid, conrelid AS relation FROM pg_constraint WHERE contype IN ('c', 'f') AND convalidated AND conrelid <> 0`;
const COLUMNS = (
  isRequired: boolean,
) => `SELECT attrelid || '.' || attnum AS oid, attrelid AS relation FROM pg_attribute
  WHERE attrelid >= 16384 AND attnum > 0 AND attnotnull = ${isRequired}
    -- What a rule proves is not checked again.
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = attrelid AND k.contype = 'c' AND k.convalidated
                       AND pg_get_constraintdef(k.oid) = format('CHECK ((%I IS NOT NULL))', attname))`;

async function readState(client: pg.Client): Promise<State> {
  const set = async (sql: string) => new Set((await client.query(sql)).rows.map(({ oid }) => oid));
  const { rows } = await client.query(TABLES);
  return {
    files: new Map(rows.map(({ oid, file }) => [oid, file])),
    indexes: await set(INDEXES),
    constraints: await set(CONSTRAINTS),
    optional: await set(COLUMNS(false)),
  };
}

async function effectsOf(client: pg.Client, before: State): Promise<Effect[]> {
  const works = new Map<number, Set<Work>>();
  const add = (relation: number, work: Work) => works.set(relation, (works.get(relation) ?? new Set()).add(work));
  const addNew = async (sql: string, known: Set<unknown>, work: Work) => {
    for (const { oid, relation } of (await client.query(sql)).rows) if (!known.has(oid)) add(relation, work);
  };
  for (const { oid, file } of (await client.query(TABLES)).rows)
    if (before.files.get(oid) !== file) add(oid, 'rewrite');
  await addNew(INDEXES, before.indexes, 'index');
  await addNew(CONSTRAINTS, before.constraints, 'check');
  for (const { oid, relation } of (await client.query(COLUMNS(true))).rows) {
    if (before.optional.has(oid)) add(relation, 'check');
  }
  const { rows: locks } = await client.query(
    `SELECT c.oid, coalesce(pg_partition_root(c.oid)::regclass, c.oid::regclass)::text AS table, l.mode
       FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
      WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relkind IN ('r', 'p') AND c.oid >= 16384`,
  );
  const effects = new Map<string, { lock: number; works: Set<Work> }>();
  for (const { oid, table, mode } of locks) {
    const lock = LOCKS.findIndex(({ mode: known }) => known === mode);
    if (!before.files.has(oid) || lock < 0) continue;
    if (mode === 'RowExclusiveLock') add(oid, 'rows');
    const effect = effects.get(table) ?? { lock, works: new Set() };
    effects.set(table, { lock: Math.max(lock, effect.lock), works: effect.works.union(works.get(oid) ?? new Set()) });
  }
  return [...effects]
    .map(([table, { lock, works }]) => ({ table, lock: LOCKS[lock]?.name ?? '', work: [...works].sort() }))
    .sort((a, b) => (a.table < b.table ? -1 : 1));
}
