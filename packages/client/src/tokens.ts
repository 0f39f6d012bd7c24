/** The source of bearer tokens. */
export type TokenSource = {
  current(): Promise<string>;
  /** Discards a token that the service refused. Returns whether another one can be requested. */
  invalidate(token: string): boolean;
};

export const staticToken = (token: string): TokenSource => ({
  current: async () => token,
  invalidate: () => false,
});

type TokenResponse = { access_token: string; expires_in: number };

/** A token is renewed this long before it expires, so that it does not expire in transit. */
const RENEWAL_MARGIN_MS = 30_000;

/** Access tokens of an API client. A token is fetched on demand, and concurrent calls share one fetch. */
export function renewingTokens(requestToken: () => Promise<TokenResponse>, now: () => number): TokenSource {
  let cached: { token: string; renewAt: number } | undefined;
  let pendingFetch: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const requestedAt = now();
    const { access_token: token, expires_in } = await requestToken();
    const lifetimeMs = expires_in * 1000;
    cached = { token, renewAt: requestedAt + lifetimeMs - Math.min(RENEWAL_MARGIN_MS, lifetimeMs / 2) };
    return token;
  }

  return {
    current: async () => {
      if (cached && now() < cached.renewAt) return cached.token;
      pendingFetch ??= fetchToken().finally(() => {
        pendingFetch = undefined;
      });
      return pendingFetch;
    },
    invalidate: (token) => {
      // Another call may already have fetched a new token.
      if (cached?.token === token) cached = undefined;
      return true;
    },
  };
}
