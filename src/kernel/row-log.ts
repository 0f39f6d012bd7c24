import { type LogOptions, logOf, type RecordLog } from './record-log.ts';
import { type GivenChange, ONE } from './several.ts';

/** Gives what stands in FROM for the rows of a table. */
export type RowsOf = (table: string) => string;

/** The columns of the record go by its alias: beside it stands what was seen, as `seen`. `was` is what the log keeps. */
type Change<Verb extends string> = {
  verb: Verb;
  /** Beside `updated_at` and `version`. */
  set?: string;
  /** Of the record as it is, by its alias. */
  where?: string;
  /** What the rest of the statement needs of the record as it was written; by default all of it. */
  returning?: string;
  at: string;
  origin: string;
  /** Where the record was read before: the version that it had, and what was read, as `kept` gives it. */
  read?: { version: string; was: string };
  given?: GivenChange;
};

/** Keeps the rows of the record as they are: nothing in them is hidden from whoever may see the record. */
export type RowLog<Verb extends string = string> = RecordLog<Verb> & {
  /** The rows of the record that is there under its alias. */
  kept: string;
  /**
   * Parts of a statement: the record under its alias as it was written, and `e`, the entry. $1 company, $2 case, $3 id.
   * Nothing is written where the record is not as it has to be, or where another change came between: it is written onto
   * the version that was seen when the statement began, which every change moves on, so that what the log keeps is exact,
   * and so are the parts of the record that the rest of the statement sees. Whoever has locked the record can do without,
   * and writes `kept` by itself.
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
  const further = Object.entries(parts)
    .map(([part, isPart]) => `, '${part}', ARRAY(SELECT part FROM ${part} part WHERE ${isPart('part')})`)
    .join('');
  const keptOf = (row: string) => `json_build_object('${table}', ${row}${further})`;
  const kept = keptOf(as);
  const log = logOf(options, key, kept, 'was');
  const isIt = (row: string) => `${row}.company_id = $1 AND ${row}.case_id = $2 AND ${row}.id = $3`;
  return {
    ...log,
    kept,
    // Taken apart once: of a large one each look takes milliseconds.
    shown: (entry) => `(
      SELECT ${image((part) => `json_populate_recordset(NULL::${part}, kept.${part})`)}
        FROM json_to_record(${entry}.was) AS kept (${[table, ...Object.keys(parts)].map((name) => `${name} json`).join(', ')}),
             json_populate_record(NULL::${table}, kept.${table}) ${as})`,
    change: ({ verb, set, where = 'true', returning = `${as}.*`, read, at, origin, given = ONE }) => {
      // The parts are found by what no change of the record changes.
      const [beside, onto, seen, before] = read
        ? ['', read.version, '', `${read.was}::json`]
        : [`${table} seen`, 'seen.version', ` AND ${isIt('seen')}`, `${as}.was`];
      const from = [given.from, beside].filter((source) => source !== '').join(', ');
      const changed = `${set ? `${set}, ` : ''}updated_at = ${at}, version = ${as}.version + 1`;
      return `${as} AS (
        UPDATE ${table} ${as} SET ${given.here(changed)} ${from && `FROM ${from}`}
         WHERE ${given.here(`${isIt(as)}${seen} AND ${as}.version = ${onto} AND ${where}`)}
        RETURNING ${returning}${read ? '' : `, ${keptOf('seen')} AS was`}${given.carried}
      ), e AS (
        ${given.behind(log.entry(verb, { from: as, at, origin, before }))}
      )`;
    },
  };
}
