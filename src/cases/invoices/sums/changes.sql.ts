import { hasOutstanding, openStatuses, status } from '../projection.sql.ts';

/**
 * Older sums are not used. The event log keeps events for 30 days at least, so it has all that came after the position of
 * sums that are used. After an error of the clock sums may be of the future.
 */
export const isUsable = (builtAt: string, now: string): string =>
  `${builtAt} BETWEEN ${now} - interval '2 days' AND ${now} + interval '1 hour'`;

/** Kept sums that are further behind cost more to correct than the invoices cost to read. */
export const MAX_EVENTS_BEHIND = 1_000;
/** As stored. The row of an invoice is read out of a snapshot that may have thousands of items. */
const MAX_SNAPSHOT_BYTES = 2_000_000;

/** SQL: the events of a company after a position, in their order. */
export const eventsAfter = (companyId: string, position: string): string => `
      SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN pg_column_size(e.was) END AS bytes
        FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
       WHERE e.company_id = ${companyId} AND e.position > ${position} ORDER BY e.position`;

/** SQL: whether these events, of which there is one more than the bound, cost too much to add to the sums. */
export const areTooMany = (events: string): string =>
  `(SELECT count(*) > ${MAX_EVENTS_BEHIND} OR coalesce(sum(bytes), 0) > ${MAX_SNAPSHOT_BYTES} FROM ${events} e)`;

/** The columns of an amount: `date_due`, `status`, `count`, which may be negative, and `outstanding`. */
const amountColumns = (sign: number) =>
  `v.date_due, ${status} AS status, ${sign} AS count, ${sign} * (v.total - v.paid) AS outstanding`;
const isOpen = `${status} IN (${openStatuses}) AND ${hasOutstanding}`;

/** SQL: the open invoices as amounts. */
export const amountsOfInvoices = (companyId: string): string => `
      SELECT ${amountColumns(1)} FROM invoices v WHERE v.company_id = ${companyId} AND ${isOpen}`;

/**
 * SQL: what each invoice that has events among these is now, less what it was before the first of them. A change locks the
 * invoice before its event has a position, and both are committed together. So events have the row as it was, those of one
 * invoice are in the order of its changes, and this is exactly what has changed since, in the snapshot of the statement.
 */
export function amountsOfChanges(companyId: string, events: string, condition = 'true'): string {
  const firsts = `(SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.position FROM ${events} e
                WHERE e.is_of_invoice AND ${condition} ORDER BY e.case_id, e.record_id, e.position) f`;
  // OFFSET 0: only the snapshots of the first events and the invoices that they name are read. A join would read all open
  // invoices once the log is long, because the planner expects a third of it after the position.
  return `
      SELECT ${amountColumns(1)} FROM ${firsts}
       CROSS JOIN LATERAL (
               SELECT * FROM invoices v
                WHERE v.company_id = ${companyId} AND v.case_id = f.case_id AND v.id = f.record_id OFFSET 0) v
       WHERE ${isOpen}
       UNION ALL
      SELECT ${amountColumns(-1)} FROM ${firsts} CROSS JOIN LATERAL (
               SELECT r.* FROM events e CROSS JOIN json_populate_record(NULL::invoices, e.was->'invoices') r
                WHERE e.company_id = ${companyId} AND e.case_id = f.case_id AND e.record_id = f.record_id
                  AND e.position = f.position OFFSET 0) v
       WHERE v.id IS NOT NULL AND ${isOpen}`;
}
