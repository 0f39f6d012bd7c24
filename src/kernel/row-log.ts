import { type LogOptions, logOf, type RecordLog } from './record-log.ts';
import { type GivenChange, ONE } from './several.ts';
import { json } from './sql.ts';

/** Gives what stands in FROM for the rows of a table. */
export type RowsOf = (table: string) => string;

/** SQL: which rows are changed or removed (a condition on `part`), and the ids of those that are added (uuid[]). */
type Touched = Record<string, { changed?: string; added?: string }>;

/** The columns of the record go by its alias: beside it stands what was seen, as `seen`. `was` is what the log keeps. */
type Change<Verb extends string> = {
  verb: Verb;
  /** Beside `updated_at` and `version`. */
  set?: string;
  /** Of the record as it is, by its alias. */
  where?: string;
  /** Which parts of the record it changes, removes or adds, by their table. The rest of a large record is not copied. */
  touched?: Touched;
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

type Part = {
  /** SQL: whether the row is a part of the record. Both are aliases. */
  isPart: (row: string, record: string) => string;
  /** SQL: how many of them a record has. */
  count?: (record: string) => string;
};

/** An entry of a record with more parts than this keeps only those that its change touched. */
export const MAX_WHOLE_PARTS = 50;
/** So that no more entries than this are read to tell what one of them left out. */
const WHOLE_EVERY_VERSIONS = 1_000;

/**
 * The log of a record that belongs to a case. `parts` are the tables with further rows of the record. `wholeEntry` is the
 * database function that completes an entry which keeps only what was touched; it goes with counted parts.
 */
export function rowLog<const Verb extends string>(
  options: LogOptions<Verb> & {
    parts?: Record<string, Part>;
    wholeEntry?: string;
    image: (rows: RowsOf) => string;
  },
): RowLog<Verb> {
  const { table, as, parts = {}, wholeEntry, image } = options;
  const key = { company: `${as}.company_id`, case: `${as}.case_id`, id: `${as}.id` };
  const rowsOf = (name: string, condition?: string) =>
    `ARRAY(SELECT part FROM ${name} part WHERE ${parts[name]?.isPart('part', as)}${condition ? ` AND ${condition}` : ''})`;
  const wholeOf = (row: string) =>
    json({ [table]: row, ...Object.fromEntries(Object.keys(parts).map((name) => [name, rowsOf(name)])) });
  const touchedOf = (row: string, touched: Touched) => {
    const entries = Object.entries(touched);
    const changed = entries.flatMap(([name, { changed }]) => (changed ? [[name, rowsOf(name, changed)]] : []));
    const added = entries.flatMap(([name, { added }]) => (added ? [[name, added]] : []));
    return json({
      [table]: row,
      changed: json(Object.fromEntries(changed)),
      added: json(Object.fromEntries(added)),
    });
  };
  const countOf = (row: string) =>
    Object.values(parts)
      .flatMap(({ count }) => count?.(row) ?? [])
      .join(' + ');
  const keptOf = (row: string, touched: Touched) =>
    wholeEntry === undefined
      ? wholeOf(row)
      : `CASE WHEN ${countOf(row)} <= ${MAX_WHOLE_PARTS} OR ${row}.version % ${WHOLE_EVERY_VERSIONS} = 0
              THEN ${wholeOf(row)} ELSE ${touchedOf(row, touched)} END`;
  const imageRowsOf = (row: string, touched: Touched) => {
    const added = Object.values(touched).flatMap(({ added }) => (added ? [`cardinality(${added})`] : []));
    const after = [countOf(row), ...added].join(' + ');
    return `CASE WHEN ${after} > ${MAX_WHOLE_PARTS} THEN ${countOf(row)} + ${after} END`;
  };
  const kept = wholeOf(as);
  const log = logOf(options, key, kept, 'was');
  const isIt = (row: string) => `${row}.company_id = $1 AND ${row}.case_id = $2 AND ${row}.id = $3`;
  const wasOf = (entry: string) =>
    wholeEntry === undefined
      ? `${entry}.was`
      : `CASE WHEN ${entry}.image_rows IS NULL THEN ${entry}.was
              ELSE ${wholeEntry}(e.company_id, e.case_id, e.record_id, ${entry}.position) END`;
  return {
    ...log,
    kept,
    // Taken apart once: of a large one each look takes milliseconds.
    shown: (entry) => `(
      SELECT ${image((part) => `json_populate_recordset(NULL::${part}, kept.${part})`)}
        FROM json_to_record(${wasOf(entry)}) AS kept (${[table, ...Object.keys(parts)].map((name) => `${name} json`).join(', ')}),
             json_populate_record(NULL::${table}, kept.${table}) ${as})`,
    change: ({ verb, set, where = 'true', returning = `${as}.*`, touched = {}, read, at, origin, given = ONE }) => {
      // The parts are found by what no change of the record changes.
      const [beside, onto, seen, before] = read
        ? ['', read.version, '', `${read.was}::json`]
        : [`${table} seen`, 'seen.version', ` AND ${isIt('seen')}`, `${as}.was`];
      const from = [given.from, beside].filter((source) => source !== '').join(', ');
      const changed = `${set ? `${set}, ` : ''}updated_at = ${at}, version = ${as}.version + 1`;
      const was = read ? '' : `, ${keptOf('seen', touched)} AS was`;
      const rows = wholeEntry === undefined ? '' : `, ${imageRowsOf('seen', touched)} AS image_rows`;
      const imageRows = wholeEntry === undefined ? {} : { imageRows: `${as}.image_rows` };
      return `${as} AS (
        UPDATE ${table} ${as} SET ${given.here(changed)} ${from && `FROM ${from}`}
         WHERE ${given.here(`${isIt(as)}${seen} AND ${as}.version = ${onto} AND ${where}`)}
        RETURNING ${returning}${given.here(was + rows)}${given.carried}
      ), e AS (
        ${given.behind(log.entry(verb, { from: as, at, origin, before, ...imageRows }))}
      )`;
    },
  };
}
