import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from '../../test/harness/http.ts';

/** How long an answer may take before it counts as a hang. */
const PATIENCE_MS = 10_000;

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** The bytes of a request, and what is to be known of them to read the answer. */
export type Bytes = {
  bytes: Uint8Array;
  /** HEAD: its answer names a length and has no body. */
  headOnly: boolean;
  /** More, or less, than one request: nothing else can follow on the connection. */
  last: boolean;
};

/** A keep-alive connection that sends bytes as they are, and makes itself anew when the server has closed it. */
export class Wire {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(baseUrl: string) {
    this.#port = Number(new URL(baseUrl).port);
  }

  /** Undefined where the server closed the connection without an answer. */
  async send(request: Bytes): Promise<Answer | undefined> {
    const kept = this.#socket && !this.#socket.destroyed ? this.#socket : undefined;
    const socket = kept ?? (await this.#open());
    const { answer, ended } = await this.#exchange(socket, request);
    // A server may close a connection that was kept at any time; what was not read by it is sent again.
    if (!answer && kept && !request.last) return this.send(request);
    if (ended || request.last || answer?.headers.connection === 'close') this.close();
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

  #exchange(socket: Socket, { bytes, headOnly, last }: Bytes): Promise<{ answer: Answer | undefined; ended: boolean }> {
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const finish = (answer: Answer | undefined, ended: boolean) => {
        clearTimeout(timer);
        socket.off('data', take);
        socket.off('close', close);
        resolve({ answer, ended });
      };
      const take = (data: Buffer) => {
        received = Buffer.concat([received, data]);
        const answer = read(received, headOnly, false);
        if (answer) finish(answer, false);
      };
      const close = () => finish(read(received, headOnly, true), true);
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`));
      }, PATIENCE_MS);
      socket.on('data', take);
      socket.on('close', close);
      socket.write(bytes);
      if (last) socket.end();
    });
  }
}

/** Undefined until the answer is whole. */
function read(received: Buffer, headOnly: boolean, ended: boolean): Answer | undefined {
  const end = received.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const rest = received.subarray(end + HEAD_END.length);
  const status = Number(first.split(' ')[1]);
  if (status === 100) return read(rest, headOnly, ended);
  const headers: Record<string, string> = {};
  for (const line of lines) headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 2);
  const body = headOnly || status === 304 ? Buffer.alloc(0) : bodyOf(rest, headers, ended);
  if (!body) return undefined;
  const text = body.toString('utf8');
  const isJson = /json/.test(headers['content-type'] ?? '') && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function bodyOf(rest: Buffer, headers: Record<string, string>, ended: boolean): Buffer | undefined {
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
    // The end of a chunk can look like the end of all of them.
    if (line < 0 || line + 4 + length > rest.length) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + length));
    at = line + 4 + length;
  }
}
