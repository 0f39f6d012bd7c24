import { CaseRecordsError, toError } from './errors.ts';
import type { PreparedRequest } from './request.ts';

export type ReceivedResponse = { status: number; headers: Headers; data: unknown };

type SendOptions = { fetch: typeof globalThis.fetch; timeoutMs: number; signal: AbortSignal | undefined };

/** Sends the request once and reads the whole response. */
export async function send(
  request: PreparedRequest,
  { fetch, timeoutMs, signal }: SendOptions,
): Promise<ReceivedResponse> {
  signal?.throwIfAborted();
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort);
  try {
    const { method, url, headers, body = null } = request;
    // Redirects are not followed, because that would turn a write into a read.
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal: abortController.signal });
    return parseResponse(response, await response.text());
  } catch (error) {
    if (error instanceof CaseRecordsError) throw error;
    signal?.throwIfAborted();
    throw abortController.signal.aborted
      ? new CaseRecordsError({
          code: 'timed_out',
          detail: `There was no response within ${timeoutMs} ms.`,
          cause: error,
        })
      : new CaseRecordsError({
          code: 'unreachable',
          detail: 'The connection failed or was lost.',
          cause: error,
        });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function parseResponse(response: Response, text: string): ReceivedResponse {
  const { status, headers } = response;
  if (status === 304) return { status, headers, data: undefined };
  if (!response.ok) throw toError(response, text);
  try {
    return { status, headers, data: JSON.parse(text) };
  } catch {
    throw toError(response, text);
  }
}
