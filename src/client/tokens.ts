/** Where the token of a request comes from. */
export type Tokens = {
  current(): Promise<string>;
  /** The service has refused this one. Says whether another can be had. */
  refused(token: string): boolean;
};

export const fixedToken = (token: string): Tokens => ({
  current: async () => token,
  refused: () => false,
});

type Granted = { access_token: string; expires_in: number };

/** Before its end, lest it ends on the way. */
const RENEWED_BEFORE_MS = 30_000;

/** Access tokens of an API client: one is fetched when it is needed, and all who wait share the fetch. */
export function renewedTokens(grant: () => Promise<Granted>, now: () => number): Tokens {
  let held: { token: string; until: number } | undefined;
  let coming: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const asked = now();
    const { access_token: token, expires_in } = await grant();
    const life = expires_in * 1000;
    held = { token, until: asked + life - Math.min(RENEWED_BEFORE_MS, life / 2) };
    return token;
  }

  return {
    current: async () => {
      if (held && now() < held.until) return held.token;
      coming ??= fetchToken().finally(() => {
        coming = undefined;
      });
      return coming;
    },
    refused: (token) => {
      // Another call may have fetched a new one already.
      if (held?.token === token) held = undefined;
      return true;
    },
  };
}
