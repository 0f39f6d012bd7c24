import { caseLists } from '../list.sql.ts';
import { element, itemCount, items, standing } from './projection.sql.ts';

/** Estimates of what they take in the list. */
const INVOICE_BYTES = 600;
const ITEM_BYTES = 450;

export const invoiceLists = caseLists('invoices', {
  table: 'invoices',
  alias: 'v',
  joins: () => `CROSS JOIN ${standing}`,
  defaultFilter: 'true',
  elementInputs: { zone: 'text', show_cancelled_items: 'boolean' },
  filterInputs: { status: 'text?', due_from: 'timestamptz?', due_to: 'timestamptz?' },
  matches: (input) => `(${input.status} IS NULL OR s.status = ${input.status})
    AND (${input.due_from} IS NULL OR v.date_due >= ${input.due_from})
    AND (${input.due_to} IS NULL OR v.date_due < ${input.due_to})`,
  element: (input) => element(input.zone),
  large: {
    joins: (input) => `CROSS JOIN ${items(input.show_cancelled_items)}`,
    bytes: `(${INVOICE_BYTES} + octet_length(v.recipients_name) + octet_length(v.terms) + octet_length(v.payment_terms)
      + ${ITEM_BYTES} * ${itemCount('v')})`,
  },
  order: 'v.date_created DESC, v.created_at DESC, v.id DESC',
  batch: true,
});
