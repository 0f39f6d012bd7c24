import type { Inputs } from '../sql/inputs.ts';
import { isoTime } from '../sql/json.ts';
import { read, write } from '../sql/statement.ts';

/**
 * Jobs of a restored database or of an imported company that may have been done already. A held job has a lease that
 * never ends, so that no worker claims it, not even one of an earlier release.
 */
export const HELD_UNTIL = `'9999-01-01 00:00:00+00'::timestamptz`;

/** SQL: whether the job is not held. For statements that end the back-off of a job. */
export const isNotHeld = (alias: string) => `(${alias}.lease_until IS NULL OR ${alias}.lease_until < ${HELD_UNTIL})`;

export const isHeld = (alias: string) => `${alias}.lease_until >= ${HELD_UNTIL}`;

type HeldTable = {
  /** What a person calls these jobs. */
  kind: string;
  table: string;
  /** The table of the companies. */
  tenantTable: string;
  /** SQL condition of the rows `j` that wait for work. */
  open: string;
  /** SQL: what the row `j` is about, for a person. */
  description: string;
  /** SQL: when the job `j` was due; by default its column. */
  due?: string;
};

/** `company_id` is null for all companies. */
export const COMPANY_INPUTS = { company_id: 'uuid?' } as const satisfies Inputs;

/** What a company has that is only partly imported, or partly removed, stays held. */
export const ofCompany = (alias: string, input: { company_id: string }, tenantTable: string) =>
  `(${input.company_id} IS NULL OR ${alias}.company_id = ${input.company_id})
         AND NOT EXISTS (SELECT FROM ${tenantTable} i WHERE i.id = ${alias}.company_id AND i.removal_started_at IS NOT NULL)`;

export const heldStatements = ({ kind, table, tenantTable, open, description, due = 'j.due_at' }: HeldTable) => ({
  /** Holds the jobs that were due by then. */
  hold: write(`${table}.hold`, {
    inputs: { due_until: 'timestamptz' },
    sql: (input) => `
    WITH held AS (
      UPDATE ${table} j SET lease_by = NULL, lease_until = ${HELD_UNTIL}
       WHERE ${open} AND ${due} <= ${input.due_until} AND ${isNotHeld('j')} RETURNING 1
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
  release: write(`${table}.release_held`, {
    inputs: COMPANY_INPUTS,
    sql: (input) => `
    WITH released AS (
      UPDATE ${table} j SET lease_until = NULL WHERE ${open} AND ${isHeld('j')} AND ${ofCompany('j', input, tenantTable)} RETURNING 1
    )
    SELECT count(*)::int AS count FROM released`,
  }),
});
