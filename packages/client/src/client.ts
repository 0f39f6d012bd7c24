import { createCall, toMethods } from './calls.ts';
import type { Client, ClientOptions } from './methods.ts';
import { OPERATIONS, type Operations } from './operations.ts';
import { entries, pages } from './pages.ts';
import { DEFAULT_RETRIES, pause as defaultPause } from './retry-policy.ts';
import { renewingTokens, staticToken, type TokenSource } from './tokens.ts';
import { fetchTransport, platformTransport } from './transport.ts';

/** Creates a client with one method for each operation of the service. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, retries = DEFAULT_RETRIES, timeoutMs = 30_000, pause = defaultPause, now = Date.now } = options;
  requireOptions(options);
  const base = new URL(baseUrl);
  const transport = options.fetch ? fetchTransport(options.fetch) : platformTransport();
  const isBackground = 'session' in options && options.session === 'background';
  const call = createCall({ base, transport, tokens: tokensOf(options), isBackground, retries, timeoutMs, pause, now });
  return { ...toMethods(call), pages, entries };

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
