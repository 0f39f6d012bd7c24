import type { Instant } from '../../../kernel/time/time.ts';

export const PROVIDERS = ['jitsi', 'zoom'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The details of a meeting that a provider receives. They must not contain anything about the client. */
export type Meeting = {
  /** Identifies the appointment: the same for every meeting that is ever created for it, and unique to it. */
  reference: string;
  company: string;
  start: Instant;
  end: Instant;
  timeZone: string;
};

/** The credentials of an adviser's account at a provider. */
export type Account = { accountId: string; clientId: string; clientSecret: string; host: string };

/** A meeting that exists at a provider: the provider's identifier and the link to join it. */
export type ProviderMeeting = { id: string; joinUrl: string };

/** Every call can be repeated safely. `account` is undefined for a provider that requires no credentials. */
export type MeetingProvider = {
  create(account: Account | undefined, meeting: Meeting, signal: AbortSignal): Promise<ProviderMeeting>;
  /** Throws MeetingGoneError if the meeting no longer exists at the provider. */
  update(
    account: Account | undefined,
    existing: ProviderMeeting,
    meeting: Meeting,
    signal: AbortSignal,
  ): Promise<ProviderMeeting>;
  /** Succeeds if the meeting does not exist. */
  remove(account: Account | undefined, id: string, signal: AbortSignal): Promise<void>;
  /** Returns every meeting with this reference, including those whose creation was never confirmed to us. */
  find(account: Account | undefined, reference: string, signal: AbortSignal): Promise<ProviderMeeting[]>;
};

type ErrorOptions = { permanent: boolean; uncertain?: boolean; retryAfter?: Instant | undefined; cause?: unknown };

/** Why a request to a provider failed. The company's staff can read the text, so it holds no secrets. */
export class MeetingError extends Error {
  /** The same request would be rejected again. */
  readonly permanent: boolean;
  /** The provider may have carried out the request. */
  readonly uncertain: boolean;
  /** The provider asked not to be called before this time. */
  readonly retryAfter: Instant | undefined;

  constructor(message: string, { permanent, uncertain = false, retryAfter, cause }: ErrorOptions) {
    super(message, { cause });
    this.permanent = permanent;
    this.uncertain = uncertain;
    this.retryAfter = retryAfter;
  }
}

/** The meeting was removed at the provider, for example by its host. */
export class MeetingGoneError extends Error {}
