import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isMissingObject } from '../../kernel/database/postgres-errors.ts';
import {
  CodedError,
  type ErrorCode,
  InternalError,
  invalidRequest,
  MethodNotAllowedError,
  NotFoundError,
  TooManyAttemptsError,
  UnavailableError,
} from '../../kernel/errors.ts';
import { hostFault } from '../plugins/host-header.ts';
import { SECURITY_HEADERS } from '../plugins/security-headers.ts';
import type { StoredResponse } from './stored-response.ts';

/** The HTTP status of each error code. */
export const PROBLEMS: Record<ErrorCode, { status: number; title: string }> = {
  invalid_request: { status: 400, title: 'Bad Request' },
  invalid_token: { status: 401, title: 'Unauthorized' },
  sign_in_failed: { status: 401, title: 'Unauthorized' },
  insufficient_scope: { status: 403, title: 'Forbidden' },
  cross_origin: { status: 403, title: 'Forbidden' },
  recent_sign_in_required: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  request_in_progress: { status: 409, title: 'Conflict' },
  precondition_failed: { status: 412, title: 'Precondition Failed' },
  body_too_large: { status: 413, title: 'Content Too Large' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  idempotency_key_reused: { status: 422, title: 'Unprocessable Content' },
  too_many_attempts: { status: 429, title: 'Too Many Requests' },
  rate_limited: { status: 429, title: 'Too Many Requests' },
  internal: { status: 500, title: 'Internal Server Error' },
  unavailable: { status: 503, title: 'Service Unavailable' },
};

/** Only for features that are new: the specified operations work without the migrations of their release. */
const NOT_MIGRATED = 'The database lacks migrations that this operation needs. Try again later.';

/** Errors that are likely to be over in a second. */
const TRANSIENT_CODES: ReadonlySet<ErrorCode> = new Set(['unavailable', 'request_in_progress']);

/** `lacksMigrations` says whether the database has yet to get migrations of this release. */
export function problems(app: FastifyInstance, lacksMigrations: () => Promise<boolean> = async () => false): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof CodedError) return send(error, error, request, reply);
    if (!isMissingObject(error)) return send(fromFramework(error), error, request, reply);
    return lacksMigrations().then(
      (lacks) => send(lacks ? new UnavailableError(NOT_MIGRATED, error) : fromFramework(error), error, request, reply),
      () => send(fromFramework(error), error, request, reply),
    );
  });

  function send(coded: CodedError, error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (coded.code === 'internal') request.log.error({ reqId: request.id, err: error }, 'request failed');
    if (coded.code === 'unavailable')
      request.log.error({ reqId: request.id, err: coded.cause, reason: coded.message }, 'service unavailable');
    if (TRANSIENT_CODES.has(coded.code)) reply.header('retry-after', '1');
    if (coded instanceof TooManyAttemptsError) reply.header('retry-after', String(coded.waitSeconds));
    return sendProblem(request, reply, coded);
  }

  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsByPath.set(url, methods);
  });

  // Runs before the body is read: without a route its size and type do not matter.
  app.addHook('onRequest', (request, reply, done) => {
    const fault = hostFault(request.raw);
    if (fault) done(fault);
    else if (request.is404) sendNotFound(request, reply);
    else done();
  });
  app.setNotFoundHandler((request, reply) => sendNotFound(request, reply));
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { id, body } = problemOfUnreadRequest(417, 'Expectation Failed');
    const headers = { 'content-type': 'application/problem+json', 'x-request-id': id, ...SECURITY_HEADERS };
    response.writeHead(417, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  });

  function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.url.split('?', 1)[0] ?? '';
    const pattern = methodsByPath.keys().find((url) => matches(url, path));
    if (pattern === undefined) {
      return sendProblem(request, reply, new NotFoundError('There is nothing at this address.'));
    }
    const allowed = [...(methodsByPath.get(pattern) ?? [])].join(', ');
    reply.header('allow', allowed);
    return sendProblem(request, reply, new MethodNotAllowedError(`This address accepts ${allowed}.`));
  }
}

/** A path that cannot be decoded, or is too long for the router, is not found. */
export function onFrameworkError(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).headers(SECURITY_HEADERS);
  sendProblem(request, reply, new NotFoundError('There is nothing at this address.'));
}

/** Responds to bytes that Node could not parse as an HTTP request. */
export function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, title] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'Bad Request'];
  const { id, body } = problemOfUnreadRequest(status, title);
  const security = Object.entries(SECURITY_HEADERS).map((header) => `${header.join(': ')}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nX-Request-Id: ${id}\r\n` +
      `${security.join('')}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Responds without Fastify, which has not seen the request or can no longer respond, and closes the connection. */
export function sendRawProblem(response: ServerResponse, code: ErrorCode, detail: string): void {
  const { status, title } = PROBLEMS[code];
  const { id, body } = problemOfUnreadRequest(status, title, detail, code);
  const headers = { 'content-type': 'application/problem+json', 'x-request-id': id, ...SECURITY_HEADERS };
  const length = { 'content-length': Buffer.byteLength(body), connection: 'close' };
  response
    .writeHead(status, { ...headers, ...(TRANSIENT_CODES.has(code) && { 'retry-after': '1' }), ...length })
    .end(body);
}

function problemOfUnreadRequest(
  status: number,
  title: string,
  detail = 'The request could not be read as HTTP.',
  code: ErrorCode = 'invalid_request',
): { id: string; body: string } {
  const id = randomUUID();
  const body = JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    request_id: id,
    ...(status === 400 && { errors: [{ field: 'request', code: 'format', message: 'is not valid HTTP' }] }),
  });
  return { id, body };
}

const CLIENT_ERRORS: Record<string, [number, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
};

const INVALID_TOKEN = 'Bearer error="invalid_token"';

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: CodedError): FastifyReply {
  const { status, headers, body } = problemOf(request, error);
  // A token can end between authentication and the write. RFC 9110 requires the challenge on every 401.
  if (status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', INVALID_TOKEN);
  return reply.status(status).headers(headers).send(body);
}

/** Returns the response for an error. */
export function problemOf(request: FastifyRequest, error: CodedError): StoredResponse {
  const { status, title } = PROBLEMS[error.code];
  const body = {
    type: 'about:blank',
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: request.id,
    ...(status === 400 && { errors: error.faults }),
  };
  return { status, headers: { 'content-type': 'application/problem+json' }, body: JSON.stringify(body) };
}

/** Converts errors that are not ours. The caller is not shown the details of internal errors. */
function fromFramework(error: FastifyError): CodedError {
  if (error.statusCode !== undefined && error.statusCode < 500) return UNREADABLE_BODY;
  return new InternalError('The service failed. The error has been logged under the request id.');
}

const UNREADABLE_BODY = invalidRequest([{ field: 'body', code: 'format', message: 'could not be read' }]);

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const actual = path.split('/');
  return (
    expected.length === actual.length &&
    expected.every((part, i) => (part.startsWith(':') ? actual[i] !== '' : part === actual[i]))
  );
}
