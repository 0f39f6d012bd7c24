import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const NOTHING = Buffer.alloc(0);

export type Answer = { status: number; body: Buffer };

/**
 * One keep-alive connection that sends a request, or some at once, when what came before is answered. It reads no more of
 * an answer than it must: what the load costs is taken from the same cores as what is measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = NOTHING;
  #status = 0;
  /** Where the body begins and ends in what was received; the end of a chunked one is known when it is there. */
  #bodyStart = 0;
  #bodyEnd = -1;
  #waiting: { answers: number; resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

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
    socket.on('data', (data) => this.#take(data as Buffer));
    const fail = (error: Error) => this.#waiting?.reject(error);
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('The server ended the connection.')));
  }

  /** The last answer, or the first that is not 200. Its body is valid until the next request. */
  send(requests: string, answers = 1): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { answers, resolve, reject };
      this.#socket.write(requests);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
    for (let answer = this.#next(); answer; answer = this.#next()) {
      const waiting = this.#waiting;
      if (!waiting || (answer.status === 200 && --waiting.answers > 0)) continue;
      this.#waiting = undefined;
      waiting.resolve(answer);
    }
  }

  #next(): Answer | undefined {
    const received = this.#received;
    if (this.#status === 0 && !this.#readHead(received)) return undefined;
    if (this.#bodyEnd < 0) {
      if (!received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return undefined;
      this.#bodyEnd = received.length;
    } else if (received.length < this.#bodyEnd) return undefined;
    const answer = { status: this.#status, body: received.subarray(this.#bodyStart, this.#bodyEnd) };
    this.#received = received.length === this.#bodyEnd ? NOTHING : received.subarray(this.#bodyEnd);
    this.#status = 0;
    return answer;
  }

  #readHead(received: Buffer): boolean {
    const end = received.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#status = Number(head.slice(9, 12));
    this.#bodyStart = end + HEAD_END.length;
    this.#bodyEnd = length === undefined ? -1 : this.#bodyStart + Number(length);
    return true;
  }
}
