import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import type { Database, Executor, ShownRecord } from '../../kernel/database/database.ts';
import { RequestDatabase } from '../../kernel/database/request-database.ts';
import { BodyTooLargeError, NotFoundError } from '../../kernel/errors.ts';
import { isUuid, NEVER_ISSUED_ID } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { renderWallTimes } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { Type } from '../../kernel/validation/type.ts';
import type { RouteAccess } from '../plugins/route-config.ts';
import { formOf, rejectedForm } from './body.ts';
import { type Conditions, runCarefully } from './careful-write.ts';
import {
  CreateOnlyHeaders,
  type EtagRegistry,
  hashedEtag,
  ifMatch,
  matchesIfNoneMatch,
  NoneMatchHeaders,
  type ReadableRecord,
  versionEtag,
} from './etag.ts';
import type { Exports, StreamedResponse } from './exports.ts';
import { IdempotencyHeaders, idempotencyKey, isWrite } from './idempotency.ts';
import type { StoredResponse } from './stored-response.ts';

type Alias = readonly [HTTPMethods, path: string];

export type Services = { db: Database; clock: Clock; records: EtagRegistry; exports: Exports };

/** What a documented operation needs: a scope, one of several scopes, or a person who has signed in. */
type OperationAccess = Exclude<RouteAccess, 'public'>;

type Operation<P extends string, B extends TSchema> = {
  id: string;
  method: HTTPMethods;
  /** With the parameter names of the specification: /cases/{caseId}/… */
  path: string;
  /** Other methods and paths of the same operation. */
  aliases?: readonly Alias[];
  /** Another method and path of the same operation that an undocumented operation serves under a condition. */
  servedAlias?: { form: Alias; condition: string };
  /** The OpenAPI document has it only as an alias of other operations. */
  undocumented?: boolean;
  access: OperationAccess;
  /** Whether a signed-in person must have signed in during the last minutes. */
  needsRecentSignIn?: boolean;
  /** The response has a cookie, or concerns one person only: it is never stored, and Idempotency-Key is ignored. */
  unstored?: boolean;
  /** Not one of the twelve specified operations. It requires Content-Type only if a body is sent. */
  extension?: boolean;
  tag: string;
  summary: string;
  description: string;
  /** A noun for each path parameter, such as "invoice". */
  params: Record<P, string>;
  /** Path parameters that are not UUIDs. */
  nonUuidParams?: readonly NoInfer<P>[];
  query?: TObject;
  body?: B;
  bodyOptional?: boolean;
  response: TSchema;
  /** The response with status 201, if the operation creates a record that does not exist. */
  createdResponse?: TSchema;
  /** Declared by the operation that reads one record. Writes at or below its path then accept If-Match. */
  record?: Omit<ReadableRecord, 'show'> & {
    show: (context: Context, params: Record<P, string>) => Promise<ShownRecord | string>;
  };
  /** The response has a hash as its tag, and If-None-Match is answered, but no write accepts the tag. */
  isTagged?: boolean;
  /**
   * Returns the JSON text of the response, with its version if it shows a record of a case. Must write only through `db`,
   * and nothing if the form has faults.
   */
  handle: (
    context: Context,
    params: Record<P, string>,
    form: Form<Static<B>>,
    request: FastifyRequest,
  ) => Promise<Answer>;
};

type Answer = string | ShownRecord | JsonResponse | StreamedResponse | Created;
export type Created = { created: string | ShownRecord };
/** A long list is streamed in pieces of several entries. */
export type JsonResponse = {
  json: string | AsyncIterable<string>;
  headers: Record<string, string>;
  /** Set-Cookie headers. Only an operation whose response is never stored may have them. */
  cookies?: readonly string[];
};

