import { isUuid } from '../../kernel/ids.ts';
import { COMPANY_TABLES, TABLE_TRAITS } from '../company-tables.ts';
import type { SealedUnder } from './sealed-secrets.ts';
import type { ExportedTable } from './table-columns.ts';
import type { ZipReader } from './zip-reader.ts';
import type { WrittenEntry } from './zip-writer.ts';

export const MANIFEST = 'manifest.json';
export const SECRETS = 'secrets.jsonl';
export const FORMAT = 'case-records company';
const FORMAT_VERSION = 1;

const isCredential = (table: ExportedTable) => table !== 'companies' && TABLE_TRAITS[table]?.isCredential === true;
const DATA_TABLES = COMPANY_TABLES.filter((table) => !TABLE_TRAITS[table]?.isLocal).reverse();

/**
 * Rows come after the rows that they refer to. Credentials come last, so that nobody can call the service for a company
 * that is not complete.
 */
export const EXPORT_ORDER: readonly ExportedTable[] = [
  'companies',
  ...DATA_TABLES.filter((table) => !isCredential(table)),
  ...DATA_TABLES.filter(isCredential),
];

export const entryName = (table: ExportedTable): string => `${table}.jsonl`;

export type TableEntry = WrittenEntry & { table: ExportedTable; columns: readonly string[]; rows: number };

export type Manifest = {
  format: typeof FORMAT;
  format_version: number;
  service_version: string;
  /** The last migration of the database that the company comes from. */
  migration: string;
  /** When the state was taken that the file has. */
  exported_at: string;
  company: { id: string; name: string };
  /** No event and no follower of the company has a later position. */
  last_position: string;
  tables: readonly TableEntry[];
  /** Null if the secrets of the company were left out. */
  secrets: (WrittenEntry & { count: number; sealed_under: SealedUnder }) | null;
  /** How many secrets the company has. */
  secret_count: number;
};

export const newManifest = (fields: Omit<Manifest, 'format' | 'format_version'>): string =>
  `${JSON.stringify({ format: FORMAT, format_version: FORMAT_VERSION, ...fields }, null, 2)}\n`;

const MAX_MANIFEST_BYTES = 1_000_000;
/**
 * The log moves on beyond the positions of a file, and must never run out of them: they are numbers in other programs too,
 * below 9 * 10^15.
 */
export const MAX_POSITION = 4n * 10n ** 15n;
const COLUMN = /^[a-z][a-z0-9_]*$/;
const MIGRATION = /^\d{4}_[\w.]{1,100}$/;
const POSITION = /^\d{1,16}$/;
const CONTROL_CHARACTER = /\p{Cc}/u;

const foreign = () => new Error('The file is not the export of a company.');

/** Reads the manifest of a file. Throws if the file was not written by `company export` of this or an earlier format. */
export async function readManifest(zip: ZipReader): Promise<Manifest> {
  if (!zip.has(MANIFEST)) throw foreign();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of zip.read(MANIFEST)) {
    bytes += chunk.length;
    if (bytes > MAX_MANIFEST_BYTES) throw foreign();
    chunks.push(chunk);
  }
  const manifest = parse(Buffer.concat(chunks).toString());
  if (manifest?.format !== FORMAT) throw foreign();
  if (manifest.format_version !== FORMAT_VERSION) {
    throw new Error(
      `The file has format ${JSON.stringify(manifest.format_version)}, which this version of the service does not know.`,
    );
  }
  assertReadable(manifest);
  for (const { table, columns } of manifest.tables) {
    if (!EXPORT_ORDER.includes(table)) {
      throw new Error(`The file has a table ${JSON.stringify(table)}, which this version does not know.`);
    }
    if (columns.some((column) => !COLUMN.test(column))) throw foreign();
  }
  return manifest;
}

/** A forged file must not be able to control the terminal, or to use up the positions of the event log. */
function assertReadable({ company, last_position, migration, tables }: Manifest): void {
  const isName = typeof company?.name === 'string' && !CONTROL_CHARACTER.test(company.name);
  if (!isName || !isUuid(company.id) || !MIGRATION.test(migration) || !Array.isArray(tables)) throw foreign();
  if (!POSITION.test(last_position) || BigInt(last_position) > MAX_POSITION) throw foreign();
  const names = new Set(tables.map(({ table }) => table));
  if (names.size < tables.length || !names.has('companies')) throw foreign();
}

function parse(text: string): Manifest | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
