import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithList } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { ListQuery } from '../../../kernel/validation/paging.ts';
import { findCompany } from '../../company.ts';
import { lockCredentials } from '../credential-lock.ts';
import { EndCredentialQuery } from '../descendants.schema.ts';
import { NO_STORE_HEADERS } from '../secrets.ts';
import { KeyBody, KeyCreated, KeyList, KeyRecord, KeyRevoked } from './schema.ts';
import { createKey, listKeys, revokeKey, showKey } from './verbs.ts';

const common = { extension: true, access: 'manage', tag: 'API keys' } as const;
const collection = '/manage/keys';
const item = `${collection}/{keyId}`;

export function keyRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listKeys',
    method: 'GET',
    path: collection,
    summary: 'List API keys',
    description: 'Newest first, including revoked and expired keys. `search` matches the name.',
    params: {},
    query: ListQuery,
    response: KeyList,
    handle: (context, _params, _form, request) => respondWithList(request, (listing) => listKeys(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'createKey',
    method: 'POST',
    path: collection,
    summary: 'Create an API key',
    description:
      'A bearer token for a script. The caller can grant only scopes that it has itself. The key is shown only in ' +
      'this answer; the service stores a hash of it.',
    params: {},
    body: KeyBody,
    response: KeyCreated,
    handle: async (context, _params, form) => ({ json: await createKey(context, form), headers: NO_STORE_HEADERS }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getKey',
    method: 'GET',
    path: item,
    summary: 'Get an API key',
    description: 'Everything except the key itself.',
    params: { keyId: 'key' },
    response: KeyRecord,
    record: { table: 'tokens', show: (context, { keyId }) => showKey(context, keyId), lock: lockCredentials },
    handle: (context, { keyId }) => showKey(context, keyId),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'revokeKey',
    method: 'DELETE',
    path: item,
    summary: 'Revoke an API key',
    description:
      'The key stops working within two seconds, cannot create credentials or endpoints from this moment, and stays ' +
      'in the list. The answer lists everything the key created that still works; `also` ends that too, in the same ' +
      'transaction. Revoking a revoked key again gives the same answer.',
    params: { keyId: 'key' },
    query: EndCredentialQuery,
    response: KeyRevoked,
    handle: (context, { keyId }, _form, request) =>
      revokeKey(context, keyId, readForm(EndCredentialQuery, request.query)),
  });

  registerOperation(app, services, {
    ...common,
    access: 'operator',
    tag: 'Companies',
    id: 'createCompanyKey',
    method: 'POST',
    path: '/manage/companies/{companyId}/keys',
    summary: 'Create an API key for a company',
    description: 'The first key of a new company. The company creates its other keys with it.',
    params: { companyId: 'company' },
    body: KeyBody,
    response: KeyCreated,
    handle: async (context, { companyId }, form) => {
      const company = await findCompany(context, companyId);
      // An operator has no scopes of the company, but may grant all of them.
      const json = await createKey({ ...context, company, scopes: undefined }, form);
      return { json, headers: NO_STORE_HEADERS };
    },
  });
}
