import { type GivenChange, ONE } from '../sql/batch-statement.ts';
import { jsonObject } from '../sql/statement.ts';
import { type AuditLog, type AuditLogOptions, baseAuditLog } from './audit-log.ts';

/** Gives what stands in FROM for the rows of a table. */
export type RowSource = (table: string) => string;

/** The condition that all parts meet. */
export const EVERY_PART = 'true';
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
export type RowAuditLog<Verb extends string = string> = AuditLog<Verb> & {
  /** The rows of the record that is there under its alias. */
  snapshot: string;
  /**
   * Parts of a statement: the record under its alias as it was written, and `e`, the entry. $1 company, $2 case, $3 id.
   * Nothing is written where the record is not as it has to be, or where another change came between: it is written onto
   * the version that was seen when the statement began, which every change moves on, so that what the log keeps is exact,
   * and so are the parts of the record that the rest of the statement sees. Whoever has locked the record can do without,
   * and writes `kept` by itself.
   */
  auditedUpdate(change: Change<Verb>): string;
};

type Part = {
  /** SQL: whether the row is a part of the record. Both are aliases. */
  isPart: (row: string, record: string) => string;
  /** SQL: how many of them a record has. */
  count?: (record: string) => string;
};

/** An entry keeps all parts of a kind up to this many; of more it keeps those that its change touched. */
export const MAX_WHOLE_PARTS = 50;
/**
 * Now and then an entry keeps all parts however many they are, so that an entry that left them out can be completed by
 * reading fewer further entries than it has parts. On average a change then copies 16 parts at most.
 */
const MIN_WHOLE_INTERVAL = 64;
const PARTS_PER_COPY = 16;

/**
 * The log of a record that belongs to a case. `parts` are the tables with further rows of the record. `wholeEntry` is the
 * database function that completes an entry which keeps only what was touched; it goes with counted parts.
 */
export function rowAuditLog<const Verb extends string>(
  options: AuditLogOptions<Verb> & {
    parts?: Record<string, Part>;
    wholeEntry?: string;
    image: (rows: RowSource) => string;
  },
): RowAuditLog<Verb> {
  const { table, as, parts = {}, wholeEntry, image } = options;
  const key = { company: `${as}.company_id`, case: `${as}.case_id`, id: `${as}.id` };
  const rowsOf = (name: string, condition?: string) =>
    `ARRAY(SELECT part FROM ${name} part WHERE ${parts[name]?.isPart('part', as)}${condition ? ` AND ${condition}` : ''})`;
  const names = Object.keys(parts);
  const wholeOf = (row: string) =>
    jsonObject({ [table]: row, ...Object.fromEntries(names.map((name) => [name, rowsOf(name)])) });
  /** Stands beside the record as it was seen: how many parts it has. OFFSET 0 keeps it from being worked out again. */
  const counted = `CROSS JOIN LATERAL (SELECT ${names.map((name) => `${parts[name]?.count?.('seen')} AS ${name}`).join(', ')} OFFSET 0) counted`;
  /** SQL: whether an entry keeps all parts of this kind. If all of them are changed, there is nothing to leave out. */
  const isWhole = (name: string, touched: Touched) => {
    if (touched[name]?.changed === EVERY_PART) return 'true';
    const interval = `greatest(${MIN_WHOLE_INTERVAL}, counted.${name} / ${PARTS_PER_COPY})`;
    return `(counted.${name} <= ${MAX_WHOLE_PARTS} OR seen.version % ${interval} = 0)`;
  };
  const keptOf = (touched: Touched) => {
    const kept = names.map((name) => [name, `CASE WHEN ${isWhole(name, touched)} THEN ${rowsOf(name)} END`]);
    return wholeEntry === undefined ? wholeOf('seen') : jsonObject({ [table]: 'seen', ...Object.fromEntries(kept) });
  };
  const touchedOf = (touched: Touched) => {
    const left = names.filter((name) => isWhole(name, touched) !== 'true');
    const fields = left.map((name) => {
      const { changed, added } = touched[name] ?? {};
      const rows = jsonObject({ ...(changed && { changed: rowsOf(name, changed) }), ...(added && { added }) });
      return [name, `CASE WHEN NOT ${isWhole(name, touched)} THEN ${rows} END`];
    });
    const allWhole = left.map((name) => isWhole(name, touched)).join(' AND ');
    return `CASE WHEN NOT (${allWhole}) THEN json_strip_nulls(${jsonObject(Object.fromEntries(fields))}) END`;
  };
  const imageRowsOf = (touched: Touched) => {
    const before = names.map((name) => `counted.${name}`).join(' + ');
    const added = Object.values(touched).flatMap(({ added }) => (added ? [` + cardinality(${added})`] : []));
    return `CASE WHEN ${before}${added.join('')} > ${MAX_WHOLE_PARTS} THEN 2 * (${before})${added.join('')} END`;
  };
  const kept = wholeOf(as);
  const log = baseAuditLog(options, key, kept, 'was');
  const isIt = (row: string) => `${row}.company_id = $1 AND ${row}.case_id = $2 AND ${row}.id = $3`;
  const wasOf = (entry: string) =>
    wholeEntry === undefined
      ? `${entry}.was`
      : `CASE WHEN ${entry}.touched IS NULL THEN ${entry}.was
              ELSE ${wholeEntry}(e.company_id, e.case_id, e.record_id, ${entry}.position, ${entry}.was, ${entry}.touched) END`;
  return {
    ...log,
    snapshot: kept,
    // Taken apart once: of a large one each look takes milliseconds.
    renderSnapshot: (entry) => `(
      SELECT ${image((part) => `json_populate_recordset(NULL::${part}, kept.${part})`)}
        FROM json_to_record(${wasOf(entry)}) AS kept (${[table, ...Object.keys(parts)].map((name) => `${name} json`).join(', ')}),
             json_populate_record(NULL::${table}, kept.${table}) ${as})`,
    auditedUpdate: ({
      verb,
      set,
      where = 'true',
      returning = `${as}.*`,
      touched = {},
      read,
      at,
      origin,
      given = ONE,
    }) => {
      const partial = wholeEntry !== undefined;
      // The parts are found by what no change of the record changes.
      const [beside, onto, seen, before] = read
        ? ['', read.version, '', `${read.was}::json`]
        : [`${table} seen ${partial ? counted : ''}`, 'seen.version', ` AND ${isIt('seen')}`, `${as}.was`];
      const from = [given.from, beside].filter((source) => source !== '').join(', ');
      const changed = `${set ? `${set}, ` : ''}updated_at = ${at}, version = ${as}.version + 1`;
      const was = read ? '' : `, ${keptOf(touched)} AS was`;
      const rows = partial ? `, ${touchedOf(touched)} AS touched, ${imageRowsOf(touched)} AS image_rows` : '';
      const further = partial ? { touched: `${as}.touched`, imageRows: `${as}.image_rows` } : {};
      return `${as} AS (
        UPDATE ${table} ${as} SET ${given.here(changed)} ${from && `FROM ${from}`}
         WHERE ${given.here(`${isIt(as)}${seen} AND ${as}.version = ${onto} AND ${where}`)}
        RETURNING ${returning}${given.here(was + rows)}${given.carried}
      ), e AS (
        ${given.behind(log.entry(verb, { from: as, at, origin, before, ...further }))}
      )`;
    },
  };
}
