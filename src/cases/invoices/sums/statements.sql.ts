import { read } from '../../../kernel/sql/statement.ts';
import { hasOutstanding, status } from '../projection.sql.ts';
import { amountsOfChanges, areTooMany, eventsAfter, isUsable, MAX_EVENTS_BEHIND } from './changes.sql.ts';

const INPUTS = {
  company_id: 'uuid',
  statuses: 'text[]',
  due_from: 'timestamptz',
  due_to: 'timestamptz',
  today: 'timestamptz',
} as const;

/**
 * Returns a row for the overdue invoices and one for the others. Reads an index, and in it every open invoice, so it is asked only
 * if the kept sums cannot be used.
 */
export const sumOpenInvoices = read('invoices.sums_of_company', {
  inputs: INPUTS,
  pool: 'search',
  sql: (input) => `
    SELECT v.date_due < ${input.today} AS overdue, count(*)::int AS count,
           sum(v.total - v.paid)::text AS outstanding
      FROM invoices v
     WHERE v.company_id = ${input.company_id} AND ${status} = ANY (${input.statuses}) AND ${hasOutstanding}
       AND v.date_due >= ${input.due_from} AND v.date_due < ${input.due_to}
     GROUP BY 1`,
});

/** SQL: known before any of the branches is read. */
const isKept = 'EXISTS (SELECT FROM kept)';

/**
 * The same from the kept sums: whole months, whole days of the months that a bound divides, and the invoices of the days
 * that a bound divides. What has changed since the sums were kept is added. All of it is one snapshot, so it is exact.
 * `is_kept` is false if there are no kept sums, or if too much has changed since.
 *
 * OFFSET 0 keeps the bounds of the range out of the walks of the divided days. To the generic plan they looked so selective
 * that it read all open invoices and compared each with the day.
 */
export const sumFromKept = read('invoices.kept_sums_of_company', {
  inputs: { ...INPUTS, now: 'timestamptz' },
  // Planning for the values would look at each partition of the event log.
  pool: 'list',
  sql: (input) => `
    WITH progress AS MATERIALIZED (
      SELECT p.position FROM invoice_sums_progress p
       WHERE p.company_id = ${input.company_id} AND ${isUsable('p.built_at', input.now)}
    ), recent_events AS MATERIALIZED (
      ${eventsAfter(input.company_id, '(SELECT position FROM progress)')} LIMIT ${MAX_EVENTS_BEHIND + 1}
    ), kept AS MATERIALIZED (
      SELECT FROM progress WHERE NOT ${areTooMany('recent_events')}
    ), divided AS MATERIALIZED (
      SELECT DISTINCT u.unit, date_trunc(u.unit, b.bound AT TIME ZONE 'UTC')::date AS start
        FROM (VALUES (${input.due_from}), (${input.due_to}), (${input.today})) b (bound),
             (VALUES ('month'), ('day')) u (unit)
       WHERE isfinite(b.bound) AND b.bound <> date_trunc(u.unit, b.bound, 'UTC')
    ), amounts AS (
      SELECT s.start::timestamp AT TIME ZONE 'UTC' AS date_due, s.status, s.count, s.outstanding
        FROM invoice_sums s
       WHERE ${isKept} AND s.company_id = ${input.company_id} AND s.unit = 'month'
         AND s.start NOT IN (SELECT start FROM divided WHERE unit = 'month')
       UNION ALL
      SELECT s.start::timestamp AT TIME ZONE 'UTC', s.status, s.count, s.outstanding
        FROM divided m CROSS JOIN LATERAL (
               SELECT s.* FROM invoice_sums s
                WHERE s.company_id = ${input.company_id} AND s.unit = 'day'
                  AND s.start >= m.start AND s.start < m.start + interval '1 month' OFFSET 0) s
       WHERE ${isKept} AND m.unit = 'month' AND s.start NOT IN (SELECT start FROM divided WHERE unit = 'day')
       UNION ALL
      SELECT v.*
        FROM divided d CROSS JOIN LATERAL (
               SELECT v.date_due, ${status}, 1, v.total - v.paid FROM invoices v
                WHERE v.company_id = ${input.company_id} AND ${status} = ANY (${input.statuses}) AND ${hasOutstanding}
                  AND v.date_due >= d.start::timestamp AT TIME ZONE 'UTC'
                  AND v.date_due < (d.start + 1)::timestamp AT TIME ZONE 'UTC' OFFSET 0) v
       WHERE ${isKept} AND d.unit = 'day'
       UNION ALL
      SELECT c.* FROM (${amountsOfChanges(input.company_id, 'recent_events')}) c
       WHERE ${isKept} AND (c.date_due AT TIME ZONE 'UTC')::date NOT IN (SELECT start FROM divided WHERE unit = 'day')
    )
    SELECT ${isKept} AS is_kept, s.*
      FROM (SELECT) one LEFT JOIN (
             SELECT a.date_due < ${input.today} AS overdue, sum(a.count)::int AS count,
                    sum(a.outstanding)::text AS outstanding
               FROM amounts a
              WHERE a.status = ANY (${input.statuses}) AND a.date_due >= ${input.due_from} AND a.date_due < ${input.due_to}
              GROUP BY 1) s ON true`,
});
