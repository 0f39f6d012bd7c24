import { type AuditLog, NIL_CASE_ID } from '../kernel/audit/audit-log.ts';
import { isoTime, jsonObject, longStatement, type Statement, statement } from '../kernel/sql/statement.ts';

/** $1 for how long to wait. It may take that long, and others do not wait behind it. */
export const findWatermark = longStatement(
  'events.settled',
  `SELECT settled_events($1)::text AS settled, (SELECT last_value FROM event_positions)::text AS last`,
);

/** The transactions that settled_events waits for. */
export const openWriters = longStatement(
  'events.open_writers',
  `SELECT l.virtualtransaction AS transaction FROM pg_locks l
    WHERE l.locktype = 'relation' AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
);

/** $1 company, $2 up to which position. Returns the last event there is, or 0. */
export const lastEvent = statement(
  'events.last',
  'SELECT coalesce(max(position), 0)::text AS position FROM events WHERE company_id = $1 AND position <= $2',
);

// However rare the types that are asked for, a statement looks at no more.
const MAX_SCANNED_EVENTS = 10_000;
// And shows no more at once than this many bytes of what was kept, as they are stored: an invoice may have thousands of items.
const MAX_SNAPSHOT_BYTES = 2_000_000;
const ESTIMATED_ROW_BYTES = 500;

/** $1 company, $2 after, $3 up to (src/events/settled.ts), $4 limit, $5 types or null; then what else there is. */
export type EventStatements = {
  ofCompany: Statement;
  /** $6 case */
  ofCase: Statement;
  /** $6 id, $7 its case or `noCase`, $8 what kind of record: who may read the one may not read every other */
  ofRecord: Statement;
  /** $1 company, $2 position */
  one: Statement;
};

export function eventStatements(logs: readonly AuditLog[]): EventStatements {
  const shown = eventProjection(logs);
  const list = (name: string, which: string) =>
    longStatement(
      `events.${name}`,
      `WITH looked AS MATERIALIZED (
         SELECT e.position, e.type FROM events e
          WHERE e.company_id = $1 AND e.position > $2 AND e.position <= $3 AND ${which}
          ORDER BY e.position LIMIT CASE WHEN $5::text[] IS NULL THEN $4::int ELSE ${MAX_SCANNED_EVENTS} END
       ), chosen AS (
         SELECT l.position FROM looked l WHERE $5 IS NULL OR l.type = ANY ($5) ORDER BY l.position LIMIT $4
       ), weighed AS MATERIALIZED (
         SELECT c.position, sum(w.kept) OVER (ORDER BY c.position) - w.kept AS ahead
           FROM chosen c JOIN events e ON e.company_id = $1 AND e.position = c.position
          CROSS JOIN LATERAL (
            SELECT coalesce(e.image_rows * ${ESTIMATED_ROW_BYTES}, 0) + coalesce(pg_column_size(e.was), 0) + coalesce(pg_column_size(e.before), 0) AS kept) w
       )
       SELECT s.*, e.position::text, ${shown.json}::text AS json
         FROM (SELECT max(l.position)::text AS last, (SELECT count(*)::int FROM weighed) AS chosen
                 FROM looked l) s
         LEFT JOIN (weighed c JOIN events e ON e.company_id = $1 AND e.position = c.position ${shown.joins})
           ON c.ahead < ${MAX_SNAPSHOT_BYTES}
        ORDER BY e.position`,
    );
  return {
    ofCompany: list('of_company', 'true'),
    ofCase: list('of_case', 'e.case_id = $6'),
    ofRecord: list('of_record', `e.record_id = $6 AND e.case_id = $7 AND split_part(e.type, '.', 1) = $8`),
    one: statement(
      'events.one',
      `SELECT ${shown.json}::text AS json FROM events e ${shown.joins} WHERE e.company_id = $1 AND e.position = $2`,
    ),
  };
}

/**
 * What the record became is what it was before its next change, or what it is now. Both are shown by the same expression,
 * which stands here once: the server pays for the length of a statement, and for every part of it, with every execution.
 */
function eventProjection(logs: readonly AuditLog[]) {
  const byRecord = (which: (log: AuditLog) => string | undefined) => {
    const cases = logs.flatMap((log) => {
      const sql = which(log);
      return sql === undefined ? [] : [`WHEN '${log.record}' THEN ${sql}`];
    });
    return `CASE split_part(e.type, '.', 1) ${cases.join('\n')} END`;
  };
  const joins = `
    LEFT JOIN LATERAL (
      SELECT n.before, n.was, n.position, n.touched FROM events n
       WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id AND n.position > e.position
       ORDER BY n.position LIMIT 1) n ON true
    CROSS JOIN LATERAL (
      SELECT CASE WHEN n.position IS NOT NULL THEN n.before
                  ELSE ${byRecord(({ renderSnapshot: shown, current }) => (shown ? undefined : `(${current})`))} END AS before,
             CASE WHEN n.position IS NOT NULL THEN n.was
                  ELSE ${byRecord(({ renderSnapshot: shown, current }) => (shown ? `(${current})` : undefined))} END AS was OFFSET 0) t
    CROSS JOIN LATERAL (
      SELECT s.images[1] AS before, s.images[2] AS after
        FROM (SELECT ARRAY(
          SELECT CASE WHEN w.was IS NULL THEN w.before ELSE ${byRecord(({ renderSnapshot: shown }) => shown?.('w'))} END
            FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                   AS w (place, before, was, position, touched) ORDER BY w.place) AS images
          OFFSET 0) s OFFSET 0) a`;
  const changed = `CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key) FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
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

/** $1 company, $2 case */
export const findCase = statement('events.find_case', 'SELECT 1 FROM cases WHERE company_id = $1 AND id = $2');

/** $1 most. Gives how many were forgotten. */
export const purgeEvents = statement('events.forget', 'SELECT forget_events($1)::int AS forgotten');
