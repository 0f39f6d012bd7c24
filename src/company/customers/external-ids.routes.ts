import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import { CreateCustomerBody, CustomerRecord } from './schema.ts';
import { createCustomer, customerIds, showCustomer, updateCustomer } from './verbs.ts';

export function customerExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'Customer',
    ids: customerIds,
    collection: '/manage/cases/{caseId}/customers',
    idParam: 'customerId',
    tag: 'Customers',
    access: CASE_ACCESS,
    body: CreateCustomerBody,
    responses: { read: CustomerRecord, created: CustomerRecord, updated: CustomerRecord },
    verbs: { read: showCustomer, create: createCustomer, update: updateCustomer },
  });
}