/** Registers an operation under each of its methods and paths. */
export function registerOperation<P extends string, B extends TSchema>(
  app: FastifyInstance,
  services: Services,
  operation: Operation<P, B>,
): void {
  const { record, isTagged = false } = operation;
  // A query changes what is shown, so a hash would not be the tag of the record.
  if (record && !record.currentVersion && operation.query) throw new Error(`${operation.id} needs versions.`);
  if (record) services.records.add(operation.path, record as ReadableRecord, operation.response);
  const readBody = (request: FastifyRequest) => formOf<B>((operation.body ?? NO_BODY) as B, request.body);
  const run = (request: FastifyRequest, form: Form<Static<B>>, db: Executor) =>
    operation.handle(contextOf(request, services, db), idsOf(request, operation), form, request);
  // Known when all operations are registered.
  let isVersioned: boolean | undefined;
  const conditionsOf = (request: FastifyRequest): Conditions | undefined => {
    const key = idempotencyKey(request);
    const expected = ifMatch(request);
    const changed = expected === undefined ? undefined : services.records.at(operation.path);
    if (key === undefined && !changed) return undefined;
    // A guarded statement stores status 200 with its answer.
    isVersioned ??= !operation.createdResponse && services.records.isVersioned(operation.path);
    return { key, ifMatch: expected !== undefined && changed ? { expected, record: changed } : undefined, isVersioned };
  };
  const respond = (request: FastifyRequest, answer: Answer): StoredResponse =>
    toStoredResponse(answer, request, isTagged || services.records.showsHashed(operation.response));

  for (const [i, [method, path]] of (
    [[operation.method, operation.path], ...(operation.aliases ?? [])] as const
  ).entries()) {
    const writes = isWrite(method) && !operation.unstored;
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: {
        access: operation.access,
        specified: !operation.extension,
        path: operation.path,
        needsRecentSignIn: operation.needsRecentSignIn === true,
      },
      schema: {
        hide: i > 0 || operation.undocumented === true,
        operationId: operation.id,
        tags: [operation.tag],
        summary: operation.summary,
        ...describe(operation),
        security: securityOf(operation.access),
        params: Type.Object(paramSchemas(operation.params)),
        ...(writes && { headers: writeHeaders(operation) }),
        ...((record || isTagged) && { headers: NoneMatchHeaders }),
        ...(operation.query && { querystring: operation.query }),
        ...(operation.body && { body: operation.body, ...(operation.bodyOptional && OPTIONAL_BODY) }),
        response: { 200: operation.response, ...(operation.createdResponse && { 201: operation.createdResponse }) },
      },
      ...(writes && {
        onResponse: (request, reply, done) => {
          // The write has appended events, which the workers deliver to webhooks.
          if (reply.statusCode < 300 && request.caller?.company.webhooks) notifyWorkers(services.db);
          done();
        },
      }),
      handler: async (request, reply) => {
        const db = databaseOf(request, services);
        const conditions = writes ? conditionsOf(request) : undefined;
        if (conditions) {
          const { status, headers, body } = await runCarefully({
            ...conditions,
            request,
            db,
            clock: services.clock,
            params: idsOf(request, operation),
            contextOf: (executor) => contextOf(request, services, executor),
            run: async (context) => respond(request, await run(request, readBody(request), context.db)),
          });
          return (reply as FastifyReply).status(status).headers(headers).send(body);
        }
        const answer = await run(request, readBody(request), db);
        if (typeof answer === 'object' && 'stream' in answer) {
          reply.headers(answer.headers);
          return answer.stream;
        }
        if (typeof answer === 'object' && 'json' in answer && typeof answer.json !== 'string') {
          reply.headers(JSON_TYPE);
          if ('headers' in answer) reply.headers(answer.headers);
          return Readable.from(asList(answer.json));
        }
        const { status, headers, body } = respond(request, answer);
        if (status !== 200) (reply as FastifyReply).status(status);
        reply.headers(headers);
        if (typeof answer === 'object' && 'cookies' in answer) reply.header('set-cookie', answer.cookies);
        if ((!record && !isTagged) || headers.etag === undefined || !matchesIfNoneMatch(request, headers.etag))
          return body;
        return (reply as FastifyReply).removeHeader('content-type').status(304).send();
      },
      errorHandler: async (error, request) => {
        if (!(error instanceof BodyTooLargeError)) throw error;
        // An unknown path is reported before a body that is too large. To find out, the operation runs with a rejected
        // form in a transaction that is always rolled back, because some operations act without a body.
        const rolledBack = databaseOf(request, services).transaction(async (transaction) => {
          await run(request, rejectedForm('too_long', ''), transaction);
          throw error;
        });
        return rolledBack.catch((found: unknown) => {
          throw found instanceof NotFoundError ? found : error;
        });
      },
    });
  }
}

