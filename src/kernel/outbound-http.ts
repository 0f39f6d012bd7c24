/** Requests to other people's services: what is the same for all of them. */

export const TIMEOUT_MS = 15_000;

// What may go well the next time. A refused login is for the firm or the operator to mend.
const TRANSIENT_STATUSES = [401, 407, 408, 425, 429];

/** One request, given up when `signal` says so or the time is over. A redirection is an answer like any other. */
export const sendRequest = (url: string | URL, request: RequestInit, signal: AbortSignal, timeoutMs: number) =>
  fetch(url, { redirect: 'manual', ...request, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });

/** Why there was no answer, for people; and the system's code, where it has one. */
export function describeFailure(error: unknown, timeoutMs: number) {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  const late = name === 'TimeoutError';
  return { late, code: cause?.code, why: late ? `no answer within ${timeoutMs / 1000} s` : (cause?.code ?? message) };
}

/** Whether the same request would be refused again. */
export const isPermanent = (status: number): boolean =>
  status >= 400 && status < 500 && !TRANSIENT_STATUSES.includes(status);

/** The JSON object that an answer holds; an empty one where it holds none. */
export function parseJsonObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
