import { read, write } from '../../../kernel/sql/statement.ts';
import { amountsOfChanges, amountsOfInvoices, eventsAfter, MAX_EVENTS, REBUILD_INTERVAL } from './changes.sql.ts';

/** Returns the companies with changes that their kept sums do not count, and those whose sums must be built. */
export const findOutdated = read('invoice_sums.find_outdated', {
  inputs: { watermark: 'bigint', now: 'timestamptz' },
  sql: (input) => {
    const isOld = `p.built_at < ${input.now} - ${REBUILD_INTERVAL}`;
    return `
    SELECT c.id AS company_id, p.position::text,
           p.position IS NULL OR ${isOld} OR e.count > ${MAX_EVENTS} AS must_build
      FROM companies c LEFT JOIN invoice_sums_progress p ON p.company_id = c.id
     CROSS JOIN LATERAL (
       SELECT count(*) FROM (SELECT FROM events e
         WHERE e.company_id = p.company_id AND e.position > p.position AND e.position <= ${input.watermark}
         LIMIT ${MAX_EVENTS + 1}) e) e
     WHERE c.removal_started_at IS NULL
       AND (p.position IS NULL OR ${isOld} OR e.count > 0)`;
  },
});

/** Adds amounts to the sums of their day and month. */
const addAmounts = (companyId: string, amounts: string) => `
    INSERT INTO invoice_sums AS s (company_id, unit, start, status, count, outstanding)
    SELECT ${companyId}, u.unit, date_trunc(u.unit, a.date_due AT TIME ZONE 'UTC')::date, a.status, sum(a.count),
           sum(a.outstanding)
      FROM (${amounts}) a CROSS JOIN (VALUES ('month'), ('day')) u (unit)
     GROUP BY 2, 3, 4 HAVING sum(a.count) <> 0 OR sum(a.outstanding) <> 0
        ON CONFLICT (company_id, unit, start, status) DO UPDATE
           SET count = s.count + excluded.count, outstanding = s.outstanding + excluded.outstanding`;

/** SQL: what the invoices were at the watermark, less what they are now, for those that have changed since. */
const undoneAfter = (companyId: string, watermark: string) => `
      SELECT c.date_due, c.status, -c.count, -c.outstanding
        FROM (${amountsOfChanges(companyId, `(SELECT * FROM later WHERE position > ${watermark})`)}) c`;

/** Has the sums count the events up to the watermark, unless another worker has moved their position meanwhile. */
export const followEvents = write('invoice_sums.follow_events', {
  inputs: { company_id: 'uuid', position: 'bigint', watermark: 'bigint' },
  sql: (input) => `
    WITH moved AS (
      UPDATE invoice_sums_progress SET position = ${input.watermark}
       WHERE company_id = ${input.company_id} AND position = ${input.position} RETURNING company_id
    ), later AS MATERIALIZED (${eventsAfter(input.company_id, input.position)}
    )${addAmounts(
      input.company_id,
      `
      SELECT a.* FROM moved CROSS JOIN (
      ${amountsOfChanges(input.company_id, 'later')}
       UNION ALL ${undoneAfter(input.company_id, input.watermark)}) a`,
    )}`,
});

/** No other worker can change the sums until the transaction ends. Returns no row if the company is being removed. */
export const beginBuilding = write('invoice_sums.begin_building', {
  inputs: { company_id: 'uuid', watermark: 'bigint', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO invoice_sums_progress (company_id, position, built_at)
    SELECT c.id, ${input.watermark}, ${input.now} FROM companies c
     WHERE c.id = ${input.company_id} AND c.removal_started_at IS NULL
        ON CONFLICT (company_id) DO UPDATE SET position = excluded.position, built_at = excluded.built_at
    RETURNING true AS begun`,
});

export const deleteSums = write('invoice_sums.delete', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `DELETE FROM invoice_sums WHERE company_id = ${input.company_id}`,
});

export const build = write('invoice_sums.build', {
  inputs: { company_id: 'uuid', watermark: 'bigint' },
  sql: (input) => `
    WITH later AS MATERIALIZED (${eventsAfter(input.company_id, input.watermark)}
    )${addAmounts(
      input.company_id,
      `${amountsOfInvoices(input.company_id)}
       UNION ALL ${undoneAfter(input.company_id, input.watermark)}`,
    )}`,
});
