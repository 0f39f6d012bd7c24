import { once } from 'node:events';
import { type IncomingMessage, request as requestOver } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type Reach, Unanswered } from './public-connect.ts';

/** One request to a receiver, over a connection of its own. A redirection is an answer like any other. */

export type Times = { headersMs: number; totalMs: number };
export type Sent = { headers: Record<string, string>; body: string };
export type Answered = { status: number; retryAfter: string | undefined; text: string };

const TIMES: Times = { headersMs: 10_000, totalMs: 20_000 };
const MOST_READ = 65_536;

/** Throws an `Unanswered` where no answer came, and the signal's own reason where that says so. */
export async function post(
  url: URL,
  sent: Sent,
  reach: Reach & { times?: Times },
  signal: AbortSignal,
): Promise<Answered> {
  const { headersMs, totalMs } = reach.times ?? TIMES;
  const late = new AbortController();
  const giveUp = () => late.abort(new Unanswered(`No answer within ${headersMs / 1000} s.`));
  const timer = setTimeout(giveUp, headersMs);
  const began = performance.now();
  const ending = AbortSignal.any([signal, late.signal]);
  let socket: Socket | undefined;
  try {
    socket = await connect(url, reach, ending);
    const response = await answerTo(socket, url, sent, ending);
    clearTimeout(timer);
    const left = AbortSignal.timeout(Math.max(1, Math.ceil(totalMs - (performance.now() - began))));
    const text = await beginningOf(response, AbortSignal.any([signal, left]));
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text };
  } catch (error) {
    ending.throwIfAborted();
    throw error instanceof Unanswered ? error : new Unanswered(reasonOf(error as NodeJS.ErrnoException));
  } finally {
    clearTimeout(timer);
    socket?.on('error', () => {});
    socket?.destroy();
  }
}

async function answerTo(socket: Socket, url: URL, { headers, body }: Sent, signal: AbortSignal) {
  const request = requestOver({
    method: 'POST',
    path: url.pathname + url.search,
    headers: { host: url.host, ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
    createConnection: () => socket,
  });
  // Also once nobody waits for it any more.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
  return response;
}

/** As much of it as anybody will look at. What has been answered counts, also where the rest of it never comes. */
async function beginningOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = () => response.destroy();
  signal.addEventListener('abort', stop);
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MOST_READ) break;
    }
  } catch {
    // Broken off.
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks).subarray(0, MOST_READ).toString('utf8');
}

const reasonOf = ({ name, code, message }: NodeJS.ErrnoException): string =>
  name === 'AbortError' || name === 'TimeoutError'
    ? 'The connection could not be opened in time.'
    : `The connection failed: ${code ?? message}.`;
