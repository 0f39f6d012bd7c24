import {
  describeFailure,
  isPermanent,
  parseJsonObject,
  sendRequest,
  TIMEOUT_MS,
} from '../../../kernel/outbound-http.ts';
import type { Clock, Instant } from '../../../kernel/time/time.ts';
import { MeetingFault } from './provider.ts';

const MOST_TEXT = 1_000_000;
const LONGEST_REASON = 300;

export type Request = { method: string; url: URL; headers: Record<string, string>; body?: object };
export type Reply = { status: number; json: Record<string, unknown>; retryAfter: Instant | undefined };

/** One request to Zoom. No answer within the time, or a broken connection, is a passing fault. */
export async function exchange(
  { method, url, headers, body }: Request,
  clock: Clock,
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Reply> {
  try {
    const request = {
      method,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    const response = await sendRequest(url, request, signal, timeoutMs);
    const json = parseJsonObject((await response.text()).slice(0, MOST_TEXT));
    return { status: response.status, json, retryAfter: readRetryAfter(response.headers.get('retry-after'), clock()) };
  } catch (error) {
    const { why } = describeFailure(error, timeoutMs);
    throw new MeetingFault(`Zoom could not be reached: ${why}.`, { permanent: false, unsure: true, cause: error });
  }
}

/** Zoom says why with `code` and `message`, its token address with `reason` or `error`. */
export function refusal({ status, json, retryAfter }: Reply): MeetingFault {
  const reason = String(json.message ?? json.reason ?? json.error ?? 'no reason given').slice(0, LONGEST_REASON);
  const code = typeof json.code === 'number' ? ` (${json.code})` : '';
  return new MeetingFault(`Zoom answered ${status}: ${reason}${code}`, {
    permanent: isPermanent(status),
    // Whoever answers 5xx, or with something that is no answer, may have done what was asked.
    unsure: status < 400 || status >= 500,
    retryAfter,
  });
}

/** Seconds, or a time: HTTP's own form, or the ISO form that Zoom gives for its daily limits. */
function readRetryAfter(text: string | null, now: Instant): Instant | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return now.add({ seconds: Number(text) });
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Temporal.Instant.fromEpochMilliseconds(time);
}
