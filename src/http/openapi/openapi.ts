import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { type TObject, type TSchema, Type } from 'typebox';
import { COMPANY_SCOPES, SCOPE_DESCRIPTIONS } from '../../kernel/scopes.ts';
import { type EtagRegistry, MATCH_HEADERS } from '../operation/etag.ts';
import { PROBLEMS } from '../operation/problems.ts';

const FAULT = Type.Object({
  field: Type.String({
    description: 'Where: a field of the body, a header or a query parameter.',
    examples: ['items[0].rate'],
  }),
  code: Type.String({ examples: ['required'] }),
  message: Type.String(),
});

/** RFC 9457. */
export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.Unsafe<string>({ type: 'string', enum: Object.keys(PROBLEMS) }),
  request_id: Type.String(),
  errors: Type.Optional(Type.Array(FAULT, { description: 'Every fault of a refused request (status 400).' })),
});

const DESCRIPTION = `Records of client cases: address book, interactions, invoices and appointments.

**Time.** Text that ends in \`Z\` is UTC. Text without a zone is wall time in the company's time zone, in requests and in answers.
Requests take \`YYYY-MM-DD HH:mm:ss\`, \`YYYY-MM-DD HH:mm\` and ISO 8601 with \`T\` and \`Z\` or an offset.

**Null.** For an optional field it means "no value": as if it was not sent on create, cleared on update.

**Numbers** may be sent as JSON numbers or as plain decimal strings. Money is exact.

**Headers.** The twelve specified operations require \`Content-Type: application/json\`, also where they take no body.
Every answer carries \`X-Request-Id\`.

**Retries.** A write with the header \`Idempotency-Key\` is done once, however often it is sent.

**Changes by others.** A record that is read by itself carries an \`ETag\`. A write with it in \`If-Match\` is refused with
412 where somebody has changed the record since; without the header the last write wins.

**Errors** have one body (\`application/problem+json\`). A 400 lists every fault with its field.`;

const ADDITION = 'Not part of the specification.';

const STATUSES: Record<string, string> = {
  304: 'The record is the one that If-None-Match names.',
  400: 'Something in the request is at fault; `errors` names every field.',
  401: 'The token is missing or not valid.',
  403: 'The token does not have the scope of this operation.',
  404: 'There is no such case or record for this company.',
  409: 'A request with the same Idempotency-Key is still under way.',
  412: 'The record is no longer the one that If-Match names.',
  413: 'The body is larger than 1 MiB, or than 16 KiB if it asks for or revokes an access token.',
  415: 'The body has a Content-Encoding.',
  422: 'The Idempotency-Key belongs to another request.',
  429: 'Too many requests of this credential, or too many without valid ones from this address.',
  500: 'A fault of the service. It has been logged under the request id.',
  503: 'The database cannot be reached at the moment, the service has too much to do, or too many requests change the same record at once.',
};

