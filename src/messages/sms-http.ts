import { DeliveryFault } from './outgoing.ts';

const TIMEOUT_MS = 15_000;
const MOST_TEXT = 10_000;

export type Reply = { status: number; text: string; json: Record<string, unknown> };

/** One request to a provider. No answer within the time, or a broken connection, is a passing fault. */
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
      ...request,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = (await response.text()).slice(0, MOST_TEXT);
    return { status: response.status, text, json: parse(text) };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } };
    const why = name === 'TimeoutError' ? `no answer within ${timeoutMs / 1000} s` : (cause?.code ?? message);
    throw new DeliveryFault(`The SMS provider could not be reached: ${why}.`, { permanent: false, cause: error });
  }
}

// What may go well the next time. A refused login is the operator's to mend, not the message's fault.
const PASSING = [401, 407, 408, 425, 429];

export function refusal({ status }: Reply, reason: string): DeliveryFault {
  const permanent = status >= 400 && status < 500 && !PASSING.includes(status);
  return new DeliveryFault(`The SMS provider answered ${status}: ${reason}`, { permanent });
}

function parse(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
