import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { COMPANY_SCOPES, SCOPE_DESCRIPTIONS } from '../../kernel/scopes.ts';
import { Type } from '../../kernel/validation/type.ts';
import { type EtagRegistry, MATCH_HEADERS } from '../operation/etag.ts';
import { PROBLEMS } from '../operation/problems.ts';
import { type Components, type Operation, type Parameter, shareComponents } from './components.ts';
import { TAG_GROUPS, TAGS } from './tags.ts';

/** A service puts its own address before it, because a generated client would leave out the path of that address. */
export const TOKEN_PATH = '/oauth/token';

const FAULT = Type.Object(
  {
    field: Type.String({
      description: 'A field of the body, a header or a query parameter.',
      examples: ['items[0].rate'],
    }),
    code: Type.String({ examples: ['required'] }),
    message: Type.String(),
  },
  { title: 'Fault' },
);

/** RFC 9457. */
export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.Unsafe<string>({ type: 'string', enum: Object.keys(PROBLEMS) }),
  request_id: Type.String(),
  errors: Type.Optional(Type.Array(FAULT, { description: 'Every fault of a rejected request (status 400).' })),
});

const DESCRIPTION = `Records of client cases: address book, interactions, invoices and appointments.

## Your first call

1. Get a token and a case. A service with the bundled database creates a demonstration company at its first start; the
   file \`demo.json\` in its data folder has both, and a link to this page that fills them in. With that link, go to
   step 3. Otherwise ask the operator of the service.
2. Paste the token under **Authentication**.
3. Open **Interactions**, **Get case interactions**, press **Test Request**, enter the case if it is missing, and press
   **Send**.

## Rules for all operations

**Time.** Text that ends in \`Z\` is UTC. Text without a zone is wall time in the company's time zone, in requests and
in responses. Requests accept \`YYYY-MM-DD HH:mm:ss\`, \`YYYY-MM-DD HH:mm\` and ISO 8601 with \`T\` and \`Z\` or an offset.

**Null.** For an optional field, null means "no value": on create as if it was not sent, on update it clears the field.

**Numbers** may be sent as JSON numbers or as plain decimal strings. Money is exact.

**Headers.** The twelve specified operations require \`Content-Type: application/json\`, even without a body.
Every response has \`X-Request-Id\`.

**Retries.** A write with the header \`Idempotency-Key\` is performed once, however often it is sent.

**Concurrent changes.** Every response that shows one record, to a read or a write, has its \`ETag\`, unless it shows a
secret too. A write with that tag in \`If-Match\` is rejected with 412 if the record has changed since. Without the header the last write wins.

**Errors** have a common body (\`application/problem+json\`). A 400 lists every fault with its field.`;

/** The responses that an operation can have because of what it does. */
const STATUSES: Record<string, { name: string; text: string }> = {
  304: { name: 'NotModified', text: 'The record has the ETag of If-None-Match.' },
  400: { name: 'BadRequest', text: 'The request has faults; `errors` lists them with their fields.' },
  401: { name: 'Unauthorized', text: 'The token is missing or not valid.' },
  403: {
    name: 'Forbidden',
    text: 'The token or the role does not have the scope of this operation, or a person must sign in again before it.',
  },
  404: { name: 'NotFound', text: 'There is no such case or record for this company.' },
  409: { name: 'Conflict', text: 'A request with the same Idempotency-Key is in progress.' },
  412: { name: 'PreconditionFailed', text: 'The record no longer has the ETag of If-Match.' },
  422: { name: 'UnprocessableContent', text: 'The Idempotency-Key belongs to another request.' },
  default: {
    name: 'Refused',
    text: `Every operation can also be refused with these statuses:

- 413: the body is larger than 1 MiB, or 16 KiB for requests that sign in, or create or revoke an access token.
- 415: the body has a Content-Encoding.
- 429: too many requests of this credential, or too many without valid credentials from this IP address.
- 500: the service failed. The error has been logged under the request id.
- 503: the database cannot be reached, the service is overloaded, or too many concurrent requests change the same
  record. Try again later.`,
  },
};

