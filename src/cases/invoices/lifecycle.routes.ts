import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { Form, readForm } from '../../kernel/validation/form.ts';
import { cancelInvoice, cancelItem, reinstateInvoice, reinstateItem, sendInvoice } from './lifecycle.ts';
import { currentVersion, readInvoice } from './reads.ts';
import { Invoice, InvoiceItem, OneInvoiceQuery, SentBody } from './schema.ts';

const tag = 'Invoices';
const one = '/cases/{caseId}/invoices/{invoiceId}';
const item = `${one}/items/{itemId}`;
const params = { caseId: 'case', invoiceId: 'invoice' };
const itemParams = { ...params, itemId: 'invoice item' };

/** The entity tag of an invoice covers its cancelled items too. */
const WITH_ALL_ITEMS = readForm(OneInvoiceQuery, { show_cancelled_items: 'true' });

export function invoiceLifecycleRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'readInvoice',
    method: 'GET',
    path: one,
    access: 'invoices:read',
    extension: true,
    tag,
    summary: 'Read one invoice',
    description:
      'The invoice as in the list of the case, with its items, and the amounts that are paid and outstanding.',
    params,
    query: OneInvoiceQuery,
    response: Invoice,
    record: {
      table: 'invoices',
      currentVersion,
      show: (context, { caseId, invoiceId }) => readInvoice(context, caseId, invoiceId, WITH_ALL_ITEMS),
    },
    handle: (context, { caseId, invoiceId }, _form, request) =>
      readInvoice(context, caseId, invoiceId, readForm(OneInvoiceQuery, request.query)),
  });

  registerOperation(app, services, {
    id: 'markInvoiceSent',
    method: 'POST',
    path: `${one}/sent`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Mark invoice as sent',
    description:
      'Sets `date_sent`; a second call moves it. The service sends nothing. Returns 400 if the invoice is cancelled.',
    params,
    body: SentBody,
    bodyOptional: true,
    response: Invoice,
    handle: (context, { caseId, invoiceId }, form) =>
      sendInvoice(context, caseId, invoiceId, form.bodyMissing ? new Form({}) : form),
  });

  registerOperation(app, services, {
    id: 'cancelInvoice',
    method: 'POST',
    path: `${one}/cancel`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Cancel invoice',
    description: 'Returns 400 if the invoice is cancelled or has payments that are not reversed.',
    params,
    response: Invoice,
    handle: (context, { caseId, invoiceId }) => cancelInvoice(context, caseId, invoiceId),
  });

  registerOperation(app, services, {
    id: 'reinstateInvoice',
    method: 'POST',
    path: `${one}/reinstate`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Reinstate a cancelled invoice',
    description: 'Returns 400 if the invoice is not cancelled.',
    params,
    response: Invoice,
    handle: (context, { caseId, invoiceId }) => reinstateInvoice(context, caseId, invoiceId),
  });

  registerOperation(app, services, {
    id: 'cancelInvoiceItem',
    method: 'POST',
    path: `${item}/cancel`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Cancel invoice item',
    description:
      'A cancelled item is listed only with show_cancelled_items. The amounts of the invoice do not change. Returns ' +
      '400 if the item or the invoice is cancelled.',
    params: itemParams,
    response: InvoiceItem,
    handle: (context, { caseId, invoiceId, itemId }) => cancelItem(context, caseId, invoiceId, itemId),
  });

  registerOperation(app, services, {
    id: 'reinstateInvoiceItem',
    method: 'POST',
    path: `${item}/reinstate`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Reinstate a cancelled invoice item',
    description: 'Returns 400 if the item is not cancelled, or if the invoice is cancelled.',
    params: itemParams,
    response: InvoiceItem,
    handle: (context, { caseId, invoiceId, itemId }) => reinstateItem(context, caseId, invoiceId, itemId),
  });
}
