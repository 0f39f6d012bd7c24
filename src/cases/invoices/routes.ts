import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithCaseList } from '../../http/operation/paging.ts';
import { readForm } from '../../kernel/validation/form.ts';
import { listInvoices } from './reads.ts';
import { CreateInvoiceBody, InvoiceList, InvoiceQuery, InvoiceRecord, UpdateInvoiceBody } from './schema.ts';
import { createInvoice, updateInvoice } from './writes.ts';

const tag = 'Invoices';
const list = '/cases/{caseId}/invoices';
const one = `${list}/{invoiceId}`;

export function invoiceRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'getCaseInvoices',
    method: 'GET',
    path: list,
    access: 'invoices:read',
    tag,
    summary: 'Get case invoices',
    description:
      'Every invoice of the case with its items, newest date_created first. Of the parameters, only ' +
      'show_cancelled_items is part of the specification.',
    params: { caseId: 'case' },
    query: InvoiceQuery,
    response: InvoiceList,
    handle: (context, { caseId }, _form, request) =>
      respondWithCaseList(request, listInvoices(context, caseId, readForm(InvoiceQuery, request.query))),
  });

  registerOperation(app, services, {
    id: 'createCaseInvoice',
    method: 'POST',
    path: list,
    access: 'invoices:write',
    tag,
    summary: 'Create case invoice',
    description: 'Amounts are exact decimals. They are stored as sent, rounded to two decimals.',
    params: { caseId: 'case' },
    body: CreateInvoiceBody,
    response: InvoiceRecord,
    handle: (context, { caseId }, form) => createInvoice(context, caseId, form),
  });

  registerOperation(app, services, {
    id: 'updateCaseInvoice',
    method: 'PATCH',
    path: one,
    aliases: [['POST', one]],
    access: 'invoices:write',
    tag,
    summary: 'Update case invoice',
    description: 'The items do not change unless `items` or `keep_existing_items: false` is sent.',
    params: { caseId: 'case', invoiceId: 'invoice' },
    body: UpdateInvoiceBody,
    response: InvoiceRecord,
    handle: (context, { caseId, invoiceId }, form) => updateInvoice(context, caseId, invoiceId, form),
  });
}
