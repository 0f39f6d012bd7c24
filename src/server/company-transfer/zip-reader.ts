import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import {
  CENTRAL_HEADER,
  CENTRAL_HEADER_BYTES,
  DEFLATED,
  END,
  END_BYTES,
  IN_ZIP64,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  ZIP64_END,
  ZIP64_END_BYTES,
  ZIP64_EXTRA,
  ZIP64_LOCATOR,
  ZIP64_LOCATOR_BYTES,
  type ZipEntry,
} from './zip-format.ts';

const MAX_COMMENT_BYTES = 0xffff;
const MAX_DIRECTORY_BYTES = 1_000_000;
const STORED = 0;

type StoredEntry = ZipEntry & { method: number };

/** Reads a zip file by its central directory. The caller closes it. */
export class ZipReader {
  readonly #file: FileHandle;
  readonly #entries: ReadonlyMap<string, StoredEntry>;

  private constructor(file: FileHandle, entries: ReadonlyMap<string, StoredEntry>) {
    this.#file = file;
    this.#entries = entries;
  }

  static async open(path: string): Promise<ZipReader> {
    const file = await open(path);
    try {
      return new ZipReader(file, await readDirectory(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Yields the content of an entry. Throws if it is damaged. */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry) throw new Error(`The file has no ${name}.`);
    if (entry.method !== DEFLATED && entry.method !== STORED) throw damaged(name);
    const head = await readAt(this.#file, entry.offset, LOCAL_HEADER_BYTES);
    if (head.readUInt32LE(0) !== LOCAL_HEADER) throw damaged(name);
    const start = entry.offset + LOCAL_HEADER_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
    let crc = 0;
    let bytes = 0;
    try {
      const stored = readRange(this.#file, start, entry.compressed);
      const content = entry.method === STORED ? stored : inflated(stored);
      for await (const chunk of content) {
        crc = crc32(chunk, crc);
        bytes += chunk.length;
        if (bytes > entry.bytes) break;
        yield chunk;
      }
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code?.startsWith('Z_') ? damaged(name) : error;
    }
    if (crc !== entry.crc || bytes !== entry.bytes) throw damaged(name);
  }
}

function inflated(stored: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const inflate = createInflateRaw();
  // The loop over the result throws the same error.
  pipeline(Readable.from(stored), inflate).catch(() => {});
  return inflate;
}

const damaged = (name: string) => new Error(`The file is damaged: ${name} cannot be read.`);
const incomplete = () => new Error('The file is not a zip file, or it is incomplete.');

const CHUNK_BYTES = 64 * 1024;

async function* readRange(file: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += CHUNK_BYTES) {
    yield await readAt(file, start + at, Math.min(CHUNK_BYTES, length - at));
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) throw incomplete();
    filled += bytesRead;
  }
  return buffer;
}

async function readDirectory(file: FileHandle): Promise<Map<string, StoredEntry>> {
  const { offset, bytes } = await findDirectory(file);
  if (bytes > MAX_DIRECTORY_BYTES) throw incomplete();
  const directory = await readAt(file, offset, bytes);
  const entries = new Map<string, StoredEntry>();
  for (let at = 0; at < bytes; ) {
    if (at + CENTRAL_HEADER_BYTES > bytes || directory.readUInt32LE(at) !== CENTRAL_HEADER) throw incomplete();
    const nameEnd = at + CENTRAL_HEADER_BYTES + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const entry = parseHeader(directory.subarray(at, nameEnd), directory.subarray(nameEnd, extraEnd));
    entries.set(entry.name, entry);
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
  return entries;
}

function parseHeader(head: Buffer, extra: Buffer): StoredEntry {
  let large = zip64Extra(extra);
  const size = (at: number): number => {
    const value = head.readUInt32LE(at);
    if (value !== IN_ZIP64.long) return value;
    if (large.length < 8) throw incomplete();
    const wide = safeNumber(large.readBigUInt64LE(0));
    large = large.subarray(8);
    return wide;
  };
  // The 64-bit values have this order.
  const bytes = size(24);
  const compressed = size(20);
  const offset = size(42);
  const name = head.subarray(CENTRAL_HEADER_BYTES).toString();
  return { name, crc: head.readUInt32LE(16), bytes, compressed, offset, method: head.readUInt16LE(10) };
}

function zip64Extra(extra: Buffer): Buffer {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) return extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  return Buffer.alloc(0);
}

async function findDirectory(file: FileHandle): Promise<{ offset: number; bytes: number }> {
  const { size } = await file.stat();
  const tailStart = Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await readAt(file, tailStart, size - tailStart);
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(END);
  const at = tail.lastIndexOf(signature);
  if (at < 0 || at + END_BYTES > tail.length) throw incomplete();
  const [bytes, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (bytes !== IN_ZIP64.long && offset !== IN_ZIP64.long) return { offset, bytes };
  const locatorAt = tailStart + at - ZIP64_LOCATOR_BYTES;
  if (locatorAt < 0) throw incomplete();
  const locator = await readAt(file, locatorAt, ZIP64_LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== ZIP64_LOCATOR) throw incomplete();
  const end = await readAt(file, safeNumber(locator.readBigUInt64LE(8)), ZIP64_END_BYTES);
  if (end.readUInt32LE(0) !== ZIP64_END) throw incomplete();
  return { bytes: safeNumber(end.readBigUInt64LE(40)), offset: safeNumber(end.readBigUInt64LE(48)) };
}

function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw incomplete();
  return Number(value);
}
