import { write } from '../../kernel/sql/statement.ts';
import { invoiceAudit } from './audit.sql.ts';
import { elementWithBalance, isPartOf, item, lateralItems, lateralStatus, version } from './projection.sql.ts';

const INVOICE_INPUTS = {
  company_id: 'uuid',
  case_id: 'uuid',
  id: 'uuid',
  zone: 'text',
  now: 'timestamptz',
  origin: 'json',
} as const;

/** The response of an update of an invoice without its items. */
const updatedInvoice = (input: { zone: string }) =>
  `SELECT ${version}, ${elementWithBalance(input.zone)}
     FROM v JOIN input USING (nth), ${lateralStatus}, ${lateralItems('false')}`;

/** Returns no row if the invoice does not exist, is cancelled, or was changed by a concurrent update. */
export const sendInvoice = write('invoices.send', {
  inputs: { ...INVOICE_INPUTS, date_sent: 'timestamptz' },
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'sent',
      set: `date_sent = ${input.date_sent}`,
      where: 'v.cancelled_at IS NULL',
    })}
    ${updatedInvoice(input)}`,
});

/** Returns no row if the invoice does not exist, is cancelled, has payments, or was changed by a concurrent update. */
export const cancelInvoice = write('invoices.cancel', {
  inputs: INVOICE_INPUTS,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'cancelled',
      set: `cancelled_at = ${input.now}`,
      where: 'v.cancelled_at IS NULL AND v.paid = 0',
    })}
    ${updatedInvoice(input)}`,
});

/** Returns no row if the invoice does not exist, is not cancelled, or was changed by a concurrent update. */
export const reinstateInvoice = write('invoices.reinstate', {
  inputs: INVOICE_INPUTS,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${invoiceAudit.update({
      action: 'reinstated',
      set: 'cancelled_at = NULL',
      where: 'v.cancelled_at IS NOT NULL',
    })}
    ${updatedInvoice(input)}`,
});

const ITEM_INPUTS = {
  company_id: 'uuid',
  case_id: 'uuid',
  id: 'uuid',
  item_id: 'uuid',
  now: 'timestamptz',
  origin: 'json',
} as const;

/** `id` is the invoice. `where` is a condition on the item `t`. */
const updateItem = (
  input: { item_id: string },
  { action, set, where }: { action: 'item_cancelled' | 'item_reinstated'; set: string; where: string },
) => `
  ${invoiceAudit.update({
    action,
    where: `v.cancelled_at IS NULL AND EXISTS (
      SELECT 1 FROM invoice_items t WHERE ${isPartOf('t')} AND t.id = ${input.item_id} AND ${where})`,
    touched: { invoice_items: { changed: `part.id = ${input.item_id}` } },
  })}, t AS (
    UPDATE invoice_items t SET ${set} FROM v JOIN input USING (nth)
     WHERE ${isPartOf('t')} AND t.id = ${input.item_id}
    RETURNING t.*
  )`;

const updatedItem = () => ({ json: `${item}::text`, version, from: `v, t, ${lateralStatus}` });

/**
 * Returns no row if the item does not exist, if it or the invoice is cancelled, or if the invoice was changed by a
 * concurrent update.
 */
export const cancelItem = write('invoices.cancel_item', {
  inputs: ITEM_INPUTS,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${updateItem(input, {
      action: 'item_cancelled',
      set: `cancelled_at = ${input.now}`,
      where: 't.cancelled_at IS NULL',
    })}`,
  answer: updatedItem,
});

/**
 * Returns no row if the item does not exist or is not cancelled, if the invoice is cancelled, or if the invoice was
 * changed by a concurrent update.
 */
export const reinstateItem = write('invoices.reinstate_item', {
  inputs: ITEM_INPUTS,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${updateItem(input, {
      action: 'item_reinstated',
      set: 'cancelled_at = NULL',
      where: 't.cancelled_at IS NOT NULL',
    })}`,
  answer: updatedItem,
});
