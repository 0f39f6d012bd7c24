import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connectToPublicHost, NoResponseError, type OutboundPolicy } from './public-connect.ts';

export type PostTimeouts = { headersMs: number; totalMs: number };
export type PostOptions = OutboundPolicy & { timeouts?: PostTimeouts };
type PostRequest = { headers: Record<string, string>; body: string };
type PostResponse = { status: number; retryAfter: string | undefined; text: string };

const DEFAULT_TIMEOUTS: PostTimeouts = { headersMs: 10_000, totalMs: 20_000 };
const MAX_RESPONSE_BYTES = 65_536;

/**
 * Sends one request over a new connection. Redirects are not followed: their status is returned like any other. Throws
 * a `NoResponseError` if there was no response, and the reason of `signal` if that was aborted.
 */
export async function post(
  url: URL,
  request: PostRequest,
  options: PostOptions,
  signal: AbortSignal,
): Promise<PostResponse> {
  const { headersMs, totalMs } = options.timeouts ?? DEFAULT_TIMEOUTS;
  const timeout = new AbortController();
  const onTimeout = () => timeout.abort(new NoResponseError(`No answer within ${headersMs / 1000} s.`));
  const timer = setTimeout(onTimeout, headersMs);
  const startedAt = performance.now();
  const headersSignal = AbortSignal.any([signal, timeout.signal]);
  let socket: Socket | undefined;
  try {
    socket = await connectToPublicHost(url, options, headersSignal);
    const response = await sendOverSocket(socket, url, request, headersSignal);
    clearTimeout(timer);
    const remainingMs = Math.max(1, Math.ceil(totalMs - (performance.now() - startedAt)));
    const text = await readBodyStart(response, AbortSignal.any([signal, AbortSignal.timeout(remainingMs)]));
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text };
  } catch (error) {
    headersSignal.throwIfAborted();
    throw error instanceof NoResponseError
      ? error
      : new NoResponseError(describeSocketError(error as NodeJS.ErrnoException));
  } finally {
    clearTimeout(timer);
    socket?.on('error', () => {});
    socket?.destroy();
  }
}

async function sendOverSocket(socket: Socket, url: URL, { headers, body }: PostRequest, signal: AbortSignal) {
  const request = httpRequest({
    method: 'POST',
    path: url.pathname + url.search,
    headers: { host: url.host, ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
    createConnection: () => socket,
  });
  // An error after `once` has settled would otherwise end the process.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
  return response;
}

/** Returns what arrived of the body. The status counts even if the rest of the body never comes. */
async function readBodyStart(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = () => response.destroy();
  signal.addEventListener('abort', stop);
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The connection broke or the time was up: the part that arrived is enough.
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString('utf8');
}

const describeSocketError = ({ name, code, message }: NodeJS.ErrnoException): string =>
  name === 'AbortError' || name === 'TimeoutError'
    ? 'The connection could not be opened in time.'
    : `The connection failed: ${code ?? message}.`;
