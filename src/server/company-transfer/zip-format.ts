/** The records of the zip format (APPNOTE 6.3) that an archive of any size needs: every entry has 64-bit sizes. */

export type ZipEntry = { name: string; crc: number; compressed: number; bytes: number; offset: number };

export const LOCAL_HEADER = 0x04034b50;
export const LOCAL_HEADER_BYTES = 30;
export const CENTRAL_HEADER = 0x02014b50;
export const CENTRAL_HEADER_BYTES = 46;
export const END = 0x06054b50;
export const END_BYTES = 22;
export const ZIP64_END = 0x06064b50;
export const ZIP64_END_BYTES = 56;
export const ZIP64_LOCATOR = 0x07064b50;
export const ZIP64_LOCATOR_BYTES = 20;
export const ZIP64_EXTRA = 1;
export const DEFLATED = 8;
/** In a field of 16 or 32 bits: the value is in the 64-bit record. */
export const IN_ZIP64 = { short: 0xffff, long: 0xffffffff } as const;

const DESCRIPTOR = 0x08074b50;
const VERSION_WITH_ZIP64 = 45;
const MADE_ON_UNIX = (3 << 8) | VERSION_WITH_ZIP64;
/** Sizes and checksum follow the content; names are UTF-8. */
const FLAGS = 0x0808;
const OWNER_ONLY = (0o100600 << 16) >>> 0;
/** 1 January 1980: the manifest has the time of the export. */
const DOS_DATE = 33;

type Field = readonly [bytes: 2 | 4 | 8, value: number];

function record(...fields: readonly Field[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at);
    else buffer.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return buffer;
}

/** What a local and a central header have in common, from the flags to the length of the name. */
const sharedFields = (name: Buffer, crc: number): Field[] => [
  [2, FLAGS],
  [2, DEFLATED],
  [2, 0],
  [2, DOS_DATE],
  [4, crc],
  [4, IN_ZIP64.long],
  [4, IN_ZIP64.long],
  [2, name.length],
];

export function localHeader(entryName: string): Buffer {
  const name = Buffer.from(entryName);
  const extra = record([2, ZIP64_EXTRA], [2, 16], [8, 0], [8, 0]);
  const head = record([4, LOCAL_HEADER], [2, VERSION_WITH_ZIP64], ...sharedFields(name, 0), [2, extra.length]);
  return Buffer.concat([head, name, extra]);
}

export const dataDescriptor = ({ crc, compressed, bytes }: ZipEntry): Buffer =>
  record([4, DESCRIPTOR], [4, crc], [8, compressed], [8, bytes]);

export function centralHeader({ name: entryName, crc, compressed, bytes, offset }: ZipEntry): Buffer {
  const name = Buffer.from(entryName);
  const extra = record([2, ZIP64_EXTRA], [2, 24], [8, bytes], [8, compressed], [8, offset]);
  const head = record(
    [4, CENTRAL_HEADER],
    [2, MADE_ON_UNIX],
    [2, VERSION_WITH_ZIP64],
    ...sharedFields(name, crc),
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, OWNER_ONLY],
    [4, IN_ZIP64.long],
  );
  return Buffer.concat([head, name, extra]);
}

/** The end of an archive whose central directory has this many entries and bytes, and begins at this offset. */
export const archiveEnd = (entries: number, directoryBytes: number, directoryOffset: number): Buffer =>
  Buffer.concat([
    record(
      [4, ZIP64_END],
      [8, ZIP64_END_BYTES - 12],
      [2, MADE_ON_UNIX],
      [2, VERSION_WITH_ZIP64],
      [4, 0],
      [4, 0],
      [8, entries],
      [8, entries],
      [8, directoryBytes],
      [8, directoryOffset],
    ),
    record([4, ZIP64_LOCATOR], [4, 0], [8, directoryOffset + directoryBytes], [4, 1]),
    record(
      [4, END],
      [2, 0],
      [2, 0],
      [2, IN_ZIP64.short],
      [2, IN_ZIP64.short],
      [4, IN_ZIP64.long],
      [4, IN_ZIP64.long],
      [2, 0],
    ),
  ]);
