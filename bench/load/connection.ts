import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const EMPTY = Buffer.alloc(0);

export type LoadResponse = { status: number; head: string; body: Buffer };

/**
 * A keep-alive connection that sends one request, or several pipelined ones, at a time. It parses as little of a
 * response as possible, because the load generator shares the cores with the servers that are measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = EMPTY;
  #status = 0;
  #head = '';
  /** The bounds of the body in the received bytes. The end of a chunked body is unknown (-1) until it has arrived. */
  #bodyStart = 0;
  #bodyEnd = -1;
  #pending:
    | { remaining: number; resolve: (response: LoadResponse) => void; reject: (error: Error) => void }
    | undefined;

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#onData(data as Buffer));
    const fail = (error: Error) => this.#pending?.reject(error);
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('The server ended the connection.')));
  }

  /** Returns the last response, or the first that is not 200. Its body is valid until the next request. */
  send(requests: string, count = 1): Promise<LoadResponse> {
    return new Promise((resolve, reject) => {
      this.#pending = { remaining: count, resolve, reject };
      this.#socket.write(requests);
    });
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  #onData(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
    for (let response = this.#parseResponse(); response; response = this.#parseResponse()) {
      const pending = this.#pending;
      if (!pending || (response.status === 200 && --pending.remaining > 0)) continue;
      this.#pending = undefined;
      pending.resolve(response);
    }
  }

  #parseResponse(): LoadResponse | undefined {
    const received = this.#received;
    if (this.#status === 0 && !this.#readHead(received)) return undefined;
    if (this.#bodyEnd < 0) {
      if (!received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return undefined;
      this.#bodyEnd = received.length;
    } else if (received.length < this.#bodyEnd) return undefined;
    const body = received.subarray(this.#bodyStart, this.#bodyEnd);
    const response = { status: this.#status, head: this.#head, body };
    this.#received = received.length === this.#bodyEnd ? EMPTY : received.subarray(this.#bodyEnd);
    this.#status = 0;
    return response;
  }

  #readHead(received: Buffer): boolean {
    const end = received.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#head = head;
    this.#status = Number(head.slice(9, 12));
    this.#bodyStart = end + HEAD_END.length;
    this.#bodyEnd = length === undefined ? -1 : this.#bodyStart + Number(length);
    return true;
  }
}
