import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { answerRemovable } from '../../http/operation/paging.ts';
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

const common = { addition: true, access: 'manage', tag: 'Management' } as const;
const list = '/manage/cases/{caseId}/customers';
const one = `${list}/{customerId}`;
const params = { caseId: 'case', customerId: 'customer' };

export function customerRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listCustomers',
    method: 'GET',
    path: '/manage/customers',
    summary: 'List customers',
    description:
      'Of all cases, by last name. `search` looks at names, email and phone; a phone number is found however it is ' +
      'written.',
    params: {},
    query: RemovableQuery,
    response: CustomerList,
    handle: (context, _params, _form, request) =>
      answerRemovable(request, (listing) => listCustomers(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listCaseCustomers',
    method: 'GET',
    path: list,
    summary: 'List customers of a case',
    description: 'In the order in which they came. `search` looks at names, email and phone.',
    params: { caseId: 'case' },
    query: RemovableQuery,
    response: CustomerList,
    handle: (context, { caseId }, _form, request) =>
      answerRemovable(request, (listing) => listCaseCustomers(context, caseId, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createCustomer',
    method: 'POST',
    path: list,
    summary: 'Add a customer',
    description: 'The customer can be named in relationships and as a recipient at once.',
    params: { caseId: 'case' },
    body: CreateCustomerBody,
    response: CustomerRecord,
    handle: (context, { caseId }, form) => createCustomer(context, caseId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getCustomer',
    method: 'GET',
    path: one,
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
    path: one,
    summary: 'Update a customer',
    description:
      'Fields that are not sent stay as they are, null clears an optional field. Appointments keep the email that was ' +
      'written down, invoices the names.',
    params,
    body: CustomerBody,
    response: CustomerRecord,
    handle: (context, { caseId, customerId }, form) => updateCustomer(context, caseId, customerId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'removeCustomer',
    method: 'DELETE',
    path: one,
    summary: 'Remove a customer',
    description:
      'The customer leaves the lists and can no longer be named in a relationship, as a recipient or on an invoice. ' +
      'Records that name the customer stay as they are.',
    params,
    response: CustomerRemoved,
    handle: (context, { caseId, customerId }) => removeCustomer(context, caseId, customerId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'restoreCustomer',
    method: 'POST',
    path: `${one}/restore`,
    summary: 'Restore a removed customer',
    description: 'As the customer was before. Refused with 400 when the customer is not removed.',
    params,
    response: CustomerRecord,
    handle: (context, { caseId, customerId }) => restoreCustomer(context, caseId, customerId),
  });
}
