import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import type { Database, Executor } from '../../kernel/database/database.ts';
import { BodyTooLargeError, NotFoundError } from '../../kernel/errors.ts';
import { isUuid, NEVER_ISSUED_ID } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import type { Scope } from '../../kernel/scopes.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { renderWallTimes } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { formOf, rejectedForm } from './body.ts';
import {
  type EtagRegistry,
  etagOf,
  ifMatch,
  type LockableRecord,
  matchesIfNoneMatch,
  NoneMatchHeaders,
  type ReadableRecord,
  withIfMatch,
} from './etag.ts';
import { IdempotencyHeaders, idempotencyKey, isWrite, runOnce } from './idempotency.ts';
import type { StoredResponse } from './stored-response.ts';

export type Services = { db: Database; clock: Clock; records: EtagRegistry };

type Operation<P extends string, B extends TSchema> = {
  id: string;
  method: HTTPMethods;
  /** With the specification's own parameter names: /cases/{caseId}/… */
  path: string;
  /** Other documented spellings of the same operation: method, path. */
  also?: readonly [HTTPMethods, string][];
  access: Scope;
  /** Not one of the twelve but ours: it asks for Content-Type only where a body is sent. */
  addition?: boolean;
  tag: string;
  summary: string;
  description: string;
  /** Parameter name and what it names. */
  params: Record<P, string>;
  /** Parameters that are words and not identifiers. */
  words?: readonly NoInfer<P>[];
  query?: TObject;
  body?: B;
  bodyOptional?: boolean;
  response: TSchema;
  /** Of the reading of one record. Writes below the same path can then be made to depend on its state. */
  record?: {
    table: string;
    show: (context: Context, params: Record<P, string>) => Promise<string>;
    lock?: (context: Context) => Promise<void>;
  };
  /** Gives the JSON text of the answer. It must write nothing when the form has faults, and nowhere but in `db`. */
  handle: (
    context: Context,
    params: Record<P, string>,
    form: Form<Static<B>>,
    request: FastifyRequest,
  ) => Promise<string | Answer>;
};

/** A long list comes in pieces, some entries in each. */
export type Answer = { json: string | AsyncIterable<string>; headers: Record<string, string> };

