import type { Instant } from '../../../kernel/time/time.ts';

export const PROVIDERS = ['jitsi', 'zoom'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** What a provider is told of a meeting. Nothing in it is about the client. */
export type Meeting = {
  /** The same for every meeting that is ever made for an appointment, and for no other's. */
  reference: string;
  company: string;
  start: Instant;
  end: Instant;
  timeZone: string;
};

/** With what a provider is reached; one that asks for no credentials has none. */
export type Account = { accountId: string; clientId: string; clientSecret: string; host: string };

/** What the provider calls it, and where it is joined. */
export type Made = { id: string; joinUrl: string };

/** Every call may be repeated. `account` is undefined where the provider asks for none. */
export type MeetingProvider = {
  create(account: Account | undefined, meeting: Meeting, signal: AbortSignal): Promise<Made>;
  /** Throws `MeetingGone` where it is no longer there. */
  update(account: Account | undefined, made: Made, meeting: Meeting, signal: AbortSignal): Promise<Made>;
  /** One that is not there counts as removed. */
  remove(account: Account | undefined, id: string, signal: AbortSignal): Promise<void>;
  /** Every meeting with this reference: what a lost answer may have left behind. */
  find(account: Account | undefined, reference: string, signal: AbortSignal): Promise<Made[]>;
};

type FaultOptions = { permanent: boolean; unsure?: boolean; retryAfter?: Instant | undefined; cause?: unknown };

/** Why a step could not be done; the text is for the firm's people and holds no secrets. */
export class MeetingFault extends Error {
  /** The same request would be refused again. */
  readonly permanent: boolean;
  /** The provider may have done it all the same. */
  readonly unsure: boolean;
  /** Not to be asked before. */
  readonly retryAfter: Instant | undefined;

  constructor(message: string, { permanent, unsure = false, retryAfter, cause }: FaultOptions) {
    super(message, { cause });
    this.permanent = permanent;
    this.unsure = unsure;
    this.retryAfter = retryAfter;
  }
}

/** Somebody has removed it at the provider. */
export class MeetingGone extends Error {}
