import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Evictions } from './evictions.ts';

export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
export const MAX_PIPELINED_REQUESTS = 32;
const SWEEP_INTERVAL_MS = 250;
const EVICT_DOWN_TO = 7 / 8;
// What Node and Fastify hold for a request whose answer waits behind an earlier one.
const BYTES_PER_REQUEST = 8 * 1024;

type Connection = {
  answers: ServerResponse[];
  refused: boolean;
  /** Bytes that the kernel may hold for a stranger. */
  inKernel: number;
  unreadSince: number;
  takenBefore: number;
};
type Unread = { socket: Socket; bytes: number; rate: number };

/** The answers that peers have not taken. Those of all connections together hold at most `maxBytes` when swept. */
export class UnreadAnswers {
  readonly #evictions: Evictions;
  readonly #maxBytes: number;
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(evictions: Evictions, maxBytes = MAX_UNREAD_BYTES) {
    this.#evictions = evictions;
    this.#maxBytes = maxBytes;
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  opened(socket: Socket): void {
    this.#connections.set(socket, { answers: [], refused: false, inKernel: 0, unreadSince: 0, takenBefore: 0 });
    socket.once('close', () => this.#connections.delete(socket));
  }

  /**
   * Node reads up to 64 KiB of pipelined requests before it stops reading, which would be some 2,000 answers to hold.
   * Returns `refused` for the first request beyond the limit, and `ignored` for the ones after it.
   */
  admit({ socket }: IncomingMessage, answer: ServerResponse): 'admitted' | 'refused' | 'ignored' {
    const connection = this.#connections.get(socket);
    if (!connection) return 'admitted';
    const { answers } = connection;
    forgetFinished(answers);
    connection.inKernel = 0;
    if (connection.refused) return 'ignored';
    if (answers.length < MAX_PIPELINED_REQUESTS) {
      answers.push(answer);
      return 'admitted';
    }
    connection.refused = true;
    this.#evictions.add('pipelined_requests');
    return 'refused';
  }

  /**
   * The kernel takes 4 MB for each peer that does not read, and all connections of the machine share its memory. Node
   * cannot tell what the kernel holds, so a large public answer counts as unread until the peer's next request.
   */
  sendsToStranger(socket: Socket, bytes: number): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.inKernel = bytes;
  }

  /** The answers of requests that have arrived completely and of which nothing has been sent. */
  unanswered(): ServerResponse[] {
    const all = [...this.#connections.values()].flatMap(({ answers }) => answers);
    return all.filter((answer) => !answer.headersSent && answer.req.complete);
  }

  get bytes(): number {
    return this.#unread().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Closes the connections whose peers read slowest until the others hold no more than the limit. */
  sweep(): void {
    const unread = this.#unread();
    let held = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    if (held <= this.#maxBytes) return;
    unread.sort((a, b) => a.rate - b.rate);
    for (const { socket, bytes } of unread) {
      if (held <= this.#maxBytes * EVICT_DOWN_TO) return;
      held -= bytes;
      this.#evictions.add('unread_answer');
      // A plain close would leave the kernel with the unread bytes for minutes.
      socket.resetAndDestroy();
    }
  }

  #unread(): Unread[] {
    const now = performance.now();
    const found: Unread[] = [];
    for (const [socket, connection] of this.#connections) {
      const { answers } = connection;
      forgetFinished(answers);
      let bytes = Math.max(socket.writableLength, connection.inKernel);
      for (let i = 1; i < answers.length; i++) {
        bytes += BYTES_PER_REQUEST + (answers[i] as ServerResponse).writableLength;
      }
      if (bytes === 0) {
        connection.unreadSince = 0;
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      if (connection.unreadSince === 0) Object.assign(connection, { unreadSince: now, takenBefore: taken });
      const rate = (taken - connection.takenBefore) / (now - connection.unreadSince + 1);
      found.push({ socket, bytes, rate });
    }
    return found;
  }
}

/** Answers go out in the order of their requests. Asking here costs less than a listener for each request. */
function forgetFinished(answers: ServerResponse[]): void {
  while (answers[0]?.writableFinished) answers.shift();
}
