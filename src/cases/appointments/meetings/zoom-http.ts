import {
  describeFailure,
  isPermanent,
  parseJsonObject,
  REQUEST_TIMEOUT_MS,
  sendRequest,
} from '../../../kernel/outbound-http.ts';
import type { Clock, Instant } from '../../../kernel/time/time.ts';
import { MeetingError } from './provider.ts';

const MAX_REPLY_LENGTH = 1_000_000;
const MAX_REASON_LENGTH = 300;

type ZoomRequest = { method: string; url: URL; headers: Record<string, string>; body?: object };
export type ZoomReply = { status: number; json: Record<string, unknown>; retryAfter: Instant | undefined };

/** Sends one request to Zoom. A timeout or a broken connection is a temporary, uncertain error. */
export async function sendToZoom(
  { method, url, headers, body }: ZoomRequest,
  clock: Clock,
  signal: AbortSignal,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<ZoomReply> {
  try {
    const request = {
      method,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    const response = await sendRequest(url, request, signal, timeoutMs);
    const json = parseJsonObject((await response.text()).slice(0, MAX_REPLY_LENGTH));
    const retryAfter = parseRetryAfter(response.headers.get('retry-after'), clock());
    return { status: response.status, json, retryAfter };
  } catch (error) {
    const { reason: why } = describeFailure(error, timeoutMs);
    throw new MeetingError(`Zoom could not be reached: ${why}.`, { permanent: false, uncertain: true, cause: error });
  }
}

/** Zoom's API gives its reason in `message` and `code`, the token endpoint in `reason` or `error`. */
export function rejection({ status, json, retryAfter }: ZoomReply): MeetingError {
  const reason = String(json.message ?? json.reason ?? json.error ?? 'no reason given').slice(0, MAX_REASON_LENGTH);
  const code = typeof json.code === 'number' ? ` (${json.code})` : '';
  return new MeetingError(`Zoom answered ${status}: ${reason}${code}`, {
    permanent: isPermanent(status),
    // Only a 4xx says clearly that the request was not carried out.
    uncertain: status < 400 || status >= 500,
    retryAfter,
  });
}

/** Retry-After holds seconds or an HTTP date; Zoom sends an ISO date for its daily limits. */
function parseRetryAfter(text: string | null, now: Instant): Instant | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return now.add({ seconds: Number(text) });
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Temporal.Instant.fromEpochMilliseconds(time);
}
