import type { Inputs } from '../sql/inputs.ts';
import { isoTime } from '../sql/json.ts';
import { read, write } from '../sql/statement.ts';

/**
 * Jobs of a restored database or of an imported company that may have been done already. A held job has a lease that
 * never ends, so that no worker claims it, not even one of an earlier release.
 */
export const HELD_UNTIL = `'9999-01-01 00:00:00+00'::timestamptz`;

/** Stored as the last error of a dropped job. It also tells a dropped meeting from one that failed, so it stays as it is. */
export const DROPPED = 'Dropped by an operator after a restore or an import: it may have been done before.';

/** SQL: whether the job is not held. For statements that end the back-off of a job. */
export const isNotHeld = (alias: string) => `(${alias}.lease_until IS NULL OR ${alias}.lease_until < ${HELD_UNTIL})`;

export const isHeld = (alias: string) => `${alias}.lease_until >= ${HELD_UNTIL}`;

type HeldTable = {
  /** What a person calls these jobs. */
  kind: string;
  table: string;
  /** The columns of the primary key. */
  key: readonly string[];
  /** The table of the companies. */
  tenantTable: string;
  /** SQL condition of the rows `j` that wait for work. */
  open: string;
  /** SQL: what the row `j` is about, for a person. */
  description: string;
  /** SQL: when the job `j` was due; by default its column. */
  due?: string;
  /** SQL for SET: what changes in the row `j` that workers can claim again, besides its lease. */
  released?: string;
};

/** `company_id` is null for all companies. */
export const COMPANY_INPUTS = { company_id: 'uuid?' } as const satisfies Inputs;

/** One statement over all held jobs would reach the time limit of statements. */
export const BATCH_INPUTS = { ...COMPANY_INPUTS, batch_size: 'int' } as const satisfies Inputs;
type BatchInput = Record<keyof typeof BATCH_INPUTS, string>;

/** What a company has that is only partly imported, or partly removed, stays held. */
export const ofCompany = (alias: string, input: { company_id: string }, tenantTable: string) =>
  `(${input.company_id} IS NULL OR ${alias}.company_id = ${input.company_id})
         AND NOT EXISTS (SELECT FROM ${tenantTable} i WHERE i.id = ${alias}.company_id AND i.removal_started_at IS NOT NULL)`;

type BatchTable = Pick<HeldTable, 'table' | 'key' | 'tenantTable' | 'open'>;

/** SQL: the keys of at most `batch_size` rows `j`, which are locked. The index of open jobs begins with the company. */
const lockBatch = (
  { table, key, tenantTable }: BatchTable,
  input: { batch_size: string },
  { companies, condition }: { companies: string; condition: string },
) => `
      SELECT j.* FROM ${tenantTable} c CROSS JOIN LATERAL (
        SELECT ${key.map((column) => `j.${column}`).join(', ')} FROM ${table} j
         WHERE j.company_id = c.id AND ${condition} LIMIT ${input.batch_size} FOR NO KEY UPDATE) j
       WHERE ${companies} LIMIT ${input.batch_size}`;

/** SQL: the keys of a batch of held jobs `j`, which are locked. */
export const lockHeldBatch = (table: BatchTable, input: BatchInput) =>
  lockBatch(table, input, {
    companies: `c.removal_started_at IS NULL AND (${input.company_id} IS NULL OR c.id = ${input.company_id})`,
    condition: `${table.open} AND ${isHeld('j')}`,
  });

/** SQL: whether `a` and `b` are the same row. */
export const isSameJob = (key: readonly string[], a: string, b: string) =>
  key.map((column) => `${a}.${column} = ${b}.${column}`).join(' AND ');

export function heldStatements(held: HeldTable) {
  const { kind, table, key, tenantTable, open, description, due = 'j.due_at', released } = held;
  return {
    /** Holds a batch of the jobs that were due by then. */
    hold: write(`${table}.hold`, {
      inputs: { due_until: 'timestamptz', batch_size: 'int' },
      sql: (input) => `
    WITH batch AS MATERIALIZED (${lockBatch(held, input, {
      companies: 'true',
      condition: `${open} AND ${due} <= ${input.due_until} AND ${isNotHeld('j')}`,
    })}
    ), held AS (
      UPDATE ${table} j SET lease_by = NULL, lease_until = ${HELD_UNTIL} FROM batch b WHERE ${isSameJob(key, 'j', 'b')}
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM held`,
    }),
    list: read(`${table}.held`, {
      inputs: { ...COMPANY_INPUTS, limit: 'int' },
      pool: 'search',
      sql: (input) => `
    SELECT '${kind}' AS kind, c.name AS company, ${isoTime(due)} AS due_at, ${description} AS job,
           (count(*) OVER ())::int AS total
      FROM ${table} j JOIN ${tenantTable} c ON c.id = j.company_id
     WHERE ${open} AND ${isHeld('j')} AND ${ofCompany('j', input, tenantTable)} ORDER BY ${due} LIMIT ${input.limit}`,
    }),
    /** Releases a batch. */
    release: write(`${table}.release_held`, {
      inputs: BATCH_INPUTS,
      sql: (input) => `
    WITH batch AS MATERIALIZED (${lockHeldBatch(held, input)}
    ), released AS (
      UPDATE ${table} j SET ${released ? `${released}, ` : ''}lease_until = NULL FROM batch b WHERE ${isSameJob(key, 'j', 'b')}
      RETURNING 1
    )
    SELECT count(*)::int AS count FROM released`,
    }),
  };
}
