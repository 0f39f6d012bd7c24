import { isoTime, jsonObjectText, jsonRaw, jsonUnescaped, wallTime } from '../../../kernel/sql/json.ts';
import { read } from '../../../kernel/sql/statement.ts';
import { branchPerValue, companyFields, companyLists, isExternalId } from '../../company-list.sql.ts';
import {
  elementFields,
  INVOICE_BYTES,
  ITEM_BYTES,
  itemCount,
  lateralItems,
  lateralStatus,
  outstanding,
  sentFields,
  status,
} from '../projection.sql.ts';

/** The statuses of invoices that can still be paid, unless nothing is outstanding: a total may be zero or negative. */
export const OPEN_STATUSES = ['Not Paid', 'Part Paid'] as const;
const hasOutstanding = 'v.total > v.paid';
const mayOwe = (onlyOutstanding: string) => `(NOT ${onlyOutstanding} OR ${hasOutstanding})`;
const openStatuses = OPEN_STATUSES.map((word) => `'${word}'`).join(', ');

/** `today` is the start of the day in the company's zone. */
const isOverdue = (today: string) => `(${status} IN (${openStatuses}) AND ${hasOutstanding} AND v.date_due < ${today})`;

const ofStatuses = ({ statuses }: { statuses: string }) =>
  branchPerValue(statuses, 4, (value) => `${status} = ${value}`);

export const companyInvoices = companyLists('invoices', {
  table: 'invoices',
  alias: 'v',
  inputs: {
    zone: 'text',
    statuses: 'text[]',
    due_from: 'timestamptz',
    due_to: 'timestamptz',
    external_id: 'text?',
    only_outstanding: 'boolean',
    today: 'timestamptz',
    show_items: 'boolean',
    show_cancelled_items: 'boolean',
  },
  listed: 'true',
  walks: {
    date_due: { key: 'v.date_due', keyType: 'timestamptz', branches: ofStatuses },
    date_created: { key: 'v.date_created', keyType: 'timestamptz', branches: ofStatuses },
    external_id: {
      key: 'v.date_due',
      keyType: 'timestamptz',
      branches: ({ external_id }) => [`v.external_id = ${external_id}`],
    },
  },
  matches: ({ statuses, due_from, due_to, external_id, only_outstanding }) =>
    `${isExternalId('v', external_id)} AND ${mayOwe(only_outstanding)} AND ${status} = ANY (${statuses}) AND v.date_due >= ${due_from} AND v.date_due < ${due_to}`,
  joins: ({ show_items, show_cancelled_items }) =>
    `CROSS JOIN ${lateralStatus} CROSS JOIN ${lateralItems(show_cancelled_items, show_items)}`,
  element: (input) =>
    jsonObjectText({
      ...elementFields(wallTime('v.date_created', input.zone)),
      ...sentFields,
      date_created_utc: jsonUnescaped(isoTime('v.date_created')),
      paid: jsonRaw('v.paid'),
      outstanding: jsonRaw(outstanding),
      overdue: jsonRaw(isOverdue(input.today)),
      ...companyFields('v', input),
    }),
  bytes: ({ show_items }) =>
    `${INVOICE_BYTES} + CASE WHEN ${show_items} THEN ${ITEM_BYTES} * ${itemCount('v')} ELSE 0 END`,
});

/** Returns a row for the overdue invoices and one for the others. Reads only an index, and in it the open invoices. */
export const sumOpenInvoices = read('invoices.sums_of_company', {
  inputs: {
    company_id: 'uuid',
    statuses: 'text[]',
    due_from: 'timestamptz',
    due_to: 'timestamptz',
    today: 'timestamptz',
  },
  pool: 'search',
  sql: (input) => `
    SELECT v.date_due < ${input.today} AS overdue, count(*)::int AS count,
           sum(v.total - v.paid)::text AS outstanding
      FROM invoices v
     WHERE v.company_id = ${input.company_id} AND ${status} = ANY (${input.statuses}) AND ${hasOutstanding}
       AND v.date_due >= ${input.due_from} AND v.date_due < ${input.due_to}
     GROUP BY 1`,
});
