import { type AuditLog, NIL_CASE_ID } from '../kernel/audit/audit-log.ts';
import type { InputValues } from '../kernel/sql/inputs.ts';
import { isoTime, jsonObject } from '../kernel/sql/json.ts';
import { read, write } from '../kernel/sql/statement.ts';

/** May take as long as `max_wait`, so it has the pool of searches. The position is null if a writer is still open. */
export const findWatermark = read('events.watermark', {
  inputs: { max_wait: 'interval' },
  pool: 'search',
  sql: (input) => `
    SELECT settled_events(${input.max_wait})::text AS position,
           (SELECT last_value FROM event_positions)::text AS last_issued,
           EXISTS (SELECT FROM restores) AS is_restored`,
});

/** The transactions that settled_events waits for. */
export const openWriters = read('events.open_writers', {
  inputs: {},
  pool: 'search',
  sql: () => `
    SELECT l.virtualtransaction AS transaction FROM pg_locks l
     WHERE l.locktype = 'relation' AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
});

/** Returns the position of the company's last event up to the bound, or 0. */
export const findLastPosition = read('events.find_last_position', {
  inputs: { company_id: 'uuid', bound: 'bigint' },
  sql: (input) => `
    SELECT coalesce(max(position), 0)::text AS position FROM events
     WHERE company_id = ${input.company_id} AND position <= ${input.bound}`,
});

export const findEvent = read('events.find', {
  inputs: { company_id: 'uuid', position: 'bigint' },
  sql: (input) => `
    SELECT true AS found FROM events WHERE company_id = ${input.company_id} AND position = ${input.position}`,
});

// A page of rare types could scan the whole log, so a statement scans no more events than this.
export const MAX_SCANNED_EVENTS = 10_000;
// An invoice may have thousands of items, so a page ends after this many stored bytes of snapshots.
const MAX_SNAPSHOT_BYTES = 2_000_000;
const ESTIMATED_ROW_BYTES = 500;

/** `after` and `bound` are positions; `types` is null for all types. */
const LIST_INPUTS = {
  company_id: 'uuid',
  after: 'bigint',
  bound: 'bigint',
  limit: 'int',
  types: 'text[]?',
} as const;

export type EventPageInputs = InputValues<typeof LIST_INPUTS>;

export function eventStatements(auditLogs: readonly AuditLog[]) {
  const projection = eventProjection(auditLogs);
  const listSql = (
    input: Record<keyof typeof LIST_INPUTS, string>,
    filter: string,
    { order = 'e.position', isNewestFirst = false } = {},
  ) => {
    const [after, direction, last] = isNewestFirst ? ['<', ' DESC', 'min'] : ['>', '', 'max'];
    return `
    WITH scanned AS MATERIALIZED (
      SELECT e.position, e.type FROM events e
       WHERE e.company_id = ${input.company_id} AND e.position ${after} ${input.after} AND e.position <= ${input.bound}
         AND ${filter}
       ORDER BY ${order}${direction} LIMIT CASE WHEN ${input.types} IS NULL THEN ${input.limit} ELSE ${MAX_SCANNED_EVENTS} END
    ), matching AS (
      SELECT s.position FROM scanned s WHERE ${input.types} IS NULL OR s.type = ANY (${input.types})
       ORDER BY s.position${direction} LIMIT ${input.limit}
    ), sized AS MATERIALIZED (
      SELECT m.position, sum(w.bytes) OVER (ORDER BY m.position${direction}) - w.bytes AS bytes_before
        FROM matching m JOIN events e ON e.company_id = ${input.company_id} AND e.position = m.position
       CROSS JOIN LATERAL (
         SELECT coalesce(e.image_rows * ${ESTIMATED_ROW_BYTES}, 0) + coalesce(pg_column_size(e.was), 0)
                + coalesce(pg_column_size(e.before), 0) AS bytes) w
    )
    SELECT s.*, e.position::text, ${projection.json}::text AS json
      FROM (SELECT ${last}(s.position)::text AS last_scanned, count(*)::int AS scanned, (SELECT count(*)::int FROM sized) AS matching
              FROM scanned s) s
      LEFT JOIN (sized m JOIN events e ON e.company_id = ${input.company_id} AND e.position = m.position
                 ${projection.joins})
        ON m.bytes_before < ${MAX_SNAPSHOT_BYTES}
     ORDER BY e.position${direction}`;
  };
  return {
    ofCompany: read('events.of_company', {
      inputs: LIST_INPUTS,
      pool: 'search',
      sql: (input) => listSql(input, 'true'),
    }),
    ofCompanyNewestFirst: read('events.of_company_newest_first', {
      inputs: LIST_INPUTS,
      pool: 'search',
      sql: (input) => listSql(input, 'true', { isNewestFirst: true }),
    }),
    ofCase: read('events.of_case', {
      inputs: { ...LIST_INPUTS, case_id: 'uuid' },
      pool: 'search',
      // By a generic plan the planner read the events of the company in order until enough were of the case, for a second.
      sql: (input) => listSql(input, `e.case_id = ${input.case_id}`, { order: 'e.position + 0' }),
    }),
    /** The type of the record is checked, because a caller who may read one type may not read every other. */
    ofRecord: read('events.of_record', {
      inputs: { ...LIST_INPUTS, id: 'uuid', case_id: 'uuid', record_type: 'text' },
      pool: 'search',
      sql: (input) =>
        listSql(
          input,
          `e.record_id = ${input.id} AND e.case_id = ${input.case_id}
           AND split_part(e.type, '.', 1) = ${input.record_type}`,
        ),
    }),
    one: read('events.one', {
      inputs: { company_id: 'uuid', position: 'bigint' },
      sql: (input) => `
        SELECT ${projection.json}::text AS json FROM events e ${projection.joins}
         WHERE e.company_id = ${input.company_id} AND e.position = ${input.position}`,
    }),
  };
}

/**
 * The state after an event is the snapshot of the record's next event, or the record as it is now. Both snapshots are
 * rendered by one expression: every execution costs time for each part of the statement's text.
 */
function eventProjection(auditLogs: readonly AuditLog[]) {
  const byRecord = (expressionOf: (log: AuditLog) => string | undefined) => {
    const cases = auditLogs.flatMap((log) => {
      const expression = expressionOf(log);
      return expression === undefined ? [] : [`WHEN '${log.record}' THEN ${expression}`];
    });
    return `CASE split_part(e.type, '.', 1) ${cases.join('\n        ')} END`;
  };
  const currentImage = byRecord(({ renderSnapshot, current }) => (renderSnapshot ? undefined : `(${current})`));
  const currentRows = byRecord(({ renderSnapshot, current }) => (renderSnapshot ? `(${current})` : undefined));
  const renderedRows = byRecord(({ renderSnapshot }) => renderSnapshot?.('w'));
  const joins = `
    LEFT JOIN LATERAL (
      SELECT n.before, n.was, n.position, n.touched FROM events n
       WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id
         AND n.position > e.position
       ORDER BY n.position LIMIT 1) n ON true
    CROSS JOIN LATERAL (
      SELECT CASE WHEN n.position IS NOT NULL THEN n.before ELSE ${currentImage} END AS before,
             CASE WHEN n.position IS NOT NULL THEN n.was ELSE ${currentRows} END AS was OFFSET 0) t
    CROSS JOIN LATERAL (
      SELECT s.images[1] AS before, s.images[2] AS after
        FROM (SELECT ARRAY(
          SELECT CASE WHEN w.was IS NULL THEN w.before ELSE ${renderedRows} END
            FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                   AS w (place, before, was, position, touched) ORDER BY w.place) AS images
          OFFSET 0) s OFFSET 0) a`;
  const changed = `CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
      SELECT coalesce(x.key, y.key)
        FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
       WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END`;
  return {
    joins,
    json: jsonObject({
      type: 'e.type',
      at: isoTime('e.at'),
      actor: `e.origin -> 'actor'`,
      request_id: `e.origin ->> 'request_id'`,
      case_id: `nullif(e.case_id, '${NIL_CASE_ID}')`,
      record: jsonObject({ type: `split_part(e.type, '.', 1)`, id: 'e.record_id' }),
      changed,
      before: 'a.before',
      after: 'a.after',
    }),
  };
}

/** Returns a row if the record exists, even if it is deleted. */
export const existsStatement = ({ record, exists }: AuditLog) =>
  read(`history.find_${record}`, {
    inputs: { company_id: 'uuid', id: 'uuid', case_id: 'uuid' },
    sql: (input) => exists(input),
  });

export const findCase = read('events.find_case', {
  inputs: { company_id: 'uuid', case_id: 'uuid' },
  sql: (input) => `SELECT 1 FROM cases WHERE company_id = ${input.company_id} AND id = ${input.case_id}`,
});

/** Begins the next partition of the log if the present one is full. Fails if the log is in use for longer than a moment. */
export const closeFullPartition = write('events.close_full_partition', {
  inputs: {},
  sql: () => 'SELECT close_full_event_partition() AS done',
});

/** Removes the first partitions if the retention of all their events is over. Fails as `closeFullPartition` does. */
export const dropOldPartitions = write('events.drop_old_partitions', {
  inputs: {},
  sql: () => 'SELECT drop_old_event_partitions() AS done',
});

/** Deletes at most `max` events whose retention is over, unless their partition is removed soon. */
export const purgeEvents = write('events.purge', {
  inputs: { max: 'int' },
  sql: (input) => `SELECT forget_events(${input.max})::int AS deleted`,
});
