import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from '../../test/harness/http.ts';

/** A response that takes longer counts as a hang. */
const RESPONSE_TIMEOUT_MS = 10_000;

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** The bytes of a request, and what is needed to parse its response. */
export type RawRequest = {
  bytes: Uint8Array;
  /** Whether it is a HEAD request, whose response has a length but no body. */
  headOnly: boolean;
  /** Whether the bytes are not exactly one request, so that the connection cannot be used again. */
  endsConnection: boolean;
};

/** A keep-alive connection that sends raw bytes, and reconnects if the server has closed it. */
export class RawConnection {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(baseUrl: string) {
    this.#port = Number(new URL(baseUrl).port);
  }

  /** Returns the response; undefined if the server closed the connection without one. */
  async send(request: RawRequest): Promise<Answer | undefined> {
    const existing = this.#socket && !this.#socket.destroyed ? this.#socket : undefined;
    const socket = existing ?? (await this.#open());
    const { answer, ended } = await this.#exchange(socket, request);
    // A server may close an idle connection at any time, so an unanswered request on an existing one is sent again.
    if (!answer && existing && !request.endsConnection) return this.send(request);
    if (ended || request.endsConnection || answer?.headers.connection === 'close') this.close();
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #open(): Promise<Socket> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    socket.on('error', () => {});
    this.#socket = socket;
    return socket;
  }

  #exchange(
    socket: Socket,
    { bytes, headOnly, endsConnection }: RawRequest,
  ): Promise<{ answer: Answer | undefined; ended: boolean }> {
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const finish = (answer: Answer | undefined, ended: boolean) => {
        clearTimeout(timer);
        socket.off('data', onData);
        socket.off('close', onClose);
        resolve({ answer, ended });
      };
      const onData = (data: Buffer) => {
        received = Buffer.concat([received, data]);
        const answer = parseAnswer(received, headOnly, false);
        if (answer) finish(answer, false);
      };
      const onClose = () => finish(parseAnswer(received, headOnly, true), true);
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no response within ${RESPONSE_TIMEOUT_MS / 1000} s`));
      }, RESPONSE_TIMEOUT_MS);
      socket.on('data', onData);
      socket.on('close', onClose);
      socket.write(bytes);
      if (endsConnection) socket.end();
    });
  }
}

/** Parses the response; returns undefined until it is complete. */
function parseAnswer(received: Buffer, headOnly: boolean, ended: boolean): Answer | undefined {
  const end = received.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const rest = received.subarray(end + HEAD_END.length);
  const status = Number(first.split(' ')[1]);
  if (status === 100) return parseAnswer(rest, headOnly, ended);
  const headers: Record<string, string> = {};
  for (const line of lines) headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 2);
  const body = headOnly || status === 304 ? Buffer.alloc(0) : parseBody(rest, headers, ended);
  if (!body) return undefined;
  const text = body.toString('utf8');
  const isJson = /json/.test(headers['content-type'] ?? '') && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function parseBody(rest: Buffer, headers: Record<string, string>, ended: boolean): Buffer | undefined {
  if (headers['content-length'] !== undefined) {
    const length = Number(headers['content-length']);
    return rest.length < length ? undefined : rest.subarray(0, length);
  }
  if (headers['transfer-encoding'] !== 'chunked') return ended ? rest : undefined;
  if (!rest.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return undefined;
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    const length = Number.parseInt(rest.toString('latin1', at, line), 16);
    // The content of a chunk can look like the last chunk.
    if (line < 0 || line + 4 + length > rest.length) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + length));
    at = line + 4 + length;
  }
}
