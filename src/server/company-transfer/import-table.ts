import type pg from 'pg';
import { HELD_UNTIL } from '../../kernel/jobs/held-jobs.sql.ts';
import { TABLE_TRAITS } from '../company-tables.ts';
import { entryName, type TableEntry } from './manifest.ts';
import { companyColumn, lineOf, type TableColumns } from './table-columns.ts';
import { readLines } from './verify.ts';
import type { ZipReader } from './zip-reader.ts';

const BATCH_ROWS = 1_000;
const BATCH_CHARACTERS = 2_000_000;

export type TableTask = TableEntry & { columns: readonly string[]; target: TableColumns };

/** `insert`: without the circular references. `complete`: only these references. `compare`: changes nothing. */
export type Pass = 'insert' | 'complete' | 'compare';

/** `isPartial`: an earlier import, or this one, has stored a part of it. */
export class AnotherStateError extends Error {
  constructor(companyName: string, difference: string, isPartial: boolean) {
    super(
      isPartial
        ? `${companyName} is only partly imported, and what is there is not what the file has: ${difference}. Remove it ` +
            'with "company remove" and import again.'
        : `${companyName} exists here in another state than in the file: ${difference}. Nothing was changed. To replace ` +
            'it by the state of the file, remove it with "company remove" and import again.',
    );
  }
}

/** A difference between the file and the database, for AnotherStateError. */
export class Difference extends Error {}

type TableImport = {
  client: pg.Client;
  zip: ZipReader;
  companyId: string;
  /** No event of the file may have a position after it. */
  lastPosition: string;
  onRows: (count: number) => void;
};

const circularColumns = ({ table }: TableTask): readonly string[] =>
  (table !== 'companies' && TABLE_TRAITS[table]?.circular) || [];

export const isPruned = ({ table }: TableTask): boolean =>
  table !== 'companies' && TABLE_TRAITS[table]?.isPruned === true;

/** Returns how many rows of the file the database has afterwards. Can be repeated. */
export async function importTable(task: TableTask, pass: Pass, options: TableImport) {
  const { client, zip, companyId, lastPosition, onRows } = options;
  const statements = tableStatements(task);
  const isCircular = circularColumns(task).length > 0;
  let found = 0;
  for await (const lines of batches(readLines(zip, entryName(task.table)))) {
    const values = [`[${lines.join(',')}]`, companyId];
    let inserted = 0;
    if (pass === 'insert') {
      const [counts] = (await client.query<Counts>(statements.insert, [...values, lastPosition])).rows;
      if (counts?.is_foreign) throw new Error(`The file has a row of another company in ${entryName(task.table)}.`);
      if (counts?.is_beyond) throw new Error('The file has an event after the last position in its manifest.');
      inserted = counts?.inserted ?? 0;
    }
    if (pass === 'complete') await client.query(statements.complete, values);
    // Rows that were just inserted need no comparison. Those with circular references are compared when they have them.
    const isNew = pass === 'insert' && (inserted === lines.length || isCircular);
    found += isNew ? lines.length : await compareRows(lines, await client.query(statements.lines, values), task);
    onRows(lines.length);
  }
  return found;
}

type Counts = { inserted: number; is_foreign: boolean; is_beyond: boolean };

function compareRows(lines: readonly string[], stored: { rows: { line: string | null }[] }, task: TableTask): number {
  let found = 0;
  for (const [i, line] of lines.entries()) {
    const storedLine = stored.rows[i]?.line ?? null;
    // Old rows may have been deleted since the import, as they are every day.
    if (storedLine === null && isPruned(task)) continue;
    if (storedLine === null) throw new Difference(`a row of ${task.table} is missing`);
    if (storedLine !== line) throw new Difference(`a row of ${task.table} differs`);
    found += 1;
  }
  return found;
}

function tableStatements(task: TableTask) {
  const { table, columns, target } = task;
  const circular = circularColumns(task);
  const openJob = table === 'companies' ? undefined : TABLE_TRAITS[table]?.openJob;
  const rows = `json_populate_recordset(NULL::${table}, $1::json)`;
  const owner = companyColumn(table);
  const names = [...columns];
  const values = columns.map((column) => (circular.includes(column) ? `NULL` : `r.${column}`));
  for (const [column, source] of Object.entries((table !== 'companies' && TABLE_TRAITS[table]?.filled) || {})) {
    if (columns.includes(column)) continue;
    names.push(column);
    values.push(`r.${source}`);
  }
  if (openJob) {
    names.push('lease_until');
    values.push(`CASE WHEN ${openJob} THEN ${HELD_UNTIL} END`);
  }
  if (table === 'companies') {
    names.push('removal_started_at');
    values.push(`'infinity'`);
  }
  const sameRow = [...new Set([owner, ...target.primaryKey])]
    .map((column) => `t.${column} = r.${column}`)
    .join(' AND ');
  return {
    insert: `
      WITH r AS MATERIALIZED (SELECT * FROM ${rows}),
      f AS (SELECT EXISTS (SELECT FROM r WHERE ${owner} IS DISTINCT FROM $2) AS is_foreign,
                   EXISTS (SELECT FROM r WHERE ${table === 'events' ? 'position' : '0'} > $3::bigint) AS is_beyond),
      i AS (
        INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM r, f
         WHERE NOT f.is_foreign AND NOT f.is_beyond
        ON CONFLICT DO NOTHING RETURNING 1)
      SELECT (SELECT count(*)::int FROM i) AS inserted, f.is_foreign, f.is_beyond FROM f`,
    complete: `
      UPDATE ${table} t SET ${circular.map((column) => `${column} = r.${column}`).join(', ')}
        FROM ${rows} r WHERE ${sameRow} AND t.${owner} = $2 AND ${circular.map((column) => `t.${column} IS NULL`).join(' AND ')}`,
    lines: `
      SELECT CASE WHEN t.${owner} IS NOT NULL THEN ${lineOf('t', columns, WITH_SCOPES_OF_FILE)} END AS line
        FROM ROWS FROM (${rows}) WITH ORDINALITY r LEFT JOIN ${table} t ON ${sameRow} AND t.${owner} = $2
       ORDER BY r.ordinality`,
  };
}

/** A credential whose scope `operator` the import has left out is the one of the file. */
const WITH_SCOPES_OF_FILE = {
  scopes: `CASE WHEN t.scopes = array_remove(r.scopes, 'operator') THEN r.scopes ELSE t.scopes END`,
};

async function* batches(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for await (const line of lines) {
    batch.push(line);
    characters += line.length;
    if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
