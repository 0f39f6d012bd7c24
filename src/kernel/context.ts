import type { Executor } from './database/database.ts';
import type { Clock } from './time/time.ts';

export type Company = {
  id: string;
  timeZone: string;
  phoneRegion: string;
  terms: string;
  paymentTerms: string;
  reminderLeadDays: number;
  /** Ids of its events are made under it. */
  eventKey: Buffer;
  /** Whether anybody is to be sent its events. */
  webhooks: boolean;
};

/** The key or the API client that a request came with; an access token counts as its client. */
export type Credential = { type: 'key' | 'client'; id: string; name: string };

/** The key of a token's row. Of an access token it is the token's own, not that of its client. */
export type TokenKey = { companyId: string; id: string };

/** Whom a token speaks for, and what it may do at this moment. */
export type Caller = { company: Company; credential: Credential; token: TokenKey; scopes: ReadonlySet<string> };

/** What a verb works with: whose records, what time it is, and the database. */
export type Context = {
  company: Company;
  db: Executor;
  clock: Clock;
} & RequestOrigin;

/** Who asks, in which request, and which scopes it can give to others; without them, whoever runs the service, who can give all. */
export type RequestOrigin = {
  credential?: Credential | undefined;
  token?: TokenKey | undefined;
  scopes?: ReadonlySet<string> | undefined;
  requestId?: string | undefined;
};
