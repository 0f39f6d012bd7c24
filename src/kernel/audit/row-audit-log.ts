import { sameKey } from '../sql/input-table.ts';
import { jsonObject } from '../sql/json.ts';
import { type AuditLog, type AuditLogOptions, baseAuditLog } from './audit-log.ts';

/** Returns what follows FROM for the rows of a table. */
export type RowSource = (table: string) => string;

/** The condition that all rows of a part meet. */
export const ALL_ROWS = 'true';
/** By table, SQL: which rows are changed or removed (a condition on `part`), and the ids of those that are added. */
type TouchedRows = Record<string, { changed?: string; added?: string }>;

/** The columns of the record go by its alias; `seen` is the row when the statement began. */
type VersionedUpdate<Action extends string> = {
  action: Action;
  /** Assignments besides `updated_at` and `version`. */
  set?: string;
  /** A condition on the record as it is. */
  where?: string;
  /** The rows of parts that the update changes, removes or adds. The others of a large record are not copied. */
  touched?: TouchedRows;
  /** The columns of the record that the rest of the statement needs; all by default. */
  returning?: string;
  /** The record was read before: its version and its snapshot are inputs. */
  read?: { version: string; was: string };
};

/** Stores the rows of the record as they are: a caller who may read the record may see all of them. */
type RowAuditLog<Action extends string = string> = AuditLog<Action> & {
  /** SQL: the rows of the record under its alias. */
  snapshot: string;
  /**
   * SQL: two table expressions, the updated record under its alias, with the inputs `nth`, `now` and `origin`, and
   * `event`. The statement has the inputs company_id, case_id, id, now and origin in `input`.
   *
   * Updates nothing if `where` fails or the row's version changed since the statement began. Every change increments
   * the version, so the snapshot is exactly the previous state, and so are the parts that the statement reads.
   */
  update(update: VersionedUpdate<Action>): string;
};

type Part = {
  /** SQL: whether the row is a part of the record. Both are aliases. */
  isPart: (row: string, record: string) => string;
  /** SQL: how many rows a record has. */
  count?: (record: string) => string;
};

/** A snapshot holds all rows of a part up to this many; of more it holds those that the change touches. */
export const MAX_FULL_SNAPSHOT_ROWS = 50;
/**
 * Every so many versions a snapshot is full however large, so that a partial one can be completed by reading fewer later
 * events than it has rows. On average a change then copies at most 16 rows.
 */
const MIN_FULL_SNAPSHOT_INTERVAL = 64;
const ROWS_PER_FULL_SNAPSHOT_VERSION = 16;

type RowAuditLogOptions<Action extends string> = AuditLogOptions<Action> & {
  /** The tables with further rows of the record. */
  parts?: Record<string, Part>;
  /** The database function that completes a partial snapshot. The parts must be counted then. */
  completeSnapshot?: string;
  image: (rows: RowSource) => string;
};

/** The audit log of a record that belongs to a case. */
export function rowAuditLog<const Action extends string>(options: RowAuditLogOptions<Action>): RowAuditLog<Action> {
  const { table, as, parts = {}, completeSnapshot, image } = options;
  const tables = Object.keys(parts);
  const key = { company: `${as}.company_id`, case: `${as}.case_id`, id: `${as}.id` };
  const snapshots = completeSnapshot === undefined ? fullSnapshots(options) : partialSnapshots(options);
  const snapshot = fullSnapshots(options).snapshot(as);
  const log = baseAuditLog(options, key, snapshot, 'was');
  const completed = (event: string) =>
    completeSnapshot === undefined
      ? `${event}.was`
      : `CASE WHEN ${event}.touched IS NULL THEN ${event}.was
              ELSE ${completeSnapshot}(e.company_id, e.case_id, e.record_id, ${event}.position, ${event}.was, ${event}.touched) END`;
  return {
    ...log,
    snapshot,
    // The snapshot is parsed once: each access to a large one takes milliseconds.
    renderSnapshot: (event) => `(
      SELECT ${image((part) => `json_populate_recordset(NULL::${part}, snapshot.${part})`)}
        FROM json_to_record(${completed(event)}) AS snapshot (${[table, ...tables].map((name) => `${name} json`).join(', ')}),
             json_populate_record(NULL::${table}, snapshot.${table}) ${as})`,
    update: ({ action, set, where = 'true', returning = `${as}.*`, touched = {}, read }) => {
      const { source, columns, eventColumns } = snapshots.update(touched);
      const [from, version, was] = read
        ? ['input', read.version, `${read.was} AS was`]
        : [`input, ${source}`, 'seen.version', columns];
      const isSeen = read ? '' : `AND ${sameKey('seen', 'input')}`;
      return `${as} AS (
        UPDATE ${table} ${as} SET ${set ? `${set}, ` : ''}updated_at = input.now, version = ${as}.version + 1
          FROM ${from}
         WHERE ${sameKey(as, 'input')} ${isSeen} AND ${as}.version = ${version} AND ${where}
        RETURNING ${returning}, input.nth, input.now, input.origin, ${was}
      ), event AS (
        ${log.insertEvent(action, { from: as, at: `${as}.now`, origin: `${as}.origin`, before: `${as}.was`, ...eventColumns })}
      )`;
    },
  };
}

