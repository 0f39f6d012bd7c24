import { access } from 'node:fs/promises';
import type pg from 'pg';
import { connectClient } from '../../kernel/database/connect.ts';
import type { Connection } from '../../kernel/database/database.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { TABLE_TRAITS } from '../company-tables.ts';
import { EXPORT_ORDER, entryName, MANIFEST, type Manifest, newManifest, SECRETS, type TableEntry } from './manifest.ts';
import { countSecrets, newPassphraseBox, sealedLines } from './sealed-secrets.ts';
import {
  companyColumn,
  type ExportedTable,
  lineOf,
  prepareSession,
  readColumns,
  type TableColumns,
} from './table-columns.ts';
import { FileExists, writeZip, type ZipWriter } from './zip-writer.ts';

export type ExportOptions = {
  file: string;
  serviceVersion: string;
  /** The box of SECRETS_KEY, and the passphrase that secrets are sealed under; undefined: they are left out. */
  sealing: { secrets: SecretBox; passphrase: string } | undefined;
  onProgress: (text: string) => void;
};

export type ExportedCompany = Pick<Manifest, 'company' | 'tables' | 'secret_count'> & {
  fileBytes: number;
  secretsIncluded: number;
};

/** Writes everything that belongs to a company, as it is at one moment, while the service may be running. */
export async function exportCompany(
  connection: Connection,
  companyId: string,
  options: ExportOptions,
): Promise<ExportedCompany> {
  // Said before the work; another export may write the file meanwhile.
  if (await exists(options.file)) throw new FileExists(options.file);
  const client = await connectClient(connection, 'company export');
  try {
    await prepareSession(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const source = await readSource(client, companyId);
    let exported: Omit<ExportedCompany, 'fileBytes'> | undefined;
    const fileBytes = await writeZip(options.file, async (zip) => {
      exported = await writeCompany(client, zip, source, options);
    });
    await client.query('COMMIT');
    return { ...(exported as ExportedCompany), fileBytes };
  } finally {
    await client.end();
  }
}

type Source = Pick<Manifest, 'company' | 'migration' | 'exported_at' | 'last_position'>;

/**
 * The last position is that of the whole log: the endpoints of the company have come so far, and its last events, which
 * followers have seen, may be deleted by now.
 */
async function readSource(client: pg.Client, companyId: string): Promise<Source> {
  const { rows } = await client.query(
    `SELECT c.id, c.name, c.removal_started_at IS NOT NULL AS incomplete,
            (SELECT m.name FROM migrations m ORDER BY m.version DESC LIMIT 1) AS migration,
            greatest(
              (SELECT s.last_value FROM event_positions s),
              (SELECT max(e.position) FROM events e WHERE e.company_id = c.id),
              (SELECT max(w.position) FROM webhook_endpoints w WHERE w.company_id = c.id))::text AS last_position,
            to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS exported_at
       FROM companies c WHERE c.id = $1`,
    [companyId],
  );
  const [found] = rows;
  if (!found) throw new NotFoundError('There is no such company.');
  const { id, name, incomplete, ...source } = found;
  if (incomplete) {
    throw new Error('The company is not complete: it is being imported or removed. Finish that first.');
  }
  return { company: { id, name }, ...source };
}

async function writeCompany(
  client: pg.Client,
  zip: ZipWriter,
  source: Source,
  { sealing, serviceVersion, onProgress }: ExportOptions,
): Promise<Omit<ExportedCompany, 'fileBytes'>> {
  const { company } = source;
  const tables: TableEntry[] = [];
  for (const table of EXPORT_ORDER) {
    const columns = await readColumns(client, table);
    let rows = 0;
    const onRows = (count: number) => {
      rows += count;
      onProgress(`Exporting ${table.replaceAll('_', ' ')}: ${rows} …`);
    };
    const written = await zip.add(entryName(table), rowLines(client, company.id, { table, columns, onRows }));
    tables.push({ table, columns: columns.exported, rows, ...written });
  }
  const secretCount = await countSecrets(client, company.id);
  let secrets: Manifest['secrets'] = null;
  if (sealing) {
    const { box, sealedUnder } = await newPassphraseBox(company.id, sealing.passphrase);
    const lines = sealedLines(client, company.id, { secrets: sealing.secrets, box });
    secrets = { ...(await zip.add(SECRETS, lines)), count: secretCount, sealed_under: sealedUnder };
  }
  const manifest = { ...source, service_version: serviceVersion, tables, secrets, secret_count: secretCount };
  await zip.add(MANIFEST, [newManifest(manifest)]);
  return { company, tables, secret_count: secretCount, secretsIncluded: secrets?.count ?? 0 };
}

const MIN_FETCHED_ROWS = 10;
const MAX_FETCHED_ROWS = 2_000;
const FETCHED_BYTES = 1_000_000;

/** Yields the rows as lines. How many are fetched depends on the largest row so far: a snapshot may have megabytes. */
async function* rowLines(
  client: pg.Client,
  companyId: string,
  { table, columns, onRows }: { table: ExportedTable; columns: TableColumns; onRows: (count: number) => void },
): AsyncGenerator<string> {
  const traits = table === 'companies' ? undefined : TABLE_TRAITS[table];
  await client.query(
    `DECLARE exported NO SCROLL CURSOR FOR SELECT ${lineOf('t', columns.exported)} AS line FROM ${table} t
      WHERE ${companyColumn(table)} = $1 ORDER BY ${traits?.order ?? columns.primaryKey.join(', ')}`,
    [companyId],
  );
  let largest = FETCHED_BYTES / MIN_FETCHED_ROWS;
  for (;;) {
    const count = Math.max(MIN_FETCHED_ROWS, Math.min(MAX_FETCHED_ROWS, Math.floor(FETCHED_BYTES / largest)));
    const { rows } = await client.query<{ line: string }>(`FETCH ${count} FROM exported`);
    if (rows.length === 0) break;
    onRows(rows.length);
    const inBatch = rows.reduce((most, { line }) => Math.max(most, line.length), 1);
    largest = Math.max(inBatch, largest / 2);
    yield `${rows.map(({ line }) => line).join('\n')}\n`;
  }
  await client.query('CLOSE exported');
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
