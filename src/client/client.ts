import { CaseRecordsError } from './errors.ts';
import type { Client, ClientOptions } from './methods.ts';
import { OPERATIONS, type Operations } from './operations.ts';
import { type Answer, entries, nextPage, pages } from './pages.ts';
import { type Operation, prepare } from './request.ts';
import { pause as defaultPause, retryDelay, unlessAborted } from './retry-policy.ts';
import { exchange, type Received } from './send.ts';
import { fixedToken, renewedTokens } from './tokens.ts';

type Input = { signal?: AbortSignal | undefined; [parameter: string]: unknown };

/** A method for every operation of the service. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, retries = 4, timeoutMs = 30_000, pause = defaultPause, now = Date.now } = options;
  // Browsers want it called on its own, not as a method of something else.
  const fetch: typeof globalThis.fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  const tokens =
    'token' in options
      ? fixedToken(options.token)
      : renewedTokens(async () => {
          const body = { client_id: options.clientId, client_secret: options.clientSecret };
          const grant = { body: { grant_type: 'client_credentials', ...body } };
          const { data } = await call(OPERATIONS.createAccessToken, grant);
          return data as Operations['createAccessToken']['answer'];
        }, now);

  async function call(operation: Operation, input: Input = {}): Promise<Answer<unknown>> {
    const { signal } = input;
    const request = prepare(baseUrl, operation, input);
    let renewed = false;
    for (let attempts = 1; ; attempts++) {
      const token = operation.bearer ? await unlessAborted(tokens.current(), signal) : undefined;
      if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
      try {
        return answerOf(await exchange(request, { fetch, timeoutMs, signal }));
      } catch (error) {
        if (!(error instanceof CaseRecordsError)) throw error;
        error.attempts = attempts;
        if (error.status === 401 && token !== undefined && !renewed && tokens.refused(token)) {
          renewed = true;
          continue;
        }
        const ms = attempts > retries ? undefined : retryDelay(error, attempts, now());
        if (ms === undefined) throw error;
        await pause(ms, signal);
      }
    }
  }

  const methods = Object.entries(OPERATIONS).map(([id, operation]) => [id, (input?: Input) => call(operation, input)]);
  return { ...Object.fromEntries(methods), pages, entries };
}

function answerOf({ status, headers, data }: Received): Answer<unknown> {
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
