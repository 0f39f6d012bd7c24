import {
  describeFailure,
  isPermanent,
  parseJsonObject,
  sendRequest,
  TIMEOUT_MS,
} from '../../../kernel/outbound-http.ts';
import { DeliveryFault } from './message.ts';

const MOST_TEXT = 10_000;

export type Reply = { status: number; text: string; json: Record<string, unknown> };

// Nothing was written: the name, the connection or the certificate failed. Longer waits for a connection than undici's
// own 10 s do not occur.
const NOT_WRITTEN =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_(TLS|SSL)_\w+|UNABLE_TO_\w+)$|CERT/;

/**
 * One request to a provider, on a connection of its own: on one that was kept, nobody could tell a server that closed
 * it long ago from one that broke off after it had taken the request. Where nothing was written it is a passing fault;
 * no answer to a request leaves open what became of it.
 */
export async function post(
  url: string,
  request: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Reply> {
  try {
    const headers = { ...request.headers, connection: 'close' };
    const response = await sendRequest(url, { method: 'POST', headers, body: request.body }, signal, timeoutMs);
    // The status has told what became of it; a body that breaks off takes nothing back.
    const text = (await response.text().catch(() => '')).slice(0, MOST_TEXT);
    return { status: response.status, text, json: parseJsonObject(text) };
  } catch (error) {
    const { why, late, code } = describeFailure(error, timeoutMs);
    // Without a code it is fetch itself that would not begin, as on a port that it holds for unsafe.
    const unsure = signal.aborted || late || (!!code && !NOT_WRITTEN.test(code));
    throw new DeliveryFault(`The SMS provider could not be reached: ${why}.`, {
      permanent: false,
      unsure,
      cause: error,
    });
  }
}

export function refusal({ status }: Reply, reason: string): DeliveryFault {
  // A gateway in between that has waited in vain.
  const unsure = status === 504;
  return new DeliveryFault(`The SMS provider answered ${status}: ${reason}`, {
    permanent: isPermanent(status),
    unsure,
  });
}
