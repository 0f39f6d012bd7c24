import type { FastifyInstance } from 'fastify';
import { externalIdRoutes } from '../../http/operation/external-id-routes.ts';
import type { Services } from '../../http/operation/operation.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { CaseRecord, type CreateCaseBody, PutCaseBody } from './schema.ts';
import { caseIds, createCase, showCase, updateCase } from './verbs.ts';

export function caseExternalIdRoutes(app: FastifyInstance, services: Services): void {
  externalIdRoutes(app, services, {
    name: 'Case',
    ids: caseIds,
    collection: '/manage/cases',
    idParam: 'caseId',
    tag: 'Cases',
    access: CASE_ACCESS,
    body: PutCaseBody,
    responses: { read: CaseRecord, created: CaseRecord, updated: CaseRecord },
    remark: 'Customers have external ids of their own.',
    verbs: {
      read: (context, _caseId, id) => showCase(context, id),
      create: (context, _caseId, form, externalId) => createCase(context, withoutCustomers(form), externalId),
      update: (context, _caseId, id, form) => updateCase(context, id, withoutCustomers(form)),
    },
  });
}

/** A repeated request would add them again. */
function withoutCustomers(form: Form<CreateCaseBody>): Form<CreateCaseBody> {
  if (form.has('customers')) form.addFault('customers', 'not_allowed', 'have external ids and requests of their own');
  return form;
}
