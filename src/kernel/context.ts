import type { Executor } from './database/database.ts';
import type { Clock } from './time/time.ts';

export type Company = {
  id: string;
  timeZone: string;
  phoneRegion: string;
  terms: string;
  paymentTerms: string;
  reminderLeadDays: number;
  /** The key under which the ids of its events are encrypted. */
  eventKey: Buffer;
  /** Whether it has webhook endpoints that receive its events. */
  webhooks: boolean;
};

/** Who sent a request: an API key, an API client (an access token counts as its client), or a user who signed in. */
export type Credential = { type: 'key' | 'client' | 'user'; id: string; name: string };

/** The primary key of the row of a token or a session. An access token has its own, other than its client's. */
type TokenKey = { companyId: string; id: string; type?: 'session' };

/** How a person is signed in. With the purpose `enrolment`, the person may only set up ways to sign in. */
export type Session = { purpose: 'full' | 'enrolment'; startedMs: number };

/** The company and the credential that a token belongs to, and what it may do now. */
export type Caller = {
  company: Company;
  credential: Credential;
  token: TokenKey;
  scopes: ReadonlySet<string>;
  /** Of a user only. */
  session?: Session;
};

/** What a verb works with: the company, the database, the clock, and the origin of the request. */
export type Context = {
  company: Company;
  db: Executor;
  clock: Clock;
} & RequestOrigin;

/**
 * The credential of the request and the scopes that it can grant. They are undefined for the command line, which can
 * grant all.
 */
export type RequestOrigin = {
  credential?: Credential | undefined;
  token?: TokenKey | undefined;
  scopes?: ReadonlySet<string> | undefined;
  session?: Session | undefined;
  requestId?: string | undefined;
};
