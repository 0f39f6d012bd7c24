import { DeliveryFault } from './outgoing.ts';

const TIMEOUT_MS = 15_000;
const MOST_TEXT = 10_000;

export type Reply = { status: number; text: string; json: Record<string, unknown> };

// Nothing was written: the name, the connection or the certificate failed. Longer waits for a connection than undici's
// own 10 s do not occur.
const NOT_WRITTEN =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_(TLS|SSL)_\w+|\w*CERT\w*|UNABLE_TO_\w+)$/;

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
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...request.headers, connection: 'close' },
      body: request.body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    // The status has told what became of it; a body that breaks off takes nothing back.
    const text = (await response.text().catch(() => '')).slice(0, MOST_TEXT);
    return { status: response.status, text, json: parse(text) };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } };
    const why = name === 'TimeoutError' ? `no answer within ${timeoutMs / 1000} s` : (cause?.code ?? message);
    // Without a code it is fetch itself that would not begin, as on a port that it holds for unsafe.
    const unsure = signal.aborted || name === 'TimeoutError' || (!!cause?.code && !NOT_WRITTEN.test(cause.code));
    throw new DeliveryFault(`The SMS provider could not be reached: ${why}.`, {
      permanent: false,
      unsure,
      cause: error,
    });
  }
}

// What may go well the next time. A refused login is the operator's to mend, not the message's fault.
const PASSING = [401, 407, 408, 425, 429];

export function refusal({ status }: Reply, reason: string): DeliveryFault {
  const permanent = status >= 400 && status < 500 && !PASSING.includes(status);
  // A gateway in between that has waited in vain.
  const unsure = status === 504;
  return new DeliveryFault(`The SMS provider answered ${status}: ${reason}`, { permanent, unsure });
}

function parse(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
