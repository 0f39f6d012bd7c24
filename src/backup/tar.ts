/** Writes and reads the tar format (POSIX ustar), as far as backups need it: plain files and folders. */

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const FOLDER_TYPE = '5';
const FILE_TYPE = '0';

export type TarEntry = { name: string; isFolder: boolean; size: number };

export function tarHeader({ name, isFolder, size }: TarEntry): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new Error(`The name ${name} is too long for a backup.`);
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(isFolder ? 0o700 : 0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write(isFolder ? FOLDER_TYPE : FILE_TYPE, 156);
  header.write('ustar\x0000', 257);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Returns the zeros that follow content of this size. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/** Returns the end of an archive. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK_BYTES);

/** Calls `onEntry` for each entry, which must read the whole content. Throws if the archive is damaged or incomplete. */
export async function readTar(
  source: AsyncIterable<Buffer>,
  onEntry: (entry: TarEntry, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const reader = new ChunkReader(source);
  for (;;) {
    const header = await reader.readExactly(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    const entry = parseHeader(header);
    await onEntry(entry, reader.read(entry.size));
    await reader.readExactly(tarPadding(entry.size).length);
  }
  await reader.drain();
}

function parseHeader(header: Buffer): TarEntry {
  const text = (from: number, length: number) =>
    header
      .subarray(from, from + length)
      .toString()
      .split('\0', 1)[0] as string;
  const blank = Buffer.from(header).fill(' ', 148, 156);
  if (Number.parseInt(text(148, 8), 8) !== checksumOf(blank)) throw new Error('The archive is damaged.');
  return {
    name: text(0, MAX_NAME_BYTES),
    isFolder: text(156, 1) === FOLDER_TYPE,
    size: Number.parseInt(text(124, 12), 8),
  };
}

const checksumOf = (header: Buffer): number => header.reduce((sum, byte) => sum + byte, 0);

class ChunkReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Yields the next `size` bytes in pieces. */
  async *read(size: number): AsyncGenerator<Buffer> {
    let missing = size;
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) throw new Error('The archive is incomplete.');
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async readExactly(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.read(size)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Reads to the end, so that the checksums of the source are checked. */
  async drain(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }
}
