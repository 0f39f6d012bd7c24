import { createHash } from 'node:crypto';
import { entryName, type Manifest, SECRETS } from './manifest.ts';
import type { ZipReader } from './zip-reader.ts';
import type { WrittenEntry } from './zip-writer.ts';

/** Far more than the largest row; a file that was made by hand must not fill the memory. */
const MAX_LINE_BYTES = 64_000_000;
const NEWLINE = 0x0a;

/** Yields the lines of an entry. Their strings are what was written, byte by byte. */
export async function* readLines(zip: ZipReader, name: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of zip.read(name)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      [rest, restBytes, start] = [[], 0, end + 1];
    }
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > MAX_LINE_BYTES)
      throw new Error(`The file has a row of more than ${MAX_LINE_BYTES} bytes in ${name}.`);
  }
  if (restBytes > 0) throw new Error(`The file is damaged: ${name} ends in the middle of a row.`);
}

/** Throws unless every entry is what its manifest says, so that nothing is imported from a damaged file. */
export async function verifyEntries(
  zip: ZipReader,
  { tables, secrets }: Manifest,
  onProgress: (text: string) => void,
): Promise<void> {
  for (const entry of tables) {
    onProgress(`Checking ${entryName(entry.table)} …`);
    await verifyEntry(zip, entryName(entry.table), entry);
  }
  if (secrets) await verifyEntry(zip, SECRETS, secrets);
}

async function verifyEntry(zip: ZipReader, name: string, { bytes, sha256 }: WrittenEntry): Promise<void> {
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of zip.read(name)) {
    hash.update(chunk);
    read += chunk.length;
  }
  if (read !== bytes || hash.digest('hex') !== sha256) {
    throw new Error(`The file is damaged: the checksum of ${name} is not the one in its manifest. Export it again.`);
  }
}
