import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Evictions } from './evictions.ts';

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const MAX_PIPELINED_REQUESTS = 32;
const SWEEP_INTERVAL_MS = 250;
// Node's timeout is 60 s as well, but restarts when the kernel accepts a part of the response.
const MAX_STALL_MS = 60_000;
// The most that the kernel buffers for one connection with its usual settings.
const MAX_KERNEL_BYTES = 6 * 1024 * 1024;
// A new peer has read little, however fast it is.
const GRACE_PERIOD_MS = 500;
const EVICT_DOWN_TO = 7 / 8;
// What Node and Fastify hold for a request whose response waits behind an earlier one.
const BYTES_PER_REQUEST = 8 * 1024;

type Connection = {
  responses: ServerResponse[];
  rejected: boolean;
  /** Bytes of public responses that the kernel may hold. */
  kernelBytes: number;
  unreadSince: number;
  /** Bytes that the kernel had accepted when responses became unread, and by now. */
  sentBefore: number;
  sent: number;
  sentAt: number;
};
type Unread = { socket: Socket; bytes: number; rate: number; since: number };

/** The responses that peers have not read. After a sweep those of all connections hold at most `maxBytes`. */
export class UnreadResponses {
  readonly #evictions: Evictions;
  readonly #maxBytes: number;
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;
  readonly #maxStallMs: number;
  /** The sum of `kernelBytes` of all connections. */
  #kernelBytes = 0;

  constructor(evictions: Evictions, maxBytes = MAX_UNREAD_BYTES, maxStallMs = MAX_STALL_MS) {
    this.#evictions = evictions;
    this.#maxBytes = maxBytes;
    this.#maxStallMs = maxStallMs;
    this.#timer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  track(socket: Socket): void {
    const unread = { kernelBytes: 0, unreadSince: 0, sentBefore: 0, sent: 0, sentAt: 0 };
    const connection = { responses: [], rejected: false, ...unread };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#forget(socket, connection));
  }

  /**
   * Node reads up to 64 KiB of pipelined requests before it stops, which would be some 2,000 responses to hold. Returns
   * `refused` for the first request beyond the limit, and `ignored` for the ones after it.
   */
  admit({ socket }: IncomingMessage, response: ServerResponse): 'admitted' | 'refused' | 'ignored' {
    const connection = this.#connections.get(socket);
    if (!connection) return 'admitted';
    const { responses } = connection;
    removeFinished(responses);
    if (connection.rejected) return 'ignored';
    if (responses.length < MAX_PIPELINED_REQUESTS) {
      responses.push(response);
      return 'admitted';
    }
    connection.rejected = true;
    this.#evictions.add('pipelined_requests');
    return 'refused';
  }

  /**
   * The kernel buffers 4 MB for each peer that does not read, and all connections of the machine share its memory. Node
   * cannot tell what the kernel holds, and another request does not prove that the peer has read anything. So a large
   * public response counts as unread until its connection ends. A burst of them must not wait for the next sweep.
   */
  countPublicResponse(socket: Socket, bytes: number): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    const added = Math.min(bytes, MAX_KERNEL_BYTES - connection.kernelBytes);
    this.#kernelBytes += added;
    connection.kernelBytes += added;
    if (this.#kernelBytes > this.#maxBytes) this.sweep();
  }

  /** Returns the responses of complete requests of which nothing has been sent. */
  unsent(): ServerResponse[] {
    const all = [...this.#connections.values()].flatMap(({ responses }) => responses);
    return all.filter((response) => !response.headersSent && response.req.complete);
  }

  get bytes(): number {
    return this.#unread().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Closes the connections whose peers read nothing, and then the slowest ones until the rest is within the limit. */
  sweep(): void {
    const now = performance.now();
    const unread = this.#unread();
    for (const [socket, { unreadSince, sentAt }] of this.#connections) {
      if (unreadSince > 0 && now - sentAt > this.#maxStallMs) this.#evict(socket);
    }
    let held = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    if (held <= this.#maxBytes) return;
    // Among equally slow ones the oldest comes first.
    unread.sort((a, b) => (a.rate === b.rate ? a.since - b.since : a.rate - b.rate));
    for (const { socket, bytes } of unread) {
      if (held <= this.#maxBytes * EVICT_DOWN_TO) return;
      held -= bytes;
      this.#evict(socket);
    }
  }

  #forget(socket: Socket, connection: Connection): void {
    if (this.#connections.delete(socket)) this.#kernelBytes -= connection.kernelBytes;
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
      const { responses } = connection;
      removeFinished(responses);
      let bytes = Math.max(socket.writableLength, connection.kernelBytes);
      for (let i = 1; i < responses.length; i++) {
        bytes += BYTES_PER_REQUEST + (responses[i] as ServerResponse).writableLength;
      }
      if (bytes === 0) {
        connection.unreadSince = 0;
        continue;
      }
      const sent = socket.bytesWritten - socket.writableLength;
      if (connection.unreadSince === 0) {
        Object.assign(connection, { unreadSince: now, sentBefore: sent, sent, sentAt: now });
      }
      if (sent !== connection.sent) Object.assign(connection, { sent, sentAt: now });
      const { unreadSince: since, sentBefore } = connection;
      const age = now - since;
      const rate = age < GRACE_PERIOD_MS ? Infinity : (sent - sentBefore) / age;
      found.push({ socket, bytes, rate, since });
    }
    return found;
  }
}

/** Responses are sent in the order of their requests. Checking here costs less than a listener for each request. */
function removeFinished(responses: ServerResponse[]): void {
  while (responses[0]?.writableFinished) responses.shift();
}
