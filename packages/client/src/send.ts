import { CaseRecordsError, toError } from './errors.ts';
import type { PreparedRequest } from './request.ts';
import type { HttpResponse, Transport } from './transport.ts';

export type ReceivedResponse = { status: number; headers: HttpResponse['headers']; data: unknown };

type SendOptions = { transport: Transport; timeoutMs: number; signal: AbortSignal | undefined };

/** Sends the request once and reads the whole response. */
export async function send(
  request: PreparedRequest,
  { transport, timeoutMs, signal }: SendOptions,
): Promise<ReceivedResponse> {
  signal?.throwIfAborted();
  const exchange = transport(request);
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
    exchange.cancel();
  };
  const timer = setTimeout(cancel, timeoutMs);
  signal?.addEventListener('abort', cancel);
  try {
    const response = await exchange.response;
    return parseResponse(response, await response.text());
  } catch (error) {
    if (error instanceof CaseRecordsError) throw error;
    signal?.throwIfAborted();
    throw cancelled
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
    signal?.removeEventListener('abort', cancel);
  }
}

function parseResponse(response: HttpResponse, text: string): ReceivedResponse {
  const { status, headers } = response;
  if (status === 304) return { status, headers, data: undefined };
  if (!response.ok) throw toError(response, text);
  if (headers.get('content-type')?.startsWith('text/csv')) return { status, headers, data: text };
  try {
    return { status, headers, data: JSON.parse(text) };
  } catch {
    throw toError(response, text);
  }
}
