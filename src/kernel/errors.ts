/** The closed set of words a caller can branch on; `http/operation/problems.ts` gives each its status. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_token'
  | 'insufficient_scope'
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

/** Why one field of a request was refused. */
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

export class CodedError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];

  constructor(code: ErrorCode, message: string, faults: readonly Fault[] = [], cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.faults = faults;
  }
}

/** A value that its field does not take; `Form.read` gives it the field's name. */
export class InvalidValue extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function notFound(what: string): CodedError {
  return new CodedError('not_found', `There is no such ${what}.`);
}

/** A change that makes no sense in the state the record is in; `field` names that state. */
export const invalidState = (field: string, message: string): CodedError =>
  invalidRequest([{ field, code: 'invalid_state', message }]);

export function invalidRequest(faults: readonly Fault[]): CodedError {
  const fields = [...new Set(faults.map((fault) => fault.field))];
  const shown = fields.slice(0, 5).join(', ') + (fields.length > 5 ? ', …' : '');
  return new CodedError('invalid_request', `The request was refused because of: ${shown}.`, faults);
}
