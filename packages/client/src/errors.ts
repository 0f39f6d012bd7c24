import type { Problem } from './operations.ts';
import type { HttpResponse } from './transport.ts';

/** One fault of a refused request. */
export type Fault = NonNullable<Problem['errors']>[number];

/**
 * The codes of the service, the codes of RFC 6749 for token requests, and three codes of the client: no connection, no
 * response in time, or a response that is not from the service, such as the error page of a proxy.
 */
export type ErrorCode =
  | Problem['code']
  | 'invalid_client'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unreachable'
  | 'timed_out'
  | 'unexpected_answer';

type ErrorDetails = {
  status?: number;
  code: ErrorCode;
  detail: string;
  faults?: Fault[] | undefined;
  requestId?: string | undefined;
  retryAfter?: string | null;
  cause?: unknown;
};

/** Thrown if a call fails or is refused. A call that its signal aborts rejects with the signal's reason instead. */
export class CaseRecordsError extends Error {
  override readonly name = 'CaseRecordsError';
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Stable; use it in conditions. `detail` is for people and may change. */
  readonly code: ErrorCode;
  readonly detail: string;
  /** All faults of a request that was refused with 400. */
  readonly faults: readonly Fault[];
  /** The id of the request in the log of the service. */
  readonly requestId: string | undefined;
  /** How many times the request was sent. */
  attempts = 1;
  /** The header Retry-After, unparsed. */
  readonly retryAfter: string | undefined;

  constructor({ status, code, detail, faults = [], requestId, retryAfter, cause }: ErrorDetails) {
    super(`${code}${status === undefined ? '' : ` (${status})`}: ${detail}`, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.faults = faults;
    this.requestId = requestId;
    this.retryAfter = retryAfter ?? undefined;
  }
}

/** Converts an unsuccessful response to an error. */
export function toError({ status, headers }: HttpResponse, text: string): CaseRecordsError {
  return new CaseRecordsError({
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: headers.get('retry-after'),
    ...parseError(headers.get('content-type') ?? '', text, status),
  });
}

/** Proxies send errors too, some of them in JSON, so only the formats of the service are accepted. */
function parseError(type: string, text: string, status: number): Pick<ErrorDetails, 'code' | 'detail' | 'faults'> {
  try {
    const body = JSON.parse(text);
    if (type.startsWith('application/problem+json')) {
      const { code, detail, errors } = body as Problem;
      return { code, detail, faults: errors };
    }
    // RFC 6749, section 5.2.
    if (typeof body.error_description === 'string') return { code: body.error, detail: body.error_description };
  } catch {
    // Not JSON, so the response is not from the service.
  }
  return { code: 'unexpected_answer', detail: `Something other than the service answered, with status ${status}.` };
}
