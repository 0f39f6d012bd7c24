import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { type Form, readForm } from '../../kernel/validation/form.ts';
import { currentVersion, invoiceIds, readInvoice } from './reads.ts';
import { Invoice, type InvoiceBody, InvoiceRecord, OneInvoiceQuery, UpdateInvoiceBody } from './schema.ts';
import { createInvoice, updateInvoice } from './writes.ts';

export function invoiceExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'Invoice',
    ids: invoiceIds,
    collection: '/cases/{caseId}/invoices',
    idParam: 'invoiceId',
    tag: 'Invoices',
    access: { read: 'invoices:read', write: 'invoices:write' },
    currentVersion,
    body: UpdateInvoiceBody,
    responses: { read: Invoice, created: InvoiceRecord, updated: InvoiceRecord },
    remark: '`items` replace the existing ones: a repeated request would add them again.',
    verbs: {
      read: (context, caseId, id) => readInvoice(context, caseId, id, readForm(OneInvoiceQuery, {})),
      create: (context, caseId, form, externalId) => createInvoice(context, caseId, withoutKeptItems(form), externalId),
      update: (context, caseId, id, form) => updateInvoice(context, caseId, id, withoutKeptItems(form)),
    },
  });
}

function withoutKeptItems(form: Form<InvoiceBody>): Form<InvoiceBody> {
  if (form.body.keep_existing_items === true) {
    form.addFault(
      'keep_existing_items',
      'not_allowed',
      'must not be true: a repeated request would add the items again',
    );
  }
  return form;
}
