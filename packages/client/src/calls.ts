import { CaseRecordsError } from './errors.ts';
import type { Client } from './methods.ts';
import { OPERATIONS } from './operations.ts';
import { type Answer, nextPage } from './pages.ts';
import { type Operation, prepare, setHeader } from './request.ts';
import { type Pause, rejectOnAbort, retryDelay } from './retry-policy.ts';
import { type ReceivedResponse, send } from './send.ts';
import type { TokenSource } from './tokens.ts';
import type { Transport } from './transport.ts';

export type CallInput = { signal?: AbortSignal | undefined; [parameter: string]: unknown };
export type Call = (operation: Operation, input?: CallInput) => Promise<Answer<unknown>>;

type CallOptions = {
  base: URL;
  transport: Transport;
  /** Without tokens the browser sends the cookie of a session. */
  tokens?: TokenSource | undefined;
  /** Whether requests do not count as a use of the session. */
  isBackground: boolean;
  retries: number;
  timeoutMs: number;
  pause: Pause;
  now: () => number;
};

/** Returns what performs an operation: it sends the request, repeats it after a transient failure, and reads the answer. */
export const createCall =
  ({ base, transport, tokens, isBackground, retries, timeoutMs, pause, now }: CallOptions): Call =>
  async (operation, input = {}) => {
    const { signal } = input;
    const request = prepare(base, operation, input);
    if (isBackground) setHeader(request.headers, 'session-use', 'background');
    let tokenRenewed = false;
    for (let attempts = 1; ; attempts++) {
      const token = tokens && operation.bearer ? await rejectOnAbort(tokens.current(), signal) : undefined;
      if (token !== undefined) setHeader(request.headers, 'authorization', `Bearer ${token}`);
      try {
        return toAnswer(await send(request, { transport, timeoutMs, signal }));
      } catch (error) {
        if (!(error instanceof CaseRecordsError)) throw error;
        error.attempts = attempts;
        if (error.status === 401 && token !== undefined && !tokenRenewed && tokens?.invalidate(token)) {
          tokenRenewed = true;
          continue;
        }
        const delayMs = attempts > retries ? undefined : retryDelay(error, attempts, now());
        if (delayMs === undefined) throw error;
        await pause(delayMs, signal);
      }
    }
  };

export type Methods = Omit<Client, 'pages' | 'entries'>;

/** Returns one method for each operation of the service. */
export function toMethods(call: Call): Methods {
  const methods = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    (input?: CallInput) => call(operation, input),
  ]);
  return Object.fromEntries(methods);
}

function toAnswer({ status, headers, data }: ReceivedResponse): Answer<unknown> {
  const total = headers.get('x-total-count');
  return {
    data,
    status,
    etag: headers.get('etag') ?? undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    replayed: headers.get('idempotency-replayed') === 'true',
    total: total === null ? undefined : Number(total),
    next: nextPage(headers.get('link') ?? ''),
  };
}
