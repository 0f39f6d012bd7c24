import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { BodyTooLargeError, invalidRequest, UnavailableError } from '../../kernel/errors.ts';
import type { Evictions } from './evictions.ts';

export const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;
// Evicting a little more than necessary keeps the search for the slowest from running with every chunk.
const EVICT_DOWN_TO = 7 / 8;
const MIN_CAPACITY = 4 * 1024;

type Done = (error: Error | null, body?: Buffer) => void;
type Parser = (request: FastifyRequest, stream: IncomingMessage, done: Done) => void;

/** The bodies that have not arrived completely. All of them together hold at most `maxBytes`. */
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

  /** A content type parser that passes on the bytes of a body, of at most `limit` bytes, as they came. */
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

  /** An unfinished body holds `more` bytes. The slowest, possibly this one, are given up if the sum is too large. */
  grow(more: number): void {
    this.#bytes += more;
    if (this.#bytes <= this.#maxBytes) return;
    const now = performance.now();
    const rates = [...this.#open].map((body) => ({ body, rate: body.length / (now - body.begunAt + 1) }));
    for (const { body } of rates.sort((a, b) => a.rate - b.rate)) {
      if (this.#bytes <= this.#maxBytes * EVICT_DOWN_TO) return;
      this.#evictions.add('unfinished_request');
      body.fail(EVICTED);
    }
  }
}

/**
 * A body that comes in one chunk is that chunk, and is never counted. Others are copied together as they come: a chunk of
 * one byte takes some 300 bytes of memory.
 */
class UnfinishedBody {
  begunAt = 0;
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
    stream.on('data', this.#take);
    stream.on('end', this.#finish);
    stream.on('error', this.#break);
  }

  fail(error: Error): void {
    if (this.#end()) this.#done(error);
  }

  #take = (chunk: Buffer): void => {
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

  /** Makes room for all that has come; `filled` bytes are there already. */
  #reserve(filled: number): void {
    const doubled = Math.max(MIN_CAPACITY, 2 * this.length);
    const capacity = Math.min(doubled, this.#limit, this.#declared >= this.length ? this.#declared : doubled);
    const more = capacity - this.capacity;
    if (this.capacity === 0) {
      this.begunAt = performance.now();
      this.#bodies.add(this);
    }
    this.capacity = capacity;
    this.#bodies.grow(more);
    if (this.#ended) return;
    const bytes = Buffer.allocUnsafeSlow(capacity);
    this.#bytes?.copy(bytes, 0, 0, filled);
    this.#bytes = bytes;
  }

  #finish = (): void => {
    if (!this.#end()) return;
    // Node ends a body early only with an error, so this guards against a change of that.
    if (this.length !== this.#declared && !Number.isNaN(this.#declared)) this.#done(incomplete());
    else this.#done(null, this.#bytes?.subarray(0, this.length) ?? Buffer.alloc(0));
  };

  #break = (): void => {
    if (this.#end()) this.#done(incomplete());
  };

  /** Returns false if the body has been dealt with already. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#bodies.remove(this);
    this.#stream.off('data', this.#take).off('end', this.#finish);
    return true;
  }
}

const EVICTED = new UnavailableError(
  'Too many requests have bodies that arrive slowly. Send it again, with the whole body in one go.',
);

const tooLarge = (limit: number) => new BodyTooLargeError(`A body may have at most ${limit} bytes.`);

const incomplete = () => invalidRequest([{ field: 'body', code: 'format', message: 'could not be read' }]);
