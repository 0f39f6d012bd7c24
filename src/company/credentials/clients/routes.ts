import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { answerList } from '../../../http/operation/paging.ts';
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

const common = { addition: true, access: 'manage', tag: 'Management' } as const;
const list = '/manage/clients';
const one = `${list}/{clientId}`;
const params = { clientId: 'client' };

export function clientRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listClients',
    method: 'GET',
    path: list,
    summary: 'List API clients',
    description: 'Newest first. `search` looks at the name.',
    params: {},
    query: ListQuery,
    response: ClientList,
    handle: (context, _params, _form, request) => answerList(request, (listing) => listClients(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'createClient',
    method: 'POST',
    path: list,
    summary: 'Create an API client',
    description:
      'For POST /oauth/token, with scopes that the caller has itself. The secret is shown this once and stored nowhere.',
    params: {},
    body: CreateClientBody,
    response: ClientWithSecret,
    handle: async (context, _params, form) => ({ json: await createClient(context, form), headers: NO_STORE_HEADERS }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'getClient',
    method: 'GET',
    path: one,
    summary: 'Get an API client',
    description: 'Everything but its secret.',
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
    id: 'updateClient',
    method: 'PATCH',
    path: one,
    summary: 'Update an API client',
    description:
      'A scope that is taken away is missing from its tokens within two seconds; a new one is in new tokens, and must be ' +
      'one that the caller has itself.',
    params,
    body: ClientBody,
    response: ClientRecord,
    handle: (context, { clientId }, form) => updateClient(context, clientId, form),
  });

  registerOperation(app, services, {
    ...common,
    id: 'rotateClient',
    method: 'POST',
    path: `${one}/rotate`,
    summary: "Replace a client's secret",
    description:
      'The old secret gets no more tokens from now on; tokens that it has got live until they expire. Disabling the client ' +
      'ends them as well. Refused where the client has scopes that the caller does not have.',
    params,
    response: ClientWithSecret,
    handle: async (context, { clientId }) => ({
      json: await rotateClient(context, clientId),
      headers: NO_STORE_HEADERS,
    }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'disableClient',
    method: 'POST',
    path: `${one}/disable`,
    summary: 'Disable an API client',
    description:
      'It gets no more tokens, and those it has stop working within two seconds and make nothing more from this moment. ' +
      'The answer says what it made that still works; `also` ends that too, in the same transaction. A client that was ' +
      'disabled before answers alike.',
    params,
    query: EndCredentialQuery,
    response: ClientDisabled,
    handle: (context, { clientId }, _form, request) =>
      disableClient(context, clientId, readForm(EndCredentialQuery, request.query)),
  });

  registerOperation(app, services, {
    ...common,
    id: 'enableClient',
    method: 'POST',
    path: `${one}/enable`,
    summary: 'Enable an API client',
    description: 'It gets tokens again, with the same secret. Those of the time before stay ended.',
    params,
    response: ClientRecord,
    handle: (context, { clientId }) => enableClient(context, clientId),
  });
}
