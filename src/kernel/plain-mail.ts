import type { Instant } from './time/time.ts';

/** A mail that is about no appointment. */
export type PlainMail = {
  id: string;
  due: Instant;
  recipient: string;
  subject: string;
  text: string;
  html?: string;
  /** The service itself by default. A company without a sender address uses the one of the service. */
  sender?: { name: string; address: string | null; replyTo?: string | null };
};
