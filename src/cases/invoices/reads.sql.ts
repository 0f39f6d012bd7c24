import { sameKey } from '../../kernel/sql/input-table.ts';
import { read } from '../../kernel/sql/statement.ts';
import { caseLists } from '../list.sql.ts';
import {
  element,
  elementWithBalance,
  INVOICE_BYTES,
  ITEM_BYTES,
  isPartOf,
  itemCount,
  lateralItems,
  lateralStatus,
  version,
} from './projection.sql.ts';

export const invoiceLists = caseLists('invoices', {
  table: 'invoices',
  alias: 'v',
  joins: () => `CROSS JOIN ${lateralStatus}`,
  defaultFilter: 'true',
  elementInputs: { zone: 'text', show_cancelled_items: 'boolean' },
  filterInputs: { status: 'text?', due_from: 'timestamptz?', due_to: 'timestamptz?' },
  matches: (input) => `(${input.status} IS NULL OR s.status = ${input.status})
    AND (${input.due_from} IS NULL OR v.date_due >= ${input.due_from})
    AND (${input.due_to} IS NULL OR v.date_due < ${input.due_to})`,
  element: (input) => element(input.zone),
  large: {
    joins: (input) => `CROSS JOIN ${lateralItems(input.show_cancelled_items)}`,
    bytes: `(${INVOICE_BYTES} + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
      + ${ITEM_BYTES} * ${itemCount('v')})`,
  },
  order: 'v.date_created DESC, v.created_at DESC, v.id DESC',
  batch: true,
});

export const readInvoice = read('invoices.read', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', zone: 'text', show_cancelled_items: 'boolean' },
  sql: (input) => `
    SELECT ${version}, ${elementWithBalance(input.zone)}
      FROM invoices v, ${lateralStatus}, ${lateralItems(input.show_cancelled_items)}
     WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id} AND v.id = ${input.id}`,
});

/** SQL: the version that `readInvoice` would show for the key in `input`. */
export const currentVersion = `(SELECT ${version} FROM invoices v WHERE ${sameKey('v', 'input')})`;

export const findInvoice = read('invoices.find', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT v.cancelled_at IS NOT NULL AS cancelled, v.paid > 0 AS has_payments
      FROM invoices v
     WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id} AND v.id = ${input.id}`,
});

export const findItem = read('invoices.find_item', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', item_id: 'uuid' },
  sql: (input) => `
    SELECT t.cancelled_at IS NOT NULL AS cancelled, v.cancelled_at IS NOT NULL AS invoice_cancelled
      FROM invoices v
      JOIN invoice_items t ON ${isPartOf('t')}
     WHERE v.company_id = ${input.company_id} AND v.case_id = ${input.case_id} AND v.id = ${input.id}
       AND t.id = ${input.item_id}`,
});
