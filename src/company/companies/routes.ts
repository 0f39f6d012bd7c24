import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../http/operation/operation.ts';
import { respondWithList } from '../../http/operation/paging.ts';
import { ListQuery } from '../../kernel/validation/paging.ts';
import { CompanyBody, CompanyList, CompanyRecord, CreateCompanyBody } from './schema.ts';
import { createCompany, listCompanies, showCompany, updateCompany } from './verbs.ts';

const companyOperation = { extension: true, access: 'manage', tag: 'Company', params: {} } as const;
const operatorOperation = { extension: true, access: 'operator', tag: 'Companies' } as const;
const collection = '/manage/companies';
const item = `${collection}/{companyId}`;

export function companyRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...companyOperation,
    id: 'getCompany',
    method: 'GET',
    path: '/manage/company',
    summary: 'Get the company',
    description: 'The settings of the company that the token belongs to.',
    response: CompanyRecord,
    record: { table: 'companies', key: ['id'], show: (context) => showCompany(context, context.company.id) },
    handle: (context) => showCompany(context, context.company.id),
  });

  registerOperation(app, services, {
    ...companyOperation,
    id: 'updateCompany',
    method: 'PATCH',
    path: '/manage/company',
    summary: 'Update the company',
    description:
      'Settings that are not sent stay unchanged; null resets a setting to its default. Every process uses the new ' +
      'settings within two seconds. Existing invoices, appointments and reminders keep the values they were created ' +
      'with.',
    body: CompanyBody,
    response: CompanyRecord,
    handle: (context, _params, form) => updateCompany(context, context.company.id, form),
  });

  registerOperation(app, services, {
    ...operatorOperation,
    id: 'listCompanies',
    method: 'GET',
    path: collection,
    summary: 'List companies',
    description: 'Every company of the installation, ordered by name. `search` matches the name.',
    params: {},
    query: ListQuery,
    response: CompanyList,
    handle: (context, _params, _form, request) =>
      respondWithList(request, (listing) => listCompanies(context, listing)),
  });

  registerOperation(app, services, {
    ...operatorOperation,
    id: 'createCompany',
    method: 'POST',
    path: collection,
    summary: 'Create a company',
    description: 'Only the name is required. Create a first key for the company afterwards.',
    params: {},
    body: CreateCompanyBody,
    response: CompanyRecord,
    handle: (context, _params, form) => createCompany(context, form),
  });

  registerOperation(app, services, {
    ...operatorOperation,
    id: 'getOneCompany',
    method: 'GET',
    path: item,
    summary: 'Get one company',
    description: 'The settings of any company.',
    params: { companyId: 'company' },
    response: CompanyRecord,
    record: { table: 'companies', key: ['id'], show: (context, { companyId }) => showCompany(context, companyId) },
    handle: (context, { companyId }) => showCompany(context, companyId),
  });

  registerOperation(app, services, {
    ...operatorOperation,
    id: 'updateOneCompany',
    method: 'PATCH',
    path: item,
    summary: 'Update one company',
    description: 'The same as PATCH /manage/company, for any company.',
    params: { companyId: 'company' },
    body: CompanyBody,
    response: CompanyRecord,
    handle: (context, { companyId }, form) => updateCompany(context, companyId, form),
  });
}