/** The document is made from the schemas that validate. */
export async function openapi(app: FastifyInstance, version: string, records: EtagRegistry): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Case Records', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
      tags: [
        { name: 'Address book', description: 'People related to a case, and their addresses.' },
        { name: 'Interactions', description: "The log of contacts with the case's client." },
        { name: 'Invoices', description: 'Invoices with their items.' },
        { name: 'Appointments', description: 'Appointments with confirmations, reminders and video meetings.' },
        { name: 'Additions: address book', description: `${ADDITION} One entry; deleting, restoring, removing tags.` },
        { name: 'Additions: interactions', description: `${ADDITION} One interaction; deleting and restoring.` },
        { name: 'Additions: invoices', description: `${ADDITION} One invoice; sending, paying and cancelling.` },
        {
          name: 'Additions: appointments',
          description: `${ADDITION} One appointment, lists, what became of it, restoring.`,
        },
        {
          name: 'Additions: messages',
          description: `${ADDITION} What has gone out, what waits, why something failed; sending again.`,
        },
        {
          name: 'Additions: meetings',
          description: `${ADDITION} Where a video meeting stands; asking for one, withdrawing it.`,
        },
        {
          name: 'Additions: events',
          description: `${ADDITION} What happened, to whom, by whom, and what it was before.`,
        },
        { name: 'Management', description: 'The company behind the records. Not part of the specification.' },
        { name: 'Operator', description: 'All companies of the installation. Not part of the specification.' },
        { name: 'OAuth', description: 'Access tokens for API clients. Not part of the specification.' },
        { name: 'Alternative forms', description: 'Other methods and spellings of the same operations.' },
      ],
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
                tokenUrl: '/oauth/token',
                scopes: Object.fromEntries(COMPANY_SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope]])),
              },
            },
          },
          client: { type: 'http', scheme: 'basic', description: 'client_id and client_secret.' },
        },
        schemas: { Problem: Problem as never },
        responses: Object.fromEntries(
          Object.entries(STATUSES).map(([status, text]) => [
            status,
            status === '304' ? { description: text } : problem(text),
          ]),
        ),
      },
    },
    transform: ({ schema, url, route }) => {
      // Public routes are for machines, unless they are described.
      if (route.config?.access === 'public' && !schema?.operationId) return { schema: { ...schema, hide: true }, url };
      const paged = 'per_page' in ((schema.querystring as TObject | undefined)?.properties ?? {});
      const asked = schema.headers as TObject | undefined;
      const write = 'idempotency-key' in (asked?.properties ?? {});
      const dependent = write && records.at(route.config?.path ?? '') !== undefined;
      const headers = {
        ...(paged ? PAGE_HEADERS : HEADERS),
        ...(write && REPLAY_HEADERS),
        ...((dependent || (asked && !write)) && TAG_HEADERS),
      };
      const response = described(schema.response as Record<string, TSchema>, headers);
      const sent = dependent && { headers: Type.Object({ ...asked?.properties, ...MATCH_HEADERS }) };
      return { schema: { ...schema, ...sent, response }, url };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('An OpenAPI document was expected.');
      const { paths } = document.openapiObject;
      for (const operation of Object.values(paths ?? {}).flatMap((path) => Object.values(path ?? {})) as Operation[]) {
        const takes = (header: string) => operation.parameters?.some(({ name }) => name === header);
        const keyed = takes('idempotency-key');
        if (operation['x-body-optional'] && operation.requestBody) operation.requestBody.required = false;
        delete operation['x-body-optional'];
        const open = !operation.security?.some((scheme) => 'bearer' in scheme);
        for (const status in STATUSES) {
          // Without a bearer token there is no scope and no company.
          if (open && ['403', '404'].includes(status)) continue;
          if (!keyed && ['409', '422'].includes(status)) continue;
          if (!takes('if-match') && status === '412') continue;
          if (!takes('if-none-match') && status === '304') continue;
          operation.responses[status] ??= { $ref: `#/components/responses/${status}` };
        }
      }
      return document.openapiObject;
    },
  });
}

const described = (responses: Record<string, TSchema>, headers: object) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      { description: status === '200' ? 'OK' : 'Refused', content: { 'application/json': { schema } }, headers },
    ]),
  );

const HEADERS = { 'x-request-id': { type: 'string', description: 'Under which the request was logged.' } };
const PAGE_HEADERS = {
  ...HEADERS,
  'x-total-count': { type: 'integer', description: 'How many entries the whole list has.' },
  link: { type: 'string', description: 'Where the first, last, previous and next page are (RFC 8288).' },
};

const REPLAY_HEADERS = {
  'idempotency-replayed': { type: 'string', description: '`true` where the answer was given before.' },
};

const TAG_HEADERS = { etag: { type: 'string', description: 'Of this state of the record, for If-Match.' } };

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  headers: {
    'x-request-id': { schema: { type: 'string' as const }, description: HEADERS['x-request-id'].description },
  },
});

type Operation = {
  'x-body-optional'?: true;
  requestBody?: { required: boolean };
  parameters?: { name: string }[];
  security?: Record<string, string[]>[];
  responses: Record<string, { $ref: string }>;
};
