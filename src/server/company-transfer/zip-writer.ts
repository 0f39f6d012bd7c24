import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { syncFolder } from '../../kernel/durable-file.ts';
import { archiveEnd, centralHeader, dataDescriptor, localHeader, type ZipEntry } from './zip-format.ts';

/** What was written into an entry, before compression. */
export type WrittenEntry = { bytes: number; sha256: string };

export type ZipWriter = { add(name: string, content: AsyncIterable<string> | Iterable<string>): Promise<WrittenEntry> };

export class FileExists extends Error {
  constructor(path: string) {
    super(`${path} exists already. Choose another name or remove it.`);
  }
}

/**
 * Writes a zip file that only its owner can read. Until it is complete it has another name, so a process that is killed
 * leaves no file that looks whole. Throws if the file exists by then. Returns the size of the file.
 */
export async function writeZip(path: string, write: (zip: ZipWriter) => Promise<void>): Promise<number> {
  const draft = `${path}.${randomUUID()}.partial`;
  const file = await open(draft, 'wx', 0o600);
  try {
    const archive = new Archive(file);
    await write(archive);
    await archive.end();
    await file.sync();
    await publish(draft, path);
    await syncFolder(dirname(resolve(path)));
    return archive.bytes;
  } finally {
    await rm(draft, { force: true });
    await file.close();
  }
}

/** Gives the draft its name. Of two exports to one file, the second must not replace the first. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      // Some file systems have no links.
      await (await open(path, 'wx', 0o600)).close();
      await rename(draft, path);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new FileExists(path);
    throw error;
  }
}

class Archive implements ZipWriter {
  readonly #file: FileHandle;
  readonly #entries: ZipEntry[] = [];
  bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(name: string, content: AsyncIterable<string> | Iterable<string>): Promise<WrittenEntry> {
    const entry: ZipEntry = { name, crc: 0, compressed: 0, bytes: 0, offset: this.bytes };
    const hash = createHash('sha256');
    await this.#write(localHeader(name));
    const start = this.bytes;
    async function* measured() {
      for await (const text of content) {
        const chunk = Buffer.from(text);
        hash.update(chunk);
        entry.crc = crc32(chunk, entry.crc);
        entry.bytes += chunk.length;
        yield chunk;
      }
    }
    await pipeline(measured, createDeflateRaw(), async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) await this.#write(chunk);
    });
    entry.compressed = this.bytes - start;
    await this.#write(dataDescriptor(entry));
    this.#entries.push(entry);
    return { bytes: entry.bytes, sha256: hash.digest('hex') };
  }

  async end(): Promise<void> {
    const directoryOffset = this.bytes;
    for (const entry of this.#entries) await this.#write(centralHeader(entry));
    await this.#write(archiveEnd(this.#entries.length, this.bytes - directoryOffset, directoryOffset));
  }

  async #write(chunk: Buffer): Promise<void> {
    // On an open file, writeFile appends to what it wrote before, and writes all of the chunk.
    await this.#file.writeFile(chunk);
    this.bytes += chunk.length;
  }
}