/** How an update takes a snapshot of `seen`. */
type Snapshots = {
  snapshot: (row: string) => string;
  update: (touched: TouchedRows) => {
    /** FROM: the record as it was seen, with what the columns need. */
    source: string;
    /** RETURNING: `was`, and for partial snapshots `touched` and `image_rows`. */
    columns: string;
    eventColumns: { touched?: string; imageRows?: string };
  };
};

const rowsOf = (table: string, part: Part, record: string, condition = 'true') =>
  `ARRAY(SELECT part FROM ${table} part WHERE ${part.isPart('part', record)}${condition === 'true' ? '' : ` AND ${condition}`})`;

function fullSnapshots({ table, as, parts = {} }: RowAuditLogOptions<string>): Snapshots {
  const rows = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, rowsOf(name, part, as)]));
  const snapshot = (row: string) => jsonObject({ [table]: row, ...rows });
  return {
    snapshot,
    update: () => ({ source: `${table} seen`, columns: `${snapshot('seen')} AS was`, eventColumns: {} }),
  };
}

function partialSnapshots(options: RowAuditLogOptions<string>): Snapshots {
  const { table, as, parts = {} } = options;
  const entries = Object.entries(parts);
  // OFFSET 0 keeps the planner from evaluating the counts again wherever they are used.
  const counted = `CROSS JOIN LATERAL (
    SELECT ${entries.map(([name, { count }]) => `${count?.('seen')} AS ${name}`).join(', ')} OFFSET 0) counted`;
  /** SQL: whether the snapshot holds all rows of the part. If all are changed, there is nothing to leave out. */
  const isFull = (name: string, touched: TouchedRows) => {
    if (touched[name]?.changed === ALL_ROWS) return 'true';
    const interval = `greatest(${MIN_FULL_SNAPSHOT_INTERVAL}, counted.${name} / ${ROWS_PER_FULL_SNAPSHOT_VERSION})`;
    return `(counted.${name} <= ${MAX_FULL_SNAPSHOT_ROWS} OR seen.version % ${interval} = 0)`;
  };
  const was = (touched: TouchedRows) =>
    jsonObject({
      [table]: 'seen',
      ...Object.fromEntries(
        entries.map(([name, part]) => [name, `CASE WHEN ${isFull(name, touched)} THEN ${rowsOf(name, part, as)} END`]),
      ),
    });
  const touchedRows = (touched: TouchedRows) => {
    const partial = entries.filter(([name]) => isFull(name, touched) !== 'true');
    const fields = partial.map(([name, part]) => {
      const { changed, added } = touched[name] ?? {};
      const rows = jsonObject({
        ...(changed && { changed: rowsOf(name, part, as, changed) }),
        ...(added && { added }),
      });
      return [name, `CASE WHEN NOT ${isFull(name, touched)} THEN ${rows} END`];
    });
    const allFull = partial.map(([name]) => isFull(name, touched)).join(' AND ');
    return `CASE WHEN NOT (${allFull}) THEN json_strip_nulls(${jsonObject(Object.fromEntries(fields))}) END`;
  };
  const imageRows = (touched: TouchedRows) => {
    const before = entries.map(([name]) => `counted.${name}`).join(' + ');
    const added = Object.values(touched).flatMap(({ added }) => (added ? [` + cardinality(${added})`] : []));
    return `CASE WHEN ${before}${added.join('')} > ${MAX_FULL_SNAPSHOT_ROWS} THEN 2 * (${before})${added.join('')} END`;
  };
  return {
    snapshot: fullSnapshots(options).snapshot,
    update: (touched) => ({
      source: `${table} seen ${counted}`,
      columns: `${was(touched)} AS was, ${touchedRows(touched)} AS touched, ${imageRows(touched)} AS image_rows`,
      eventColumns: { touched: `${as}.touched`, imageRows: `${as}.image_rows` },
    }),
  };
}
