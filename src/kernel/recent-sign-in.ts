import type { Session } from './context.ts';
import { RecentSignInRequiredError } from './errors.ts';
import type { Clock } from './time/time.ts';

/** For how long a sign-in counts as recent. */
const RECENT_MS = 5 * 60_000;

/**
 * Throws if a signed-in person has not signed in during the last minutes. Other callers pass, and so does a person who is
 * only setting up ways to sign in, who may take an hour for it.
 */
export function assertRecentSignIn(session: Session | undefined, clock: Clock): void {
  if (!session || session.purpose === 'enrolment') return;
  if (clock().epochMilliseconds - session.startedMs <= RECENT_MS) return;
  throw new RecentSignInRequiredError('Sign in again: this needs a sign-in during the last five minutes.');
}
