import type { Clock, Instant } from '../../../kernel/time/time.ts';
import { type Account, MeetingError } from './provider.ts';
import { rejection, sendToZoom, type ZoomReply } from './zoom-http.ts';

/** A token that expires while a request is in flight would be rejected, so it is replaced this much earlier. */
const EXPIRY_MARGIN_SECONDS = 60;
const MAX_CACHED_TOKENS = 1_000;

type Token = { value: string; expires: Instant };

/** Access tokens by server-to-server OAuth, cached for each account until shortly before they expire. */
export class ZoomTokens {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #timeoutMs: number | undefined;
  readonly #cache = new Map<string, Promise<Token>>();

  constructor(url: string, clock: Clock, timeoutMs: number | undefined) {
    this.#url = url;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  async get(account: Account, signal: AbortSignal): Promise<string> {
    const key = cacheKey(account);
    const cached = await this.#cache.get(key)?.catch(() => undefined);
    if (cached && Temporal.Instant.compare(cached.expires, this.#clock()) > 0) return cached.value;
    const fetched = this.#fetch(account, signal);
    if (this.#cache.size >= MAX_CACHED_TOKENS) this.#cache.clear();
    this.#cache.set(key, fetched);
    return (await fetched).value;
  }

  /** Removes a token that Zoom has rejected. A newer one that was fetched in the meantime stays. */
  async drop(account: Account, value: string): Promise<void> {
    const key = cacheKey(account);
    const cached = await this.#cache.get(key)?.catch(() => undefined);
    if (cached?.value === value) this.#cache.delete(key);
  }

  async #fetch({ accountId, clientId, clientSecret }: Account, signal: AbortSignal): Promise<Token> {
    const url = new URL(this.#url);
    url.searchParams.set('grant_type', 'account_credentials');
    url.searchParams.set('account_id', accountId);
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const requestedAt = this.#clock();
    const request = { method: 'POST', url, headers: { authorization } };
    const reply = await sendToZoom(request, this.#clock, signal, this.#timeoutMs).catch((error: MeetingError) => {
      throw new MeetingError(error.message, { permanent: false, cause: error });
    });
    const { access_token, expires_in } = reply.json;
    if (reply.status !== 200 || typeof access_token !== 'string') throw noToken(reply);
    const lifetime = typeof expires_in === 'number' ? Math.max(expires_in - EXPIRY_MARGIN_SECONDS, 0) : 0;
    return { value: access_token, expires: requestedAt.add({ seconds: Math.floor(lifetime) }) };
  }
}

/** Never permanent: wrong credentials can be corrected, so no meeting fails for good because of them. */
const noToken = (reply: ZoomReply): MeetingError =>
  new MeetingError(`No access token: ${rejection(reply).message}`, { permanent: false, retryAfter: reply.retryAfter });

const cacheKey = ({ accountId, clientId, clientSecret }: Account): string =>
  [accountId, clientId, clientSecret].join('\0');