/** Every alias as an operation of its own would double the document and the methods of generated clients. */
function describe<P extends string, B extends TSchema>({
  description,
  aliases = [],
  servedAlias,
  extension,
  access,
}: Operation<P, B>): object {
  const alternatives = [...aliases, ...(servedAlias ? [servedAlias.form] : [])].map((form) => form.join(' '));
  const condition = servedAlias ? ` ${servedAlias.condition}` : '';
  const forms = alternatives.map((form) => `\`${form}\`${condition}`).join(', ');
  const sentences = [
    description,
    forms && `Also served as ${forms}.`,
    access === 'operator' && 'Requires an API key with the scope `operator`.',
  ];
  return {
    description: sentences.filter(Boolean).join(' '),
    ...(alternatives.length > 0 && { 'x-alternatives': alternatives }),
    ...(!extension && { 'x-specified': true }),
  };
}

const paramSchemas = (nouns: Record<string, string>) =>
  Object.fromEntries(Object.entries(nouns).map(([name, noun]) => [name, Type.String({ description: `The ${noun}.` })]));

const writeHeaders = ({ createdResponse }: { createdResponse?: TSchema }) =>
  createdResponse ? Type.Object({ ...IdempotencyHeaders.properties, ...CreateOnlyHeaders }) : IdempotencyHeaders;

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** `isHashed`: the answer shows a record that has no version. */
function toStoredResponse(answer: Answer, request: FastifyRequest, isHashed: boolean): StoredResponse {
  if (typeof answer === 'object' && 'created' in answer) {
    return { ...toStoredResponse(answer.created, request, isHashed), status: 201 };
  }
  const { caller } = request;
  const json = typeof answer === 'string' ? answer : 'json' in answer ? answer.json : undefined;
  if (typeof json !== 'string') throw new Error('The response of a write cannot be streamed.');
  const body = renderWallTimes(json);
  const headers: Record<string, string> = { ...JSON_TYPE };
  if (typeof answer === 'object' && 'headers' in answer) Object.assign(headers, answer.headers);
  const version = typeof answer === 'object' && 'version' in answer ? answer.version : undefined;
  if (version !== undefined && caller) headers.etag = versionEtag(version, caller.company);
  else if (isHashed) headers.etag = hashedEtag(body);
  return { status: 200, headers, body };
}

async function* asList(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '[';
  for await (const entries of pieces) {
    yield before + renderWallTimes(entries);
    before = ', ';
  }
  yield before === '[' ? '[]' : ']';
}

/** No API client and no user can have the scope operator. Only OAuth schemes can list scopes; one of the schemes is enough. */
function securityOf(access: OperationAccess) {
  if (access === 'user' || access === 'enrolment') return [{ session: [] }];
  if (access === 'operator') return [{ bearer: [] }];
  return [{ bearer: [] }, ...[access].flat().map((scope) => ({ oauth2: [scope] })), { session: [] }];
}

const NO_BODY = Type.Object({});
const OPTIONAL_BODY = { 'x-body-optional': true };

const databaseOf = ({ authenticationMs }: FastifyRequest, { db }: Services): Executor =>
  new RequestDatabase(db, authenticationMs);

function contextOf({ caller, id }: FastifyRequest, { clock }: Services, db: Executor): Context {
  if (!caller) throw new Error('An operation was reached without a caller.');
  const { company, credential, token, scopes, session } = caller;
  return { company, credential, token, scopes, session, requestId: id, db, clock };
}

/**
 * Replaces a path parameter that is not a UUID by an id that is never issued, so that the verb reports it as unknown.
 */
function idsOf<P extends string, B extends TSchema>(
  request: FastifyRequest,
  { params: nouns, nonUuidParams = [] }: Operation<P, B>,
): Record<P, string> {
  let params = request.params as Record<P, string>;
  for (const name in nouns) {
    if (!isUuid(params[name]) && !nonUuidParams.includes(name)) params = { ...params, [name]: NEVER_ISSUED_ID };
  }
  return params;
}
