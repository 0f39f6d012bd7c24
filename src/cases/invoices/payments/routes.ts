import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { Payment, PaymentBody, PaymentList } from './schema.ts';
import { listPayments, recordPayment, reversePayment } from './verbs.ts';

const tag = 'Payments';
const list = '/cases/{caseId}/invoices/{invoiceId}/payments';
const params = { caseId: 'case', invoiceId: 'invoice' };

export function paymentRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    id: 'listPayments',
    method: 'GET',
    path: list,
    access: 'invoices:read',
    extension: true,
    tag,
    summary: 'List the payments of an invoice',
    description: 'All payments, including reversed ones, in the order in which they were made.',
    params,
    response: PaymentList,
    handle: (context, { caseId, invoiceId }) => listPayments(context, caseId, invoiceId),
  });

  registerOperation(app, services, {
    id: 'recordPayment',
    method: 'POST',
    path: list,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Record a payment',
    description:
      'Pays all or part of the outstanding amount and updates the status of the invoice and of its items, and ' +
      '`date_paid`. Returns 400 if the invoice is cancelled.',
    params,
    body: PaymentBody,
    response: Payment,
    handle: (context, { caseId, invoiceId }, form) => recordPayment(context, caseId, invoiceId, form),
  });

  registerOperation(app, services, {
    id: 'reversePayment',
    method: 'POST',
    path: `${list}/{paymentId}/reverse`,
    access: 'invoices:write',
    extension: true,
    tag,
    summary: 'Reverse a payment',
    description: 'A reversed payment stays in the list, but no longer counts. Returns 400 if it is already reversed.',
    params: { ...params, paymentId: 'payment' },
    response: Payment,
    handle: (context, { caseId, invoiceId, paymentId }) => reversePayment(context, caseId, invoiceId, paymentId),
  });
}
