import { read, write } from '../../../kernel/sql/statement.ts';
import {
  amountsOfChanges,
  amountsOfInvoices,
  areTooMany,
  eventsAfter,
  isUsable,
  MAX_EVENTS_BEHIND,
} from './changes.sql.ts';

/**
 * Changes by hand in the database have no events. The sums count them when they are built anew, within a day. Companies take
 * turns, so that those which were built together are not built together again.
 */
const isOld = (builtAt: string, companyId: string, now: string) =>
  `${builtAt} < ${now} - interval '18 hours' - (hashtext(${companyId}::text) & 1023) * interval '20 seconds'`;

/** Returns the companies with changes that their kept sums do not count, and those whose sums must be built. */
export const findOutdated = read('invoice_sums.find_outdated', {
  inputs: { watermark: 'bigint', now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `
    SELECT c.id AS company_id, p.position::text,
           p.position IS NULL OR b.is_old OR ${areTooMany(`(SELECT e.bytes FROM (${eventsAfter('c.id', 'p.position')} LIMIT ${MAX_EVENTS_BEHIND + 1}) e
              WHERE e.position <= ${input.watermark})`)} AS must_build
      FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
     CROSS JOIN LATERAL (
       SELECT ${isOld('p.built_at', 'c.id', input.now)} OR NOT ${isUsable('p.built_at', input.now)} AS is_old) b
     WHERE c.removal_started_at IS NULL
       AND (p.position IS NULL OR b.is_old
            OR EXISTS (SELECT FROM events e WHERE e.company_id = c.id AND e.position > p.position
                          AND e.position <= ${input.watermark}))
     ORDER BY p.position`,
});

/** SQL: a watermark that was read before a crash may be of positions that the log issues again. */
const isIssued = (watermark: string) => `${watermark} <= (SELECT last_value FROM event_positions)`;

/** Adds amounts to the sums of their day and month. */
const addAmounts = (companyId: string, amounts: string) => `
    INSERT INTO invoice_sums AS s (company_id, unit, start, status, count, outstanding)
    SELECT ${companyId}, u.unit, date_trunc(u.unit, a.date_due AT TIME ZONE 'UTC')::date, a.status, sum(a.count),
           sum(a.outstanding)
      FROM (${amounts}) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
     GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
        ON CONFLICT (company_id, unit, start, status) DO UPDATE
           SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding`;

/** SQL: the statement also sees what changed after the watermark, so that is taken back. */
const takenBack = (companyId: string, watermark: string) => `
      SELECT c.date_due, c.status, -c.count, -c.outstanding
        FROM (${amountsOfChanges(companyId, 'recent_events', `e.position > ${watermark}`)}) c`;

/**
 * Has the sums count the events up to the watermark, unless another worker has moved their position or is about to. It waits for
 * nobody: what a transaction of the event log waits for, all readers of the log wait for.
 */
export const followEvents = write('invoice_sums.follow_events', {
  inputs: { company_id: 'uuid', position: 'bigint', watermark: 'bigint' },
  sql: (input) => `
    WITH free AS MATERIALIZED (
      SELECT company_id FROM invoice_sums_progress
       WHERE company_id = ${input.company_id} AND position = ${input.position} AND ${isIssued(input.watermark)}
         FOR NO KEY UPDATE SKIP LOCKED
    ), moved AS (
      UPDATE invoice_sums_progress p SET position = ${input.watermark} FROM free WHERE p.company_id = free.company_id
      RETURNING p.company_id
    ), recent_events AS MATERIALIZED (${eventsAfter(input.company_id, input.position)}
    )${addAmounts(
      input.company_id,
      `
      SELECT a.* FROM (
      ${amountsOfChanges(input.company_id, 'recent_events')}
       UNION ALL ${takenBack(input.company_id, input.watermark)}) a WHERE EXISTS (SELECT FROM moved)`,
    )}`,
});

/**
 * Locks the progress of a company until the transaction ends, so no other worker changes the sums. Returns no row if the company
 * is being removed, if another worker has moved the position, or if the watermark is far behind, as during an import.
 */
export const beginBuilding = write('invoice_sums.begin_building', {
  inputs: { company_id: 'uuid', position: 'bigint?', watermark: 'bigint', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO invoice_sums_progress AS p (company_id, position, built_at)
    SELECT c.id, ${input.watermark}, ${input.now} FROM companies c
     WHERE c.id = ${input.company_id} AND c.removal_started_at IS NULL AND ${isIssued(input.watermark)}
       AND NOT ${areTooMany(`(${eventsAfter(input.company_id, input.watermark)} LIMIT ${MAX_EVENTS_BEHIND + 1})`)}
        ON CONFLICT (company_id) DO UPDATE SET position = excluded.position, built_at = excluded.built_at
     WHERE p.position = ${input.position}
    RETURNING true AS begun`,
});

export const deleteSums = write('invoice_sums.delete', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `DELETE FROM invoice_sums WHERE company_id = ${input.company_id}`,
});

/** Counts the invoices as they were at the watermark, which is the same in every later snapshot. */
export const build = write('invoice_sums.build', {
  inputs: { company_id: 'uuid', watermark: 'bigint' },
  sql: (input) => `
    WITH recent_events AS MATERIALIZED (${eventsAfter(input.company_id, input.watermark)}
    )${addAmounts(
      input.company_id,
      `${amountsOfInvoices(input.company_id)}
       UNION ALL ${takenBack(input.company_id, input.watermark)}`,
    )}`,
});

export const companiesToBuild = read('invoice_sums.companies_to_build', {
  inputs: { now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `
    SELECT count(*)::int AS value FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
     WHERE c.removal_started_at IS NULL AND ${isUsable('p.built_at', input.now)} IS NOT TRUE`,
});
