import type { InputNames } from '../sql/inputs.ts';
import { jsonObject } from '../sql/json.ts';
import { read, type Statement, write } from '../sql/statement.ts';

type IdValues = { company_id: string; external_id: string };
type KeyValues = { company_id: string; case_id: string; id: string };

/** The external ids of one kind of record. */
export type ExternalIds = {
  /** What a record is called, such as "invoice". */
  noun: string;
  table: string;
  /** The unique index. */
  constraint: string;
  /** Returns the record that has the external id, in whichever case it is. */
  find: Statement<IdValues>;
  /** Locks that record until the end of the transaction. */
  lock: Statement<IdValues>;
  /** Returns no row if the record does not exist. */
  exists: Statement<KeyValues>;
  /** Returns no row if the record does not exist or a concurrent update won. An id in use violates the constraint. */
  set: Statement<KeyValues & { external_id: string | null; now: string; origin: string }>;
};

/** The part of an insert that sets the external id. */
export const EXTERNAL_ID_INPUT = { external_id: 'text' } as const;
/** SQL: inserts no row if another record has the external id, even if that was inserted concurrently. */
export const unlessTaken = '\n      ON CONFLICT DO NOTHING';

const KEY_INPUTS = { company_id: 'uuid', case_id: 'uuid', id: 'uuid' } as const;
const SET_INPUTS = { ...KEY_INPUTS, external_id: 'text?', now: 'timestamptz', origin: 'json' } as const;

type Options = {
  noun: string;
  table: string;
  /** The alias of the table in the other properties. */
  as: string;
  /** SQL: whether the record exists for callers. One that is deleted does not hold its external id. */
  where?: string;
  /** Whether the records belong to cases; by default they do. */
  inCase?: boolean;
  /** SQL: table expressions that make the assignment, `as` with the column `nth`, and write the event. */
  update: (assignment: string, input: InputNames<typeof SET_INPUTS>) => string;
};

export function externalIds({ noun, table, as, where = 'true', inCase = true, update }: Options): ExternalIds {
  // Both conditions of the unique index.
  const byExternalId = (input: IdValues) =>
    `FROM ${table} ${as} WHERE ${as}.company_id = ${input.company_id} AND ${as}.external_id = ${input.external_id}
        AND ${where}`;
  const inputs = { company_id: 'uuid', external_id: 'text' } as const;
  return {
    noun,
    table,
    constraint: `${table}_external_id`,
    find: read(`${table}.find_by_external_id`, {
      inputs,
      sql: (input) => `SELECT ${as}.id, ${inCase ? `${as}.case_id` : 'NULL'} AS case_id ${byExternalId(input)}`,
    }),
    lock: write(`${table}.lock_by_external_id`, {
      inputs,
      sql: (input) => `SELECT 1 ${byExternalId(input)} FOR NO KEY UPDATE`,
    }),
    exists: read(`${table}.is_present`, {
      inputs: KEY_INPUTS,
      sql: (input) => `
        SELECT 1 FROM ${table} ${as} WHERE ${as}.company_id = ${input.company_id} AND ${as}.id = ${input.id}
           AND ${inCase ? `${as}.case_id` : `${as}.id`} = ${input.case_id} AND ${where}`,
    }),
    set: write(`${table}.set_external_id`, {
      inputs: SET_INPUTS,
      fromInput: (input, inputTable) => `WITH ${inputTable}, ${update(`external_id = ${input.external_id}`, input)}`,
      answer: () => ({
        json: `${jsonObject({ id: `${as}.id`, external_id: `${as}.external_id` })}::text`,
        from: as,
      }),
    }),
  };
}