/** Builds the document from the schemas that validate requests. */
export async function openapi(app: FastifyInstance, version: string, records: EtagRegistry): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Case Records',
        version,
        description: DESCRIPTION,
        contact: { name: 'Case Records' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: TAGS,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, or an access token of an API client. Only keys have the scope operator.',
          },
          oauth2: {
            type: 'oauth2',
            description: 'Access tokens of API clients, with the scopes that the client has.',
            flows: {
              clientCredentials: {
                tokenUrl: TOKEN_PATH,
                scopes: Object.fromEntries(COMPANY_SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope]])),
              },
            },
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-session',
            description: 'A person who has signed in, in a browser and on pages of the service itself only.',
          },
          client: { type: 'http', scheme: 'basic', description: 'client_id and client_secret.' },
        },
        schemas: { Problem: Problem as never },
        responses: Object.fromEntries(
          Object.entries(STATUSES).map(([status, { name, text }]) => [
            name,
            status === '304' ? { description: text } : problem(text),
          ]),
        ),
      },
    },
    transform: ({ schema, url, route }) => {
      // Public routes without a description, such as /healthz, are not part of the document.
      if (route.config?.access === 'public' && !schema?.operationId) return { schema: { ...schema, hide: true }, url };
      const isPaged = 'per_page' in ((schema.querystring as TObject | undefined)?.properties ?? {});
      const hasCursor = 'cursor' in ((schema.querystring as TObject | undefined)?.properties ?? {});
      const requestHeaders = schema.headers as TObject | undefined;
      const isWrite = 'idempotency-key' in (requestHeaders?.properties ?? {});
      const acceptsIfMatch = isWrite && records.at(route.config?.path ?? '') !== undefined;
      const shown = (schema.response as Record<string, TSchema>)['200'];
      const showsRecord = isWrite && shown !== undefined && records.isShown(route.config?.path ?? '', shown);
      const headers = {
        ...(isPaged && PAGE_HEADERS),
        ...(hasCursor && CURSOR_HEADERS),
        ...(isWrite && REPLAY_HEADERS),
        ...((acceptsIfMatch || (requestHeaders && !isWrite) || showsRecord) && ETAG_HEADERS),
      };
      const response = describeResponses(schema.response as Record<string, TSchema>, headers);
      const headersOfWrite = acceptsIfMatch && {
        headers: Type.Object({ ...requestHeaders?.properties, ...MATCH_HEADERS }),
      };
      return { schema: { ...schema, ...headersOfWrite, response }, url };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('An OpenAPI document was expected.');
      const { paths, components } = document.openapiObject;
      const operations = Object.values(paths ?? {}).flatMap((path) => Object.values(path ?? {})) as Operation[];
      for (const operation of operations) completeOperation(operation);
      shareComponents(operations, components as Components);
      return { ...document.openapiObject, 'x-tagGroups': TAG_GROUPS };
    },
  });
}

function completeOperation(operation: Operation): void {
  const { parameters = [], requestBody, security } = operation;
  // Reference pages fill in examples, so that a list would be filtered and a second write would repeat the first.
  for (const parameter of parameters) {
    if (parameter.required) continue;
    delete parameter.required;
    delete parameter.example;
  }
  // Browsers and generated clients send no Content-Type without a body, and the specification demands it.
  if (operation['x-specified'] && !requestBody) operation.parameters = [...parameters, CONTENT_TYPE];
  if (operation['x-body-optional'] && requestBody) requestBody.required = false;
  delete operation['x-body-optional'];

  const accepts = (header: string) => parameters.some(({ name }) => name === header);
  const isPublic = !security?.some((scheme) => 'bearer' in scheme || 'session' in scheme);
  const isOfClients = security?.some((scheme) => 'client' in scheme);
  for (const [status, { name }] of Object.entries(STATUSES)) {
    // Without a bearer token there is no scope and no company.
    if (isPublic && (status === '404' || (status === '403' && isOfClients))) continue;
    if (!accepts('idempotency-key') && ['409', '422'].includes(status)) continue;
    if (!accepts('if-match') && status === '412') continue;
    if (status === '304' && (!accepts('if-none-match') || accepts('idempotency-key'))) continue;
    operation.responses[status] ??= { $ref: `#/components/responses/${name}` };
  }
}

const CONTENT_TYPE: Parameter = {
  name: 'Content-Type',
  in: 'header',
  required: true,
  description: 'Required by the specification, although there is no body.',
  schema: { type: 'string', enum: ['application/json'], default: 'application/json' },
};

const DESCRIPTIONS: Record<string, string> = { 200: 'OK', 201: 'Created' };

const describeResponses = (responses: Record<string, TSchema & { contentMediaType?: string }>, headers: object) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'Rejected',
        content: { [schema.contentMediaType ?? 'application/json']: { schema } },
        headers,
      },
    ]),
  );

const PAGE_HEADERS = {
  'x-total-count': { type: 'integer', description: 'The number of entries of the whole list.' },
  link: { type: 'string', description: 'Links to the first, last, previous and next page (RFC 8288).' },
};

const CURSOR_HEADERS = {
  link: { type: 'string', description: 'The link to the next page, if there may be one (RFC 8288).' },
};

const REPLAY_HEADERS = {
  'idempotency-replayed': { type: 'string', description: '`true` if the response is a stored one.' },
};

const ETAG_HEADERS = { etag: { type: 'string', description: 'The tag of this state of the record, for If-Match.' } };

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  headers: {
    'x-request-id': { schema: { type: 'string' as const }, description: 'The id under which the request was logged.' },
  },
});
