import {
  describeFailure,
  isPermanent,
  parseJsonObject,
  REQUEST_TIMEOUT_MS,
  sendRequest,
} from '../../../kernel/outbound-http.ts';
import { DeliveryError } from './message.ts';

const MAX_REPLY_LENGTH = 10_000;

type Reply = { status: number; text: string; json: Record<string, unknown> };

// Error codes of a failed name lookup, connection or TLS handshake: nothing was sent. A slow connection ends with
// undici's own timeout of 10 s, so it is among them.
const NOT_SENT_CODES = [
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/,
  /^(ERR_(TLS|SSL)_\w+|UNABLE_TO_\w+)$|CERT/,
];
const wasNotSent = (code: string) => NOT_SENT_CODES.some((pattern) => pattern.test(code));

/**
 * Sends one request to a provider on a new connection: when a reused one breaks, a server that had closed it long ago
 * looks like one that took the request and then failed. If nothing was sent the error is temporary; if the request was
 * sent and no response came, the error is uncertain.
 */
export async function post(
  url: string,
  request: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<Reply> {
  try {
    const headers = { ...request.headers, connection: 'close' };
    const response = await sendRequest(url, { method: 'POST', headers, body: request.body }, signal, timeoutMs);
    // The status decides, so a body that breaks off does not matter.
    const text = (await response.text().catch(() => '')).slice(0, MAX_REPLY_LENGTH);
    return { status: response.status, text, json: parseJsonObject(text) };
  } catch (error) {
    const { reason: why, timedOut: late, code } = describeFailure(error, timeoutMs);
    // An error without a code comes from fetch itself, which refused to start (a blocked port, for example).
    const uncertain = signal.aborted || late || (!!code && !wasNotSent(code));
    throw new DeliveryError(`The SMS provider could not be reached: ${why}.`, {
      permanent: false,
      uncertain,
      cause: error,
    });
  }
}

export function rejection({ status }: Reply, reason: string): DeliveryError {
  // 504 comes from a proxy that passed the request on and got no response.
  const uncertain = status === 504;
  return new DeliveryError(`The SMS provider answered ${status}: ${reason}`, {
    permanent: isPermanent(status),
    uncertain,
  });
}
