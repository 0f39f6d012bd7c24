import { type LogOptions, logOf, type RecordLog } from './record-log.ts';

/** Gives what stands in FROM for the rows of a table. */
export type RowsOf = (table: string) => string;

type Change<Verb extends string> = {
  verb: Verb;
  /** Beside `updated_at` and `version`. */
  set?: string;
  /** Of the record as it is, by its alias. */
  where?: string;
  at: string;
  origin: string;
} & (
  | {
      /** What `where` needs beside the record. */
      join?: string;
      read?: undefined;
    }
  | {
      /** Where the record was read before: the version that it had, and what was read, as `kept` gives it. */
      read: { version: string; was: string };
      join?: undefined;
    }
);

/** Keeps the rows of the record as they are: nothing in them is hidden from whoever may see the record. */
export type RowLog<Verb extends string = string> = RecordLog<Verb> & {
  /** The rows of the record that is there under its alias. */
  kept: string;
  /**
   * Parts of a statement: `seen` where it was not read before, the record under its alias as it was written, and `e`, the
   * entry. $1 company, $2 case, $3 id. Nothing is written where the record is not as it has to be, or where another change
   * came between: it is written onto the version that was seen, which every change moves on, so that what the log keeps
   * is exact. Whoever has locked the record can do without, and writes `kept` by itself.
   */
  change(change: Change<Verb>): string;
};

/** Of what belongs to a case. `parts` are the tables with further rows of the record. */
export function rowLog<const Verb extends string>(
  options: LogOptions<Verb> & {
    parts?: Record<string, (part: string) => string>;
    image: (rows: RowsOf) => string;
  },
): RowLog<Verb> {
  const { table, as, parts = {}, image } = options;
  const key = { company: `${as}.company_id`, case: `${as}.case_id`, id: `${as}.id` };
  const further = Object.entries(parts).map(
    ([part, isPart]) => `, '${part}', ARRAY(SELECT part FROM ${part} part WHERE ${isPart('part')})`,
  );
  const kept = `json_build_object('${table}', ${as}${further.join('')})`;
  const log = logOf(options, key, kept, 'was');
  const isIt = `${key.company} = $1 AND ${key.case} = $2 AND ${key.id} = $3`;
  return {
    ...log,
    kept,
    // Taken apart once: of a large one each look takes milliseconds.
    shown: (entry) => `(
      SELECT ${image((part) => `json_populate_recordset(NULL::${part}, kept.${part})`)}
        FROM json_to_record(${entry}.was) AS kept (${[table, ...Object.keys(parts)].map((name) => `${name} json`).join(', ')}),
             json_populate_record(NULL::${table}, kept.${table}) ${as})`,
    change: ({ verb, set, where = 'true', join = '', read, at, origin }) => {
      const seen = `seen AS MATERIALIZED (
        SELECT ${as}.version, ${kept} AS was FROM ${table} ${as} ${join} WHERE ${isIt} AND ${where})`;
      const onto = read
        ? `WHERE ${isIt} AND ${as}.version = ${read.version} AND ${where}`
        : `FROM seen WHERE ${isIt} AND ${as}.version = seen.version`;
      const [from, before] = read ? [as, `${read.was}::json`] : [`${as}, seen`, 'seen.was'];
      return `${read ? '' : `${seen}, `}${as} AS (
        UPDATE ${table} ${as} SET ${set ? `${set}, ` : ''}updated_at = ${at}, version = ${as}.version + 1 ${onto}
        RETURNING ${as}.*
      ), e AS (
        ${log.entry(verb, { from, at, origin, before })}
      )`;
    },
  };
}
