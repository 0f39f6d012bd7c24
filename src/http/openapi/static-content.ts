import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptWeights } from '../accept-weights.ts';
import type { UnreadResponses } from '../plugins/unread-responses.ts';

/** Content that is the same for every caller. It is compressed once, and one copy serves all requests. */
export type StaticContent = {
  type: string;
  /** Hash of the uncompressed bytes. */
  hash: string;
  encodings: Readonly<Record<Encoding, readonly Buffer[]>>;
};

export type Encoding = 'br' | 'gzip' | 'identity';

export type SendOptions = { cacheControl: string; responses: UnreadResponses };

// Quality 11 makes the script of /docs 5 % smaller than quality 9, and takes twenty times as long.
const BROTLI_QUALITY = 9;
const SLICE_BYTES = 32 * 1024;

/** Compresses in the thread pool, so that the event loop stays free. */
export async function staticContent(type: string, bytes: Buffer): Promise<StaticContent> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: brotliParams(bytes) }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { type, hash: hashOf(bytes), encodings: { br: [br], gzip: [zipped], identity: [bytes] } };
}

/**
 * Returns a function that adds an end of at most 64 KiB to the content. Compressing the whole for every end would let
 * strangers spend processor time, so the end is added to the compressed content as it is.
 */
export async function contentWithEnd(type: string, bytes: Buffer): Promise<(end: string) => StaticContent> {
  const [br, deflated] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: brotliParams(bytes),
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
    }),
    promisify(deflateRaw)(bytes, { level: constants.Z_BEST_COMPRESSION, finishFlush: constants.Z_FULL_FLUSH }),
  ]);
  const crc = crc32(bytes);
  return (text) => {
    const end = Buffer.from(text);
    const hash = hashOf(Buffer.from(hashOf(bytes) + text));
    const zippedEnd = [
      GZIP_HEADER,
      deflated,
      storedBlock(end),
      end,
      gzipTrailer(crc32(end, crc), bytes.length + end.length),
    ];
    const encodings = {
      br: [br, uncompressedBlock(end), end, LAST_BROTLI_BLOCK],
      gzip: zippedEnd,
      identity: [bytes, end],
    };
    return { type, hash, encodings };
  };
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 22);

const brotliParams = (bytes: Buffer) => ({
  [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
  [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
});

/** RFC 1952: deflate, no name, no time, unknown system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** RFC 1951, section 3.2.4: the header of the last block, whose bytes are not compressed. */
function storedBlock({ length }: Buffer): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0]);
  header.writeUInt16LE(length, 1);
  header.writeUInt16LE(~length & 0xffff, 3);
  return header;
}

function gzipTrailer(crc: number, length: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length, 4);
  return trailer;
}

/** RFC 7932, section 9.2: not the last block, four nibbles for the length less one, not compressed. */
function uncompressedBlock({ length }: Buffer): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((1 << 19) | ((length - 1) << 3), 0, 3);
  return header;
}

/** An empty block that is the last one. */
const LAST_BROTLI_BLOCK = Buffer.from([3]);

/** Responds with the encoding that the caller prefers, or with 304 if the caller already has the content. */
export function sendContent(
  { method, headers, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  { type, hash, encodings }: StaticContent,
  { cacheControl, responses }: SendOptions,
): FastifyReply {
  const encoding = preferredEncoding(headers['accept-encoding']);
  const parts = encodings[encoding];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // A strong ETag identifies exact bytes, so each encoding has its own.
  const etag = encoding === 'identity' ? `"${hash}"` : `"${hash}-${encoding}"`;
  const vary = [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ');
  reply.headers({ etag, 'cache-control': cacheControl, vary });
  if (isListed(headers['if-none-match'], etag)) return reply.status(304).send();
  reply.headers({ 'content-type': type, 'content-length': length });
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  // Fastify keeps the length that belongs to GET only for a stream.
  if (method === 'HEAD') return reply.send(Readable.from([]));
  responses.countPublicResponse(socket, length);
  return reply.send(inSlices(parts));
}

/**
 * The kernel accepts megabytes for a peer that does not read. Without a turn of the event loop after each slice, a
 * thousand such peers blocked all other requests for four seconds.
 */
function inSlices(parts: readonly Buffer[]): Readable {
  const slices = slicesOf(parts);
  return new Readable({
    highWaterMark: SLICE_BYTES,
    read() {
      setImmediate(() => {
        if (!this.destroyed) this.push(slices.next().value ?? null);
      });
    },
  });
}

function* slicesOf(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts) {
    for (let start = 0; start < part.length; start += SLICE_BYTES) yield part.subarray(start, start + SLICE_BYTES);
  }
}

const isListed = (etags: string | undefined, etag: string): boolean =>
  etags?.split(',').some((listed) => ['*', etag, `W/${etag}`].includes(listed.trim())) ?? false;

/** RFC 9110, section 12.5.3. Brotli, which is smaller, wins a tie. */
function preferredEncoding(accepted: string | undefined): Encoding {
  const weights = acceptWeights(accepted);
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip';
  return weightOf(best) > 0 && weightOf(best) >= identity ? best : 'identity';
}
