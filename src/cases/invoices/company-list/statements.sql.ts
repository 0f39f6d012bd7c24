import { isoTime, jsonObjectText, jsonRaw, jsonUnescaped, wallTime } from '../../../kernel/sql/json.ts';
import { branchPerValue, companyFields, companyLists, isExternalId } from '../../company-list.sql.ts';
import {
  elementFields,
  hasOutstanding,
  INVOICE_BYTES,
  ITEM_BYTES,
  itemCount,
  lateralItems,
  lateralStatus,
  openStatuses,
  outstanding,
  sentFields,
  status,
} from '../projection.sql.ts';

const mayOwe = (onlyOutstanding: string) => `(NOT ${onlyOutstanding} OR ${hasOutstanding})`;

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