/** Serves one operation under every method and path that the specification gives it. */
export function registerOperation<P extends string, B extends TSchema>(
  app: FastifyInstance,
  services: Services,
  operation: Operation<P, B>,
): void {
  const { record } = operation;
  if (record) services.records.add(operation.path, record as ReadableRecord);
  const run = (request: FastifyRequest, form: Form<Static<B>>, db: Executor = services.db) =>
    operation.handle(contextOf(request, services, db), identifiers(request, operation), form, request);
  /** As `run`, onto the state of the record that the caller names. */
  const runConditionally = async (
    request: FastifyRequest,
    wanted: string,
    held: LockableRecord,
    db: Executor,
  ): Promise<StoredResponse> => {
    const context = contextOf(request, services, db);
    const params = identifiers(request, operation);
    const write = () => run(request, read(request), db);
    const { answer, tag } = await withIfMatch(context, params, held, wanted, write);
    const { headers, ...rest } = whole(answer);
    return { ...rest, headers: { ...headers, ...(tag && { etag: tag }) } };
  };
  const read = (request: FastifyRequest) => formOf<B>((operation.body ?? NO_BODY) as B, request.body);

  for (const [i, [method, path]] of (
    [[operation.method, operation.path], ...(operation.also ?? [])] as const
  ).entries()) {
    const writes = isWrite(method);
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { access: operation.access, specified: !operation.addition, path: operation.path },
      schema: {
        operationId: i === 0 ? operation.id : `${operation.id}_${i + 1}`,
        tags: [i === 0 ? operation.tag : 'Alternative forms'],
        summary: operation.summary,
        description: i === 0 ? operation.description : `The same as ${operation.method} ${operation.path}.`,
        security: securityOf(operation.access),
        params: Type.Object(paramsOf(operation.params)),
        ...(writes && { headers: IdempotencyHeaders }),
        ...(record && { headers: NoneMatchHeaders }),
        ...(operation.query && { querystring: operation.query }),
        ...(operation.body && { body: operation.body, ...(operation.bodyOptional && OPTIONAL_BODY) }),
        response: { 200: operation.response },
      },
      ...(writes && {
        onResponse: (request, reply, done) => {
          // What was written stands in the log of events, and the workers send it on.
          if (reply.statusCode < 300 && request.caller?.company.webhooks) notifyWorkers(services.db);
          done();
        },
      }),
      handler: async (request, reply) => {
        if (writes) {
          const key = idempotencyKey(request);
          const wanted = ifMatch(request);
          const held = wanted && services.records.at(operation.path);
          if (key !== undefined || held) {
            const work = (db: Executor) =>
              held ? runConditionally(request, wanted, held, db) : run(request, read(request), db).then(whole);
            const { status, headers, body } = await (key === undefined
              ? services.db.transaction(work)
              : runOnce(request, key, services, work));
            return (reply as FastifyReply).status(status).headers(headers).send(body);
          }
        }
        const answer = await run(request, read(request));
        reply.header('content-type', JSON_TYPE['content-type']);
        if (typeof answer !== 'string') reply.headers(answer.headers);
        const json = typeof answer === 'string' ? answer : answer.json;
        if (typeof json !== 'string') return Readable.from(asList(json));
        const shown = renderWallTimes(json);
        if (!record) return shown;
        // A query can change what is shown, but not which state of the record it is.
        const params = identifiers(request, operation);
        const tag = etagOf(
          operation.query
            ? renderWallTimes(await record.show(contextOf(request, services, services.db), params))
            : shown,
        );
        reply.header('etag', tag);
        if (!matchesIfNoneMatch(request, tag)) return shown;
        return (reply as FastifyReply).removeHeader('content-type').status(304).send();
      },
      errorHandler: async (error, request) => {
        if (!(error instanceof BodyTooLargeError)) throw error;
        // The path is judged before the body, also when that is too large to be read. What would act without a body
        // acts too, and is undone: only where it finds nothing does the answer change.
        const undone = services.db.transaction(async (db) => {
          await run(request, rejectedForm('too_long', ''), db);
          throw error;
        });
        return undone.catch((found: unknown) => {
          throw found instanceof NotFoundError ? found : error;
        });
      },
    });
  }
}

const paramsOf = (names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([name, what]) => [name, Type.String({ description: `The ${what}.` })]));

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

function whole(answer: string | Answer): StoredResponse {
  if (typeof answer === 'string') return { status: 200, headers: JSON_TYPE, body: renderWallTimes(answer) };
  if (typeof answer.json !== 'string') throw new Error('A write answers with one text.');
  return { status: 200, headers: { ...JSON_TYPE, ...answer.headers }, body: renderWallTimes(answer.json) };
}

async function* asList(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let before = '[';
  for await (const entries of pieces) {
    yield before + renderWallTimes(entries);
    before = ', ';
  }
  yield before === '[' ? '[]' : ']';
}
/** No API client can have the scope operator. */
const securityOf = (scope: Scope) =>
  scope === 'operator' ? [{ bearer: [scope] }] : [{ bearer: [scope] }, { oauth2: [scope] }];

const NO_BODY = Type.Object({});
const OPTIONAL_BODY = { 'x-body-optional': true };

function contextOf({ caller, id }: FastifyRequest, { clock }: Services, db: Executor): Context {
  if (!caller) throw new Error('An operation was reached without a caller.');
  const { company, credential, token, scopes } = caller;
  return { company, credential, token, scopes, requestId: id, db, clock };
}

/** What cannot be an identifier stands for one that is given to nothing: it is unknown in the words of the verb. */
function identifiers<P extends string, B extends TSchema>(
  request: FastifyRequest,
  { params: names, words = [] }: Operation<P, B>,
): Record<P, string> {
  let params = request.params as Record<P, string>;
  for (const name in names) {
    if (!isUuid(params[name]) && !words.includes(name)) params = { ...params, [name]: NEVER_ISSUED_ID };
  }
  return params;
}
