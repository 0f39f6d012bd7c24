/** The closed set of codes that a caller can branch on; `http/operation/problems.ts` has the status of each. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'cross_origin'
  | 'recent_sign_in_required'
  | 'sign_in_failed'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_in_progress'
  | 'idempotency_key_reused'
  | 'precondition_failed'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'too_many_attempts'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

/** Why one field of a request was rejected. */
export type FaultCode =
  | 'required'
  | 'type'
  | 'format'
  | 'not_allowed'
  | 'too_short'
  | 'too_long'
  | 'too_many'
  | 'out_of_range'
  | 'invalid_character'
  | 'unknown'
  | 'taken'
  | 'duplicate'
  | 'not_after_start'
  | 'invalid_state';

export type Fault = { field: string; code: FaultCode; message: string };

/** An error whose code and message are shown to the caller. */
export abstract class CodedError extends Error {
  abstract readonly code: ErrorCode;
  readonly faults: readonly Fault[] = [];

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

export class InvalidRequestError extends CodedError {
  readonly code = 'invalid_request';
  override readonly faults: readonly Fault[];

  constructor(message: string, faults: readonly Fault[]) {
    super(message);
    this.faults = faults;
  }
}

export class InvalidTokenError extends CodedError {
  readonly code = 'invalid_token';
}

export class InsufficientScopeError extends CodedError {
  readonly code = 'insufficient_scope';
}

/** A request with a cookie that a page of another origin may have caused. */
export class CrossOriginError extends CodedError {
  readonly code = 'cross_origin';
}

/** The response does not say what was wrong, because that would help a stranger. */
export class SignInFailedError extends CodedError {
  readonly code = 'sign_in_failed';
}

/** The person has to sign in again before this operation. */
export class RecentSignInRequiredError extends CodedError {
  readonly code = 'recent_sign_in_required';
}

export class NotFoundError extends CodedError {
  readonly code = 'not_found';
}

export class MethodNotAllowedError extends CodedError {
  readonly code = 'method_not_allowed';
}

export class RequestInProgressError extends CodedError {
  readonly code = 'request_in_progress';
}

export class IdempotencyKeyReusedError extends CodedError {
  readonly code = 'idempotency_key_reused';
}

export class PreconditionFailedError extends CodedError {
  readonly code = 'precondition_failed';
}

export class BodyTooLargeError extends CodedError {
  readonly code = 'body_too_large';
}

export class UnsupportedMediaTypeError extends CodedError {
  readonly code = 'unsupported_media_type';
}

export class TooManyAttemptsError extends CodedError {
  readonly code = 'too_many_attempts';
  readonly waitSeconds: number;

  constructor(message: string, waitSeconds: number) {
    super(message);
    this.waitSeconds = waitSeconds;
  }
}

export class RateLimitedError extends CodedError {
  readonly code = 'rate_limited';
}

/** The request may succeed if it is sent again later. */
export class UnavailableError extends CodedError {
  readonly code = 'unavailable';
}

export class InternalError extends CodedError {
  readonly code = 'internal';
}

/** A field does not accept the value. `Form.read` catches the error and adds the name of the field. */
export class InvalidValue extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** `noun` is what was looked for, such as "invoice". */
export const notFound = (noun: string): NotFoundError => new NotFoundError(`There is no such ${noun}.`);

/** The record's state does not allow the change; `field` names the state. */
export const invalidState = (field: string, message: string): InvalidRequestError =>
  invalidRequest([{ field, code: 'invalid_state', message }]);

const MAX_FIELDS_NAMED = 5;

export function invalidRequest(faults: readonly Fault[]): InvalidRequestError {
  const fields = [...new Set(faults.map((fault) => fault.field))];
  const named = fields.slice(0, MAX_FIELDS_NAMED).join(', ') + (fields.length > MAX_FIELDS_NAMED ? ', …' : '');
  return new InvalidRequestError(`The request was refused because of: ${named}.`, faults);
}
