import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { answerList } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { ListQuery } from '../../../kernel/validation/paging.ts';
import { findCompany } from '../../company.ts';
import { lockCredentials } from '../credential-lock.ts';
import { EndCredentialQuery } from '../descendants.schema.ts';
import { NO_STORE_HEADERS } from '../secrets.ts';
import { KeyBody, KeyCreated, KeyList, KeyRecord, KeyRevoked } from './schema.ts';
import { createKey, listKeys, revokeKey, showKey } from './verbs.ts';

const common = { addition: true, access: 'manage', tag: 'Management' } as const;
const list = '/manage/keys';
const one = `${list}/{keyId}`;

export function keyRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listKeys',
    method: 'GET',
    path: list,
    summary: 'List API keys',
    description: 'Newest first, revoked and expired ones as well. `search` looks at the name.',
    params: {},
    query: ListQuery,
    response: KeyList,
    handle: (context, _params, _form, request) => answerList(request, (listing) => listKeys(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createKey',
    method: 'POST',
    path: list,
    summary: 'Create an API key',
    description:
      'A bearer token for a script, with scopes that the caller has itself. It is shown this once and stored nowhere.',
    params: {},
    body: KeyBody,
    response: KeyCreated,
    handle: async (context, _params, form) => ({ json: await createKey(context, form), headers: NO_STORE_HEADERS }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getKey',
    method: 'GET',
    path: one,
    summary: 'Get an API key',
    description: 'Everything but the key itself.',
    params: { keyId: 'key' },
    response: KeyRecord,
    record: { table: 'tokens', show: (context, { keyId }) => showKey(context, keyId), lock: lockCredentials },
    handle: (context, { keyId }) => showKey(context, keyId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'revokeKey',
    method: 'DELETE',
    path: one,
    summary: 'Revoke an API key',
    description:
      'It stops working within two seconds, makes nothing more from this moment, and stays in the list. The answer says ' +
      'what it made that still works; `also` ends that too, in the same transaction. A key that was revoked before ' +
      'answers alike.',
    params: { keyId: 'key' },
    query: EndCredentialQuery,
    response: KeyRevoked,
    handle: (context, { keyId }, _form, request) =>
      revokeKey(context, keyId, readForm(EndCredentialQuery, request.query)),
  });

  registerOperation(app, services, {
    ...common,
    access: 'operator',
    tag: 'Operator',
    id: 'createCompanyKey',
    method: 'POST',
    path: '/manage/companies/{companyId}/keys',
    summary: 'Create an API key for a company',
    description: 'The first key of a new company, with which it makes the others.',
    params: { companyId: 'company' },
    body: KeyBody,
    response: KeyCreated,
    handle: async (context, { companyId }, form) => {
      const company = await findCompany(context, companyId);
      // An operator has none of a company's scopes, and gives a company all of them.
      const json = await createKey({ ...context, company, scopes: undefined }, form);
      return { json, headers: NO_STORE_HEADERS };
    },
  });
}
