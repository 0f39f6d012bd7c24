import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithRemovableList } from '../../http/operation/paging.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import { RemovableQuery } from '../../kernel/validation/paging.ts';
import { CreateCustomerBody, CustomerBody, CustomerList, CustomerRecord, CustomerRemoved } from './schema.ts';
import {
  createCustomer,
  listCaseCustomers,
  listCustomers,
  removeCustomer,
  restoreCustomer,
  showCustomer,
  updateCustomer,
} from './verbs.ts';

const common = { extension: true, tag: 'Customers' } as const;
const collection = '/manage/cases/{caseId}/customers';
const item = `${collection}/{customerId}`;
const params = { caseId: 'case', customerId: 'customer' };

export function customerRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listCustomers',
    method: 'GET',
    access: CASE_ACCESS.read,
    path: '/manage/customers',
    summary: 'List customers',
    description:
      'The customers of all cases, ordered by last name. `search` matches names, email and phone number; a phone ' +
      'number is found in any notation.',
    params: {},
    query: RemovableQuery,
    response: CustomerList,
    handle: (context, _params, _form, request) =>
      respondWithRemovableList(request, (listing) => listCustomers(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listCaseCustomers',
    method: 'GET',
    access: CASE_ACCESS.read,
    path: collection,
    summary: 'List customers of a case',
    description: 'In the order in which they were added. `search` matches names, email and phone number.',
    params: { caseId: 'case' },
    query: RemovableQuery,
    response: CustomerList,
    handle: (context, { caseId }, _form, request) =>
      respondWithRemovableList(request, (listing) => listCaseCustomers(context, caseId, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCustomer',
    method: 'POST',
    access: CASE_ACCESS.write,
    path: collection,
    summary: 'Add a customer',
    description: 'Relationships and appointments can name the customer immediately.',
    params: { caseId: 'case' },
    body: CreateCustomerBody,
    response: CustomerRecord,
    handle: (context, { caseId }, form) => createCustomer(context, caseId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getCustomer',
    method: 'GET',
    access: CASE_ACCESS.read,
    path: item,
    summary: 'Get a customer',
    description: 'One customer of the case.',
    params,
    response: CustomerRecord,
    record: {
      table: 'customers',
      show: (context, { caseId, customerId }) => showCustomer(context, caseId, customerId),
    },
    handle: (context, { caseId, customerId }) => showCustomer(context, caseId, customerId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'updateCustomer',
    method: 'PATCH',
    access: CASE_ACCESS.write,
    path: item,
    summary: 'Update a customer',
    description:
      'Fields that are not sent stay unchanged; null clears an optional field. Appointments keep the email and ' +
      'invoices keep the names they were created with.',
    params,
    body: CustomerBody,
    response: CustomerRecord,
    handle: (context, { caseId, customerId }, form) => updateCustomer(context, caseId, customerId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeCustomer',
    method: 'DELETE',
    access: CASE_ACCESS.write,
    path: item,
    summary: 'Remove a customer',
    description:
      'The customer leaves the lists and can no longer be named in a relationship, as a recipient or on an invoice. ' +
      'Records that name the customer stay unchanged.',
    params,
    response: CustomerRemoved,
    handle: (context, { caseId, customerId }) => removeCustomer(context, caseId, customerId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'restoreCustomer',
    method: 'POST',
    access: CASE_ACCESS.write,
    path: `${item}/restore`,
    summary: 'Restore a removed customer',
    description: 'Restores the customer unchanged. Answers 400 if the customer is not removed.',
    params,
    response: CustomerRecord,
    handle: (context, { caseId, customerId }) => restoreCustomer(context, caseId, customerId),
  });
}
