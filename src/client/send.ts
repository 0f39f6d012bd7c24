import { CaseRecordsError, refusalOf } from './errors.ts';
import type { PreparedRequest } from './request.ts';

export type Received = { status: number; headers: Headers; data: unknown };

type Limits = { fetch: typeof globalThis.fetch; timeoutMs: number; signal: AbortSignal | undefined };

/** One attempt, to the last byte of the answer. */
export async function exchange(request: PreparedRequest, { fetch, timeoutMs, signal }: Limits): Promise<Received> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const stop = () => limit.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    const { method, url, headers, body = null } = request;
    // Followed, a redirect would turn a write into a read.
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal: limit.signal });
    return received(response, await response.text());
  } catch (error) {
    if (error instanceof CaseRecordsError) throw error;
    signal?.throwIfAborted();
    throw limit.signal.aborted
      ? new CaseRecordsError({ code: 'timed_out', detail: `There was no answer within ${timeoutMs} ms.`, cause: error })
      : new CaseRecordsError({
          code: 'unreachable',
          detail: 'The connection could not be made, or broke.',
          cause: error,
        });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function received(response: Response, text: string): Received {
  const { status, headers } = response;
  if (status === 304) return { status, headers, data: undefined };
  if (!response.ok) throw refusalOf(response, text);
  try {
    return { status, headers, data: JSON.parse(text) };
  } catch {
    throw refusalOf(response, text);
  }
}
