import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { BodyTooLargeError, invalidRequest, UnavailableError } from '../../kernel/errors.ts';
import type { Evictions } from './evictions.ts';

const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;
// Evicting more than necessary avoids a search for the slowest body with every chunk.
const EVICT_DOWN_TO = 7 / 8;
const MIN_CAPACITY = 4 * 1024;

type Done = (error: Error | null, body?: Buffer) => void;
type Parser = (request: FastifyRequest, stream: IncomingMessage, done: Done) => void;

/** The request bodies that have not arrived completely. Together they hold at most `maxBytes`. */
export class UnfinishedBodies {
  readonly #maxBytes: number;
  readonly #evictions: Evictions;
  readonly #open = new Set<UnfinishedBody>();
  #bytes = 0;

  constructor(evictions: Evictions, maxBytes = MAX_UNFINISHED_BYTES) {
    this.#evictions = evictions;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns a content type parser that passes on the raw bytes of a body of at most `limit` bytes. */
  parser(limit: number): Parser {
    return ({ headers }, stream, done) => {
      const declared = Number(headers['content-length']);
      if (declared > limit) done(tooLarge(limit));
      else new UnfinishedBody(this, stream, limit, declared, done);
    };
  }

  add(body: UnfinishedBody): void {
    this.#open.add(body);
  }

  remove(body: UnfinishedBody): void {
    if (this.#open.delete(body)) this.#bytes -= body.capacity;
  }

  /** Accounts for the growth of a body. If the sum is too large, the slowest bodies fail, possibly this one. */
  grow(addedBytes: number): void {
    this.#bytes += addedBytes;
    if (this.#bytes <= this.#maxBytes) return;
    const now = performance.now();
    const rates = [...this.#open].map((body) => ({ body, rate: body.length / (now - body.startedAt + 1) }));
    for (const { body } of rates.sort((a, b) => a.rate - b.rate)) {
      if (this.#bytes <= this.#maxBytes * EVICT_DOWN_TO) return;
      this.#evictions.add('unfinished_request');
      body.fail(EVICTED);
    }
  }
}

/**
 * A body that arrives in one chunk is passed on without a copy, and never counted. The chunks of other bodies are
 * copied into one buffer, because a chunk of one byte takes some 300 bytes of memory.
 */
class UnfinishedBody {
  startedAt = 0;
  length = 0;
  capacity = 0;
  readonly #bodies: UnfinishedBodies;
  readonly #stream: IncomingMessage;
  readonly #limit: number;
  readonly #declared: number;
  readonly #done: Done;
  #bytes: Buffer | undefined;
  #ended = false;

  constructor(bodies: UnfinishedBodies, stream: IncomingMessage, limit: number, declared: number, done: Done) {
    this.#bodies = bodies;
    this.#stream = stream;
    this.#limit = limit;
    this.#declared = declared;
    this.#done = done;
    stream.on('data', this.#append);
    stream.on('end', this.#finish);
    stream.on('error', this.#abort);
  }

  fail(error: Error): void {
    if (this.#end()) this.#done(error);
  }

  #append = (chunk: Buffer): void => {
    const before = this.length;
    this.length += chunk.length;
    if (this.length > this.#limit) {
      this.fail(tooLarge(this.#limit));
    } else if (before === 0 && this.length === this.#declared) {
      this.#bytes = chunk;
    } else {
      if (this.length > this.capacity) this.#reserve(before);
      if (!this.#ended) this.#bytes?.set(chunk, before);
    }
  };

  /** Enlarges the buffer for `length` bytes; `filled` bytes are in it already. */
  #reserve(filled: number): void {
    const doubled = Math.max(MIN_CAPACITY, 2 * this.length);
    const capacity = Math.min(doubled, this.#limit, this.#declared >= this.length ? this.#declared : doubled);
    const addedBytes = capacity - this.capacity;
    if (this.capacity === 0) {
      this.startedAt = performance.now();
      this.#bodies.add(this);
    }
    this.capacity = capacity;
    this.#bodies.grow(addedBytes);
    if (this.#ended) return;
    const bytes = Buffer.allocUnsafeSlow(capacity);
    this.#bytes?.copy(bytes, 0, 0, filled);
    this.#bytes = bytes;
  }

  #finish = (): void => {
    if (!this.#end()) return;
    // Today Node reports a body that ended early as an error; this check does not rely on it.
    if (this.length !== this.#declared && !Number.isNaN(this.#declared)) this.#done(incomplete());
    else this.#done(null, this.#bytes?.subarray(0, this.length) ?? Buffer.alloc(0));
  };

  #abort = (): void => {
    if (this.#end()) this.#done(incomplete());
  };

  /** Returns false if the body had ended before. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#bodies.remove(this);
    this.#stream.off('data', this.#append).off('end', this.#finish);
    return true;
  }
}

const EVICTED = new UnavailableError(
  'Too many requests have bodies that arrive slowly. Send the request again, with the whole body immediately.',
);

const tooLarge = (limit: number) => new BodyTooLargeError(`A body may have at most ${limit} bytes.`);

const incomplete = () => invalidRequest([{ field: 'body', code: 'format', message: 'could not be read' }]);
