import type { Problem } from './operations.ts';

/** What one request is refused for. */
export type Fault = NonNullable<Problem['errors']>[number];

/**
 * Those of the service; those of RFC 6749 where a token was asked for; and three for what is no answer of the service:
 * nobody answered, not in time, or with something else (a proxy does that).
 */
export type ErrorCode =
  | Problem['code']
  | 'invalid_client'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unreachable'
  | 'timed_out'
  | 'unexpected_answer';

type Details = {
  status?: number;
  code: ErrorCode;
  detail: string;
  faults?: Fault[] | undefined;
  requestId?: string | undefined;
  retryAfter?: string | null;
  cause?: unknown;
};

/** Every refusal and every failure of a call, but not its being aborted by the caller. */
export class CaseRecordsError extends Error {
  override readonly name = 'CaseRecordsError';
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  /** To branch on; `detail` is for people and may change. */
  readonly code: ErrorCode;
  readonly detail: string;
  /** Of a request that was refused with 400: every fault of it. */
  readonly faults: readonly Fault[];
  /** Under which the service has logged the request. */
  readonly requestId: string | undefined;
  /** How often the request was sent. */
  attempts = 1;
  /** The header Retry-After, as it came. */
  readonly retryAfter: string | undefined;

  constructor({ status, code, detail, faults = [], requestId, retryAfter, cause }: Details) {
    super(`${code}${status === undefined ? '' : ` (${status})`}: ${detail}`, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.faults = faults;
    this.requestId = requestId;
    this.retryAfter = retryAfter ?? undefined;
  }
}

/** An answer that is no success, as an error. */
export function refusalOf({ status, headers }: Response, text: string): CaseRecordsError {
  return new CaseRecordsError({
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: headers.get('retry-after'),
    ...readRefusal(headers.get('content-type') ?? '', text, status),
  });
}

/** A proxy has errors of its own, some of them in JSON: only what the service would send is believed. */
function readRefusal(type: string, text: string, status: number): Pick<Details, 'code' | 'detail' | 'faults'> {
  try {
    const read = JSON.parse(text);
    if (type.startsWith('application/problem+json')) {
      const { code, detail, errors } = read as Problem;
      return { code, detail, faults: errors };
    }
    // RFC 6749, section 5.2.
    if (typeof read.error_description === 'string') return { code: read.error, detail: read.error_description };
  } catch {
    // Falls through: what cannot be read is not from the service.
  }
  return { code: 'unexpected_answer', detail: `Something other than the service answered, with status ${status}.` };
}
