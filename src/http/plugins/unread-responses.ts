import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Evictions } from './evictions.ts';

export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
export const MAX_PIPELINED_REQUESTS = 32;
const SWEEP_INTERVAL_MS = 250;
// Node's own limit is 60 s as well, but begins anew if the kernel took a part of the answer meanwhile.
const MAX_STALL_MS = 60_000;
// What the kernel holds for one connection at most, in its usual settings.
const MAX_KERNEL_BYTES = 6 * 1024 * 1024;
// A peer that has just come has taken little, however fast it reads.
const YOUNG_MS = 500;
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
  taken: number;
  takenAt: number;
};
type Unread = { socket: Socket; bytes: number; rate: number; since: number };

/** The answers that peers have not taken. Those of all connections together hold at most `maxBytes` when swept. */
export class UnreadResponses {
  readonly #evictions: Evictions;
  readonly #maxBytes: number;
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;
  readonly #maxStallMs: number;
  /** The sum over all connections. */
  #inKernel = 0;

  constructor(evictions: Evictions, maxBytes = MAX_UNREAD_BYTES, maxStallMs = MAX_STALL_MS) {
    this.#evictions = evictions;
    this.#maxBytes = maxBytes;
    this.#maxStallMs = maxStallMs;
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  opened(socket: Socket): void {
    const unread = { inKernel: 0, unreadSince: 0, takenBefore: 0, taken: 0, takenAt: 0 };
    const connection = { answers: [], refused: false, ...unread };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#forget(socket, connection));
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
   * cannot tell what the kernel holds, and a next request does not show that the peer has read anything, so a large public
   * answer counts as unread until its connection ends. A burst of them must not wait for the next sweep.
   */
  countPublicResponse(socket: Socket, bytes: number): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    const more = Math.min(bytes, MAX_KERNEL_BYTES - connection.inKernel);
    this.#inKernel += more;
    connection.inKernel += more;
    if (this.#inKernel > this.#maxBytes) this.sweep();
  }

  /** The answers of requests that have arrived completely and of which nothing has been sent. */
  unanswered(): ServerResponse[] {
    const all = [...this.#connections.values()].flatMap(({ answers }) => answers);
    return all.filter((answer) => !answer.headersSent && answer.req.complete);
  }

  get bytes(): number {
    return this.#unread().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Closes the connections whose peers read nothing, or read slowest until the others hold no more than the limit. */
  sweep(): void {
    const now = performance.now();
    const unread = this.#unread();
    for (const [socket, { unreadSince, takenAt }] of this.#connections) {
      if (unreadSince > 0 && now - takenAt > this.#maxStallMs) this.#evict(socket);
    }
    let held = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    if (held <= this.#maxBytes) return;
    // The oldest first among those that are equally slow.
    unread.sort((a, b) => (a.rate === b.rate ? a.since - b.since : a.rate - b.rate));
    for (const { socket, bytes } of unread) {
      if (held <= this.#maxBytes * EVICT_DOWN_TO) return;
      held -= bytes;
      this.#evict(socket);
    }
  }

  #forget(socket: Socket, connection: Connection): void {
    if (this.#connections.delete(socket)) this.#inKernel -= connection.inKernel;
  }

  #evict(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    this.#forget(socket, connection);
    this.#evictions.add('unread_response');
    // A plain close would leave the kernel with the unread bytes for minutes.
    socket.resetAndDestroy();
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
      if (connection.unreadSince === 0) {
        Object.assign(connection, { unreadSince: now, takenBefore: taken, taken, takenAt: now });
      }
      if (taken !== connection.taken) Object.assign(connection, { taken, takenAt: now });
      const { unreadSince: since, takenBefore } = connection;
      const age = now - since;
      const rate = age < YOUNG_MS ? Infinity : (taken - takenBefore) / age;
      found.push({ socket, bytes, rate, since });
    }
    return found;
  }
}

/** Answers go out in the order of their requests. Asking here costs less than a listener for each request. */
function forgetFinished(answers: ServerResponse[]): void {
  while (answers[0]?.writableFinished) answers.shift();
}
