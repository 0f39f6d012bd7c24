import { UnavailableError } from '../errors.ts';

/** A deadline is a value of `performance.now()`; Infinity if there is none. */
export const isPast = (deadline: number): boolean => performance.now() > deadline;

export const deadlineError = (cause?: unknown): UnavailableError =>
  new UnavailableError('The database answers too slowly to complete the request. Try again later.', cause);

export function assertNotPast(deadline: number): void {
  if (isPast(deadline)) throw deadlineError();
}
