import { hasOutstanding, openStatuses, status } from '../projection.sql.ts';

/** Changes by hand in the database have no events. The sums count them when they are built anew. */
export const REBUILD_INTERVAL = `interval '1 day'`;
/**
 * Older sums are not used. The event log keeps events for 30 days at least, so it has all that came after the position of
 * sums that are used.
 */
export const MAX_AGE = `interval '2 days'`;

/** Kept sums that are further behind cost more to correct than the invoices cost to read. */
export const MAX_EVENTS = 1_000;

/** SQL: the events of a company after a position, in their order. */
export const eventsAfter = (companyId: string, position: string): string => `
      SELECT e.position, e.case_id, e.record_id, i.is_of_invoice, CASE WHEN i.is_of_invoice THEN e.was END AS was
        FROM events e CROSS JOIN LATERAL (SELECT e.type LIKE 'invoice.%' AS is_of_invoice) i
       WHERE e.company_id = ${companyId} AND e.position > ${position} ORDER BY e.position`;

/** The columns of an amount: `date_due`, `status`, `count`, which may be negative, and `outstanding`. */
const amount = (sign: number) =>
  `v.date_due, ${status} AS status, ${sign} AS count, ${sign} * (v.total - v.paid) AS outstanding`;
const isOpen = `${status} IN (${openStatuses}) AND ${hasOutstanding}`;

/** SQL: the open invoices as amounts. */
export const amountsOfInvoices = (companyId: string): string => `
      SELECT ${amount(1)} FROM invoices v WHERE v.company_id = ${companyId} AND ${isOpen}`;

/**
 * SQL: what each invoice that has events among these is now, less what it was before the first of them. Events have the
 * row as it was, and those of one invoice are in the order of its changes, so this is exactly what has changed since, in the
 * snapshot of the statement.
 */
export function amountsOfChanges(companyId: string, events: string): string {
  const sinceFirst = `(SELECT DISTINCT ON (e.case_id, e.record_id) e.case_id, e.record_id, e.was->'invoices' AS was
                FROM ${events} e WHERE e.is_of_invoice ORDER BY e.case_id, e.record_id, e.position) c`;
  return `
      SELECT ${amount(1)} FROM ${sinceFirst}
        JOIN invoices v ON v.company_id = ${companyId} AND v.case_id = c.case_id AND v.id = c.record_id
       WHERE ${isOpen}
       UNION ALL
      SELECT ${amount(-1)} FROM ${sinceFirst} CROSS JOIN json_populate_record(NULL::invoices, c.was) v
       WHERE c.was IS NOT NULL AND ${isOpen}`;
}
