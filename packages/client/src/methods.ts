import type { Operations } from './operations.ts';
import type { Answer, entries, pages } from './pages.ts';
import type { Pause } from './retry-policy.ts';

export type ClientOptions = {
  /** The URL of the service, such as https://records.example */
  baseUrl: string;
  /** Maximum retries of a failed request; 4 by default. */
  retries?: number;
  /** Time limit of each attempt, up to the last byte of the response; 30 seconds by default. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
  /** Waits between two attempts; tests pass a function that returns immediately. */
  pause?: Pause;
  /** Returns the current time in milliseconds since 1970, to tell when a token expires. */
  now?: () => number;
} & (
  | { token: string }
  | { clientId: string; clientSecret: string }
  /**
   * In a page of the service itself: its cookie names the person who has signed in. Requests with `background`, which the
   * page makes without the person, do not keep the session from ending.
   */
  | { session: true | 'background' }
);

type AbortOption = {
  /** Aborts the call, also between attempts. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** One argument, which is optional if none of its fields is required. */
type MethodArguments<Input> =
  Partial<Input> extends Input ? [input?: Input & AbortOption] : [input: Input & AbortOption];

/** The record has not changed since the ETag that was sent. */
export type NotModified = Omit<Answer<undefined>, 'status'> & { status: 304 };

/** Only a call with `ifNoneMatch` can return NotModified. */
type ConditionalMethod<Input, Data> = {
  (...input: MethodArguments<Omit<Input, 'ifNoneMatch'> & { ifNoneMatch?: undefined }>): Promise<Answer<Data>>;
  (...input: MethodArguments<Input>): Promise<Answer<Data> | NotModified>;
};

type Method<Input, Data> = 'ifNoneMatch' extends keyof Input
  ? ConditionalMethod<Input, Data>
  : (...input: MethodArguments<Input>) => Promise<Answer<Data>>;

export type Client = {
  [Id in keyof Operations]: Method<Operations[Id]['input'], Operations[Id]['answer']>;
} & { pages: typeof pages; entries: typeof entries };
