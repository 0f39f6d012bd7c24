import { UnavailableError } from '../errors.ts';

/** A deadline is a value of `performance.now()`; Infinity if there is none. */
export const isPast = (deadline: number): boolean => performance.now() > deadline;

export const deadlineError = (): UnavailableError =>
  new UnavailableError('The database answers too slowly to complete the request. Try again later.');

export function assertNotPast(deadline: number): void {
  if (isPast(deadline)) throw deadlineError();
}
