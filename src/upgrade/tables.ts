import type pg from 'pg';
import { UpgradeError } from './upgrade-error.ts';

/** Tables and sequences, as the catalogue of a server lists them. */

export type Table = {
  /** With its schema, quoted. */
  name: string;
  /** Without generated columns: the new server computes them again. Quoted, separated by commas. */
  columns: string;
  bytes: number;
};

/** PostgreSQL's own schemas. */
const IS_OURS = `n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`;

/** Returns every table that has rows of its own, also partitions, the largest one first. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name,
            (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
            pg_total_relation_size(c.oid)::float8 AS bytes
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${IS_OURS} ORDER BY bytes DESC, name`,
  );
  return rows;
}

/**
 * Counts the rows of a table and adds up a hash of each, which does not depend on their order. Two servers with the
 * same rows have the same result.
 */
export async function checksumOf(client: pg.Client, { name, columns }: Table): Promise<string> {
  const { rows } = await client.query(
    `SELECT count(*) || ' rows, ' || coalesce(sum(('x' || left(h, 16))::bit(64)::bigint), 0) || ' '
              || coalesce(sum(('x' || right(h, 16))::bit(64)::bigint), 0) AS checksum
       FROM (SELECT md5(ROW(${columns})::text) AS h FROM ONLY ${name}) AS hashes`,
  );
  return rows[0].checksum;
}

/** Sets every sequence to the position of the other server. Returns how many there are. */
export async function copySequences(from: pg.Client, to: pg.Client): Promise<number> {
  const sequences = await listSequences(from);
  for (const { name } of sequences) {
    const { rows } = await from.query(`SELECT last_value::text AS value, is_called FROM ${name}`);
    await to.query('SELECT setval($1, $2, $3)', [name, rows[0].value, rows[0].is_called]);
    const { rows: copied } = await to.query(`SELECT last_value::text AS value, is_called FROM ${name}`);
    if (JSON.stringify(rows) !== JSON.stringify(copied)) throw new UpgradeError(`The sequence ${name} was not copied.`);
  }
  return sequences.length;
}

const listSequences = async (client: pg.Client): Promise<{ name: string }[]> =>
  (
    await client.query(
      `SELECT format('%I.%I', n.nspname, c.relname) AS name
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S' AND ${IS_OURS}`,
    )
  ).rows;
