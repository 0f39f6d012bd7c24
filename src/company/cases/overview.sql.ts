import { outstanding } from '../../cases/invoices/projection.sql.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read } from '../../kernel/sql/statement.ts';
import { recordFields } from './statements.sql.ts';

const inCase = (alias: string) => `${alias}.company_id = c.company_id AND ${alias}.case_id = c.id`;
const countOf = (table: string, condition = 'true') =>
  `(SELECT count(*) FROM ${table} x WHERE ${inCase('x')} AND ${condition})`;

const nextAppointment = (now: string) => `(
  SELECT ${jsonObject({
    id: 'a.id',
    start_time: isoTime('a.start_at'),
    end_time: isoTime('a.end_at'),
    adviser_email: 'a.adviser_email',
    location: 'a.location',
  })}
    FROM appointments a
   WHERE ${inCase('a')} AND a.deleted_at IS NULL AND a.cancelled = 0 AND a.start_at >= ${now}
   ORDER BY a.start_at, a.id LIMIT 1)`;

/** `today` is the start of the day in the company's zone. */
const balance = (today: string) => `(
  SELECT ${jsonObject({
    outstanding: 'coalesce(sum(o.amount), 0.00)',
    overdue: `coalesce(sum(o.amount) FILTER (WHERE o.date_due < ${today}), 0.00)`,
  })}
    FROM (SELECT ${outstanding} AS amount, v.date_due FROM invoices v WHERE ${inCase('v')}) o)`;

/** Parts that the caller may not read are null. Returns no row if the case does not exist. */
export const readOverview = read('cases.overview', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    now: 'timestamptz',
    today: 'timestamptz',
    address_book: 'boolean',
    interactions: 'boolean',
    invoices: 'boolean',
    appointments: 'boolean',
  },
  pool: 'list',
  sql: (input) => {
    const ifRead = (part: 'address_book' | 'interactions' | 'invoices' | 'appointments', sql: string) =>
      `CASE WHEN ${input[part]} THEN ${sql} END`;
    return `
    SELECT ${jsonObject({
      ...recordFields,
      counts: jsonObject({
        entries: ifRead('address_book', countOf('people', 'x.deleted_at IS NULL')),
        interactions: ifRead('interactions', countOf('interactions', 'x.deleted_at IS NULL')),
        invoices: ifRead('invoices', countOf('invoices')),
        appointments: ifRead('appointments', countOf('appointments', 'x.deleted_at IS NULL')),
      }),
      next_appointment: ifRead('appointments', nextAppointment(input.now)),
      balance: ifRead('invoices', balance(input.today)),
    })}::text AS json
      FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.id}`;
  },
});
