export const REQUEST_TIMEOUT_MS = 15_000;

// A retry may succeed. After a rejected login it does when the company or the operator has corrected the credentials.
const TRANSIENT_STATUSES = [401, 407, 408, 425, 429];

/** Sends one request to a provider. Redirects are not followed. */
export const sendRequest = (url: string | URL, request: RequestInit, signal: AbortSignal, timeoutMs: number) =>
  fetch(url, { redirect: 'manual', ...request, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });

/** Describes a request that got no response. `code` is the system's error code, if it has one. */
export function describeFailure(error: unknown, timeoutMs: number) {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  const timedOut = name === 'TimeoutError';
  const reason = timedOut ? `no answer within ${timeoutMs / 1000} s` : (cause?.code ?? message);
  return { timedOut, code: cause?.code, reason };
}

/** Whether the same request would be rejected again. */
export const isPermanent = (status: number): boolean =>
  status >= 400 && status < 500 && !TRANSIENT_STATUSES.includes(status);

/** Parses the body of a response; returns an empty object if it is not a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
