import type { Clock, Instant } from '../../../kernel/time/time.ts';
import { type Account, MeetingFault } from './provider.ts';
import { exchange, type Reply, refusal } from './zoom-http.ts';

// A token that ends while a request is on its way is refused: it is given up a little before.
const EARLY_SECONDS = 60;
const MOST_KEPT = 1_000;

type Token = { value: string; until: Instant };

/** Access tokens by server-to-server OAuth, one per account, kept until shortly before they end. */
export class ZoomTokens {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #timeoutMs: number | undefined;
  readonly #kept = new Map<string, Promise<Token>>();

  constructor(url: string, clock: Clock, timeoutMs: number | undefined) {
    this.#url = url;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  async get(account: Account, signal: AbortSignal): Promise<string> {
    const key = keyOf(account);
    const kept = await this.#kept.get(key)?.catch(() => undefined);
    if (kept && Temporal.Instant.compare(kept.until, this.#clock()) > 0) return kept.value;
    const fetched = this.#fetch(account, signal);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, fetched);
    return (await fetched).value;
  }

  /** Zoom does not take it any more. Another that has been fetched meanwhile stays. */
  async drop(account: Account, value: string): Promise<void> {
    const kept = await this.#kept.get(keyOf(account))?.catch(() => undefined);
    if (kept?.value === value) this.#kept.delete(keyOf(account));
  }

  async #fetch({ accountId, clientId, clientSecret }: Account, signal: AbortSignal): Promise<Token> {
    const url = new URL(this.#url);
    url.searchParams.set('grant_type', 'account_credentials');
    url.searchParams.set('account_id', accountId);
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const asked = this.#clock();
    const request = { method: 'POST', url, headers: { authorization } };
    const reply = await exchange(request, this.#clock, signal, this.#timeoutMs).catch((error: MeetingFault) => {
      throw new MeetingFault(error.message, { permanent: false, cause: error });
    });
    const { access_token, expires_in } = reply.json;
    if (reply.status !== 200 || typeof access_token !== 'string') throw noToken(reply);
    const lives = typeof expires_in === 'number' ? Math.max(expires_in - EARLY_SECONDS, 0) : 0;
    return { value: access_token, until: asked.add({ seconds: Math.floor(lives) }) };
  }
}

/** Credentials that are refused can be mended: no meeting is given up because of them. */
const noToken = (reply: Reply): MeetingFault =>
  new MeetingFault(`No access token: ${refusal(reply).message}`, { permanent: false, retryAfter: reply.retryAfter });

const keyOf = ({ accountId, clientId, clientSecret }: Account): string =>
  [accountId, clientId, clientSecret].join('\0');
