import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithList } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { ListQuery } from '../../../kernel/validation/paging.ts';
import { lockCredentials } from '../credential-lock.ts';
import { EndCredentialQuery } from '../descendants.schema.ts';
import { NO_STORE_HEADERS } from '../secrets.ts';
import { ClientBody, ClientDisabled, ClientList, ClientRecord, ClientWithSecret, CreateClientBody } from './schema.ts';
import {
  createClient,
  disableClient,
  enableClient,
  listClients,
  rotateClient,
  showClient,
  updateClient,
} from './verbs.ts';

const common = { extension: true, access: 'manage', tag: 'API clients' } as const;
const collection = '/manage/clients';
const item = `${collection}/{clientId}`;
const params = { clientId: 'client' };

export function clientRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listClients',
    method: 'GET',
    path: collection,
    summary: 'List API clients',
    description: 'Newest first. `search` matches the name.',
    params: {},
    query: ListQuery,
    response: ClientList,
    handle: (context, _params, _form, request) => respondWithList(request, (listing) => listClients(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'createClient',
    method: 'POST',
    path: collection,
    summary: 'Create an API client',
    description:
      'A client for POST /oauth/token. The caller can grant only scopes that it has itself. The secret is shown only ' +
      'in this answer; the service stores a hash of it.',
    params: {},
    body: CreateClientBody,
    response: ClientWithSecret,
    handle: async (context, _params, form) => ({ json: await createClient(context, form), headers: NO_STORE_HEADERS }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getClient',
    method: 'GET',
    path: item,
    summary: 'Get an API client',
    description: 'Everything except the secret.',
    params,
    response: ClientRecord,
    record: {
      table: 'clients',
      show: (context, { clientId }) => showClient(context, clientId),
      lock: lockCredentials,
    },
    handle: (context, { clientId }) => showClient(context, clientId),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'updateClient',
    method: 'PATCH',
    path: item,
    summary: 'Update an API client',
    description:
      'Tokens lose a removed scope within two seconds. Only new tokens get an added scope, and the caller must have ' +
      'it itself.',
    params,
    body: ClientBody,
    response: ClientRecord,
    handle: (context, { clientId }, form) => updateClient(context, clientId, form),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'rotateClient',
    method: 'POST',
    path: `${item}/rotate`,
    summary: "Replace a client's secret",
    description:
      'The old secret gets no more tokens; tokens that were issued before work until they expire. Disabling the ' +
      'client ends them as well. Answers 400 if the client has scopes that the caller does not have.',
    params,
    response: ClientWithSecret,
    handle: async (context, { clientId }) => ({
      json: await rotateClient(context, clientId),
      headers: NO_STORE_HEADERS,
    }),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'disableClient',
    method: 'POST',
    path: `${item}/disable`,
    summary: 'Disable an API client',
    description:
      'The client gets no more tokens. Its tokens stop working within two seconds and cannot create credentials or ' +
      'endpoints from this moment. The answer lists everything the client created that still works; `also` ends that ' +
      'too, in the same transaction. Disabling a disabled client again gives the same answer.',
    params,
    query: EndCredentialQuery,
    response: ClientDisabled,
    handle: (context, { clientId }, _form, request) =>
      disableClient(context, clientId, readForm(EndCredentialQuery, request.query)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'enableClient',
    method: 'POST',
    path: `${item}/enable`,
    summary: 'Enable an API client',
    description: 'The client gets tokens again, with the same secret. Tokens from before it was disabled stay ended.',
    params,
    response: ClientRecord,
    handle: (context, { clientId }) => enableClient(context, clientId),
  });
}
