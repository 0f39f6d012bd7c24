import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Context } from '../kernel/context.ts';
import type { Database } from '../kernel/database.ts';
import { CodedError, notFound } from '../kernel/errors.ts';
import type { Form } from '../kernel/form.ts';
import { isUuid } from '../kernel/ids.ts';
import type { Scope } from '../kernel/scopes.ts';
import type { Clock } from '../kernel/time.ts';
import { showWallTimes } from '../kernel/wall-time.ts';
import { formOf, refused } from './body.ts';

export type Services = { db: Database; clock: Clock };

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
  /** Parameter name and what an unknown one is called in the answer. */
  params: Record<P, string>;
  /** Parameters that are words and not identifiers. */
  words?: readonly NoInfer<P>[];
  query?: TObject;
  body?: B;
  bodyOptional?: boolean;
  response: TSchema;
  /** Throws where the path names nothing; for operations without a body, whose `handle` would act. */
  locate?: (context: Context, params: Record<P, string>) => Promise<void>;
  /** Gives the JSON text of the answer. It must write nothing when the form has faults. */
  handle: (
    context: Context,
    params: Record<P, string>,
    form: Form<Static<B>>,
    request: FastifyRequest,
  ) => Promise<string | Answer>;
};

export type Answer = { json: string; headers: Record<string, string> };

/** Serves one operation under every method and path that the specification gives it. */
export function serve<P extends string, B extends TSchema>(
  app: FastifyInstance,
  services: Services,
  operation: Operation<P, B>,
): void {
  const run = (request: FastifyRequest, form: Form<Static<B>>) =>
    operation.handle(contextOf(request, services), identifiers(request, operation), form, request);
  const judge = async (request: FastifyRequest) =>
    operation.body
      ? run(request, refused('too_long', ''))
      : operation.locate?.(contextOf(request, services), identifiers(request, operation));
  const read = (request: FastifyRequest) => formOf<B>((operation.body ?? NO_BODY) as B, request.body);

  for (const [i, [method, path]] of (
    [[operation.method, operation.path], ...(operation.also ?? [])] as const
  ).entries()) {
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { access: operation.access, specified: !operation.addition },
      schema: {
        operationId: i === 0 ? operation.id : `${operation.id}_${i + 1}`,
        tags: [i === 0 ? operation.tag : 'Alternative forms'],
        summary: operation.summary,
        description: i === 0 ? operation.description : `The same as ${operation.method} ${operation.path}.`,
        security: securityOf(operation.access),
        params: Type.Object(Object.fromEntries(Object.keys(operation.params).map((name) => [name, Type.String()]))),
        ...(operation.query && { querystring: operation.query }),
        ...(operation.body && { body: operation.body, ...(operation.bodyOptional && OPTIONAL_BODY) }),
        response: { 200: operation.response },
      },
      handler: async (request, reply) => {
        const answer = await run(request, read(request));
        reply.type('application/json; charset=utf-8');
        if (typeof answer === 'string') return showWallTimes(answer);
        reply.headers(answer.headers);
        return showWallTimes(answer.json);
      },
      errorHandler: async (error, request) => {
        // The path is judged before the body, also when the body is too large to be read.
        if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
          const judged = await judge(request).catch((found: unknown) => found);
          if (judged instanceof CodedError && judged.code === 'not_found') throw judged;
        }
        throw error;
      },
    });
  }
}

/** No API client can have the scope operator. */
const securityOf = (scope: Scope) =>
  scope === 'operator' ? [{ bearer: [scope] }] : [{ bearer: [scope] }, { oauth2: [scope] }];

const NO_BODY = Type.Object({});
const OPTIONAL_BODY = { 'x-body-optional': true };

function contextOf(request: FastifyRequest, { db, clock }: Services): Context {
  if (!request.caller) throw new Error('An operation was reached without a caller.');
  return { ...request.caller, db, clock };
}

function identifiers<P extends string, B extends TSchema>(
  request: FastifyRequest,
  { params: names, words = [] }: Operation<P, B>,
): Record<P, string> {
  const params = request.params as Record<P, string>;
  for (const name in names) if (!words.includes(name) && !isUuid(params[name])) throw notFound(names[name]);
  return params;
}
