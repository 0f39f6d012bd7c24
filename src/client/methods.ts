import type { Operations } from './operations.ts';
import type { Answer, entries, pages } from './pages.ts';
import type { Pause } from './retry-policy.ts';

export type ClientOptions = {
  /** Where the service is: https://records.example */
  baseUrl: string;
  /** How often a request is sent again after it failed; 4 by default. */
  retries?: number;
  /** For each attempt, to the end of its answer; 30 seconds by default. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
  /** How the time between two attempts is spent; a test passes one that does not wait. */
  pause?: Pause;
  /** Milliseconds since 1970, to know when a token ends. */
  now?: () => number;
} & ({ token: string } | { clientId: string; clientSecret: string });

type Signal = {
  /** Ends the call, between attempts too; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/** One argument, which may be left out where nothing in it is required. */
type Arguments<Input> = Partial<Input> extends Input ? [input?: Input & Signal] : [input: Input & Signal];

/** The reader's copy is still the record. */
export type NotModified = Omit<Answer<undefined>, 'status'> & { status: 304 };

/** Only who sends an ETag along can be told that nothing has changed. */
type Read<Input, Data> = {
  (...input: Arguments<Omit<Input, 'ifNoneMatch'> & { ifNoneMatch?: undefined }>): Promise<Answer<Data>>;
  (...input: Arguments<Input>): Promise<Answer<Data> | NotModified>;
};

type Method<Input, Data> = 'ifNoneMatch' extends keyof Input
  ? Read<Input, Data>
  : (...input: Arguments<Input>) => Promise<Answer<Data>>;

export type Client = {
  [Id in keyof Operations]: Method<Operations[Id]['input'], Operations[Id]['answer']>;
} & { pages: typeof pages; entries: typeof entries };
