import { CaseRecordsError } from './errors.ts';
import type { Client, ClientOptions } from './methods.ts';
import { OPERATIONS, type Operations } from './operations.ts';
import { type Answer, entries, nextPage, pages } from './pages.ts';
import { type Operation, prepare, setHeader } from './request.ts';
import { DEFAULT_RETRIES, pause as defaultPause, rejectOnAbort, retryDelay } from './retry-policy.ts';
import { type ReceivedResponse, send } from './send.ts';
import { renewingTokens, staticToken, type TokenSource } from './tokens.ts';
import { fetchTransport, platformTransport } from './transport.ts';

type CallInput = { signal?: AbortSignal | undefined; [parameter: string]: unknown };

/** Creates a client with one method for each operation of the service. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, retries = DEFAULT_RETRIES, timeoutMs = 30_000, pause = defaultPause, now = Date.now } = options;
  requireOptions(options);
  const base = new URL(baseUrl);
  const transport = options.fetch ? fetchTransport(options.fetch) : platformTransport();
  const tokens = tokensOf(options);

  function tokensOf(source: ClientOptions): TokenSource | undefined {
    if ('session' in source) return undefined;
    if ('token' in source) return staticToken(source.token);
    return renewingTokens(async () => {
      const body = { client_id: source.clientId, client_secret: source.clientSecret };
      const grant = { body: { grant_type: 'client_credentials', ...body } };
      const { data } = await call(OPERATIONS.createAccessToken, grant);
      return data as Operations['createAccessToken']['answer'];
    }, now);
  }

  async function call(operation: Operation, input: CallInput = {}): Promise<Answer<unknown>> {
    const { signal } = input;
    const request = prepare(base, operation, input);
    if ('session' in options && options.session === 'background')
      setHeader(request.headers, 'session-use', 'background');
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
  }

  const methods = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    (input?: CallInput) => call(operation, input),
  ]);
  return { ...Object.fromEntries(methods), pages, entries };
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

/** A caller without TypeScript would otherwise get an error of the first request, or of the service. */
function requireOptions(options: ClientOptions): void {
  const { baseUrl, token, clientId, clientSecret, session } = options as Record<string, unknown>;
  if (typeof baseUrl !== 'string' || !/^https?:\/\/[^/]/.test(baseUrl)) {
    throw new TypeError('createClient: baseUrl must be a URL such as https://records.example');
  }
  if (!token && !(clientId && clientSecret) && session !== true && session !== 'background') {
    throw new TypeError('createClient: token is missing, or clientId and clientSecret, or session');
  }
}
