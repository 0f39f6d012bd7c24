import type pg from 'pg';
import { positionAt } from '../../events/restores.sql.ts';
import { connectClient } from '../../kernel/database/connect.ts';
import type { Connection } from '../../kernel/database/database.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { TABLE_TRAITS } from '../company-tables.ts';
import { AnotherStateError, Difference, importTable, isPruned, type Pass, type TableTask } from './import-table.ts';
import { entryName, MAX_POSITION, type Manifest, readManifest, SECRETS } from './manifest.ts';
import { openPassphraseBox, storeSecret } from './sealed-secrets.ts';
import { companyColumn, prepareSession, readColumns } from './table-columns.ts';
import { readLines, verifyEntries } from './verify.ts';
import { ZipReader } from './zip-reader.ts';

/**
 * A later migration that fills a column from others has to raise this, or to add it to `filled` in TABLE_TRAITS: rows of
 * older files would lack its values.
 */
const OLDEST_MIGRATION = 20;

export type ImportOptions = {
  file: string;
  /** Called with the number of sealed secrets, if there are any. Returns undefined if they are to be left out. */
  openSecrets: (count: number) => Promise<{ secrets: SecretBox; passphrase: string } | undefined>;
  /** Whether keys keep the scope `operator`, which reaches every company of this service. */
  keepsOperatorKeys: boolean;
  onProgress: (text: string) => void;
};

type Stored = {
  secretsImported: number;
  /** The names of the credentials that have the scope `operator` in the file. */
  operatorKeys: readonly string[];
};

export type ImportedCompany = Pick<Manifest, 'company' | 'tables' | 'secret_count'> & {
  /** Whether the company was imported; false if it was there before. */
  changed: boolean;
} & Stored;

/**
 * Stores the company of a file, with its identifiers. It is usable when all of it is there. Can be interrupted and run
 * again. Changes nothing if the company is there already.
 */
export async function importCompany(owner: Connection, options: ImportOptions): Promise<ImportedCompany> {
  const zip = await ZipReader.open(options.file);
  try {
    const manifest = await readManifest(zip);
    await verifyEntries(zip, manifest, options.onProgress);
    const client = await connectClient(owner, 'company import');
    try {
      await prepareSession(client);
      return await new Import(client, zip, manifest, options).run();
    } finally {
      await client.end();
    }
  } finally {
    await zip.close();
  }
}

/**
 * A log that is far ahead of the clock would issue positions twice after its restores. A closed partition moves it by a
 * fifth of this.
 */
const MAX_POSITIONS_AHEAD = 1_000_000_000_000;
/** Locks of imports are (this number, a hash of the company). */
const LOCK_CLASS = 7_226_003;
const LOCK_TIMEOUT = '60s';
const LOCK_NOT_AVAILABLE = '55P03';
/** Other companies take positions between reading the last one and setting it. */
const SKIPPED_POSITIONS = 10_000;

class Import {
  readonly #client: pg.Client;
  readonly #zip: ZipReader;
  readonly #manifest: Manifest;
  readonly #options: ImportOptions;

  constructor(client: pg.Client, zip: ZipReader, manifest: Manifest, options: ImportOptions) {
    this.#client = client;
    this.#zip = zip;
    this.#manifest = manifest;
    this.#options = options;
  }

  async run(): Promise<ImportedCompany> {
    const { company, tables, secret_count } = this.#manifest;
    await this.#requireOwner();
    const tasks = await this.#planTables();
    await this.#lock();
    const state = await this.#findState();
    if (state === 'removing') throw new Error(`${company.name} is being removed here. Finish "company remove" first.`);
    const isNew = state !== 'complete';
    const stored = await this.#explainDifferences(isNew, () => (isNew ? this.#store(tasks) : this.#compare(tasks)));
    return { company, tables, secret_count, changed: isNew, ...stored };
  }

  /** Throws if the role may not import: it would otherwise fail after many rows. */
  async #requireOwner(): Promise<void> {
    const { rows } = await this.#client.query("SELECT has_table_privilege('events', 'DELETE') AS may_delete");
    if (!rows[0].may_delete)
      throw new Error('Only the role that owns the tables can import a company. Set DATABASE_OWNER_URL.');
  }

  /** Throws if the rows of the file do not fit the tables of this database. */
  async #planTables(): Promise<TableTask[]> {
    const { migration, tables } = this.#manifest;
    const { rows } = await this.#client.query('SELECT max(version)::int AS version FROM migrations');
    const version = Number.parseInt(migration, 10);
    if (!(version <= rows[0].version)) {
      throw new Error(
        `The file comes from a later release (migration ${migration}). Update this service, then import the file.`,
      );
    }
    const tasks: TableTask[] = [];
    for (const entry of tables) {
      const target = await readColumns(this.#client, entry.table);
      const isKnown = entry.columns.every((column) => target.exported.includes(column));
      const isComplete = target.required.every((column) => entry.columns.includes(column));
      if (version < OLDEST_MIGRATION || !isKnown || !isComplete) {
        throw new Error(
          `The file comes from a release that is too old for this one (migration ${migration}). Import it into a ` +
            'service of the old release and update that.',
        );
      }
      tasks.push({ ...entry, target });
    }
    return tasks;
  }

  async #lock(): Promise<void> {
    await this.#client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    const lock = 'SELECT pg_advisory_lock($1, hashtext($2))';
    await this.#client.query(lock, [LOCK_CLASS, this.#manifest.company.id]).catch((error: { code?: string }) => {
      if (error.code !== LOCK_NOT_AVAILABLE) throw error;
      throw new Error('Another import of the same company is running. Wait until it ends, then try again.');
    });
  }

  async #findState(): Promise<'none' | 'incomplete' | 'removing' | 'complete'> {
    const { rows } = await this.#client.query(
      `SELECT removal_started_at IS NULL AS complete, removal_started_at = 'infinity' AS incomplete
         FROM companies WHERE id = $1`,
      [this.#manifest.company.id],
    );
    const [found] = rows;
    if (!found) return 'none';
    if (found.complete) return 'complete';
    return found.incomplete ? 'incomplete' : 'removing';
  }

  async #store(tasks: readonly TableTask[]): Promise<Stored> {
    const { company, secrets } = this.#manifest;
    const opened = secrets && secrets.count > 0 ? await this.#options.openSecrets(secrets.count) : undefined;
    const box =
      opened && secrets ? await openPassphraseBox(company.id, opened.passphrase, secrets.sealed_under) : undefined;
    await this.#movePositionsBeyond(await this.#lastPosition());
    const isCredential = ({ table }: TableTask) => table !== 'companies' && TABLE_TRAITS[table]?.isCredential === true;
    for (const task of tasks.filter((one) => !isCredential(one))) await this.#importTable(task, 'insert');
    for (const task of tasks.filter(({ table }) => table === 'advisers')) await this.#importTable(task, 'complete');
    // Nobody can call the service for the company before all of it is there.
    await this.#client.query('BEGIN');
    for (const task of tasks.filter(isCredential)) await this.#importTable(task, 'insert');
    // Users have secrets too.
    if (opened && box) {
      const boxes = { secrets: opened.secrets, box };
      for await (const line of readLines(this.#zip, SECRETS)) await storeSecret(this.#client, company.id, line, boxes);
    }
    for (const task of tasks) await this.#requireCount(task, task.rows);
    const operatorKeys = await this.#endOperatorScopes();
    await this.#client.query('UPDATE companies SET removal_started_at = NULL, imported_at = now() WHERE id = $1', [
      company.id,
    ]);
    await this.#client.query('COMMIT');
    return { secretsImported: box ? (secrets?.count ?? 0) : 0, operatorKeys };
  }

  async #compare(tasks: readonly TableTask[]): Promise<Stored> {
    for (const task of tasks) await this.#requireCount(task, await this.#importTable(task, 'compare'));
    return { secretsImported: 0, operatorKeys: [] };
  }

  /** A forged or foreign file could otherwise reach every company of this service. */
  async #endOperatorScopes(): Promise<string[]> {
    const names: string[] = [];
    for (const table of ['tokens', 'clients']) {
      const { rows } = await this.#client.query(
        `UPDATE ${table} SET scopes = CASE WHEN $2 THEN scopes ELSE array_remove(scopes, 'operator') END
          WHERE company_id = $1 AND 'operator' = ANY (scopes) RETURNING name`,
        [this.#manifest.company.id, this.#options.keepsOperatorKeys],
      );
      names.push(...rows.map(({ name }) => name));
    }
    return names;
  }

  #importTable(task: TableTask, pass: Pass): Promise<number> {
    const { company, last_position: lastPosition } = this.#manifest;
    let rows = 0;
    const onRows = (count: number) => {
      rows += count;
      const verb = pass === 'compare' ? 'Comparing' : 'Importing';
      this.#options.onProgress(`${verb} ${task.table.replaceAll('_', ' ')}: ${rows} of ${task.rows} …`);
    };
    const position = { companyId: company.id, lastPosition };
    return importTable(task, pass, { client: this.#client, zip: this.#zip, ...position, onRows });
  }

  /** Rows that the file does not have were written here. */
  async #requireCount(task: TableTask, expected: number): Promise<void> {
    const { rows } = await this.#client.query(
      `SELECT count(*)::int AS count FROM ${task.table} WHERE ${companyColumn(task.table)} = $1`,
      [this.#manifest.company.id],
    );
    const { count } = rows[0];
    if (count === expected || (count < expected && isPruned(task))) return;
    throw new Difference(`${task.table} has ${count} rows, and ${expected} of them are in the file`);
  }

  /** In files of earlier releases, endpoints may have come further than the last position. */
  async #lastPosition(): Promise<string> {
    let last = BigInt(this.#manifest.last_position);
    const entry = entryName('webhook_endpoints');
    if (this.#zip.has(entry)) {
      for await (const line of readLines(this.#zip, entry)) {
        const position = BigInt(JSON.parse(line).position ?? 0);
        if (position > MAX_POSITION) throw new Error('The file has a webhook endpoint at a position that cannot be.');
        if (position > last) last = position;
      }
    }
    return last.toString();
  }

  /** New events get positions after those of the file. */
  async #movePositionsBeyond(position: string): Promise<void> {
    const { rows } = await this.#client.query(
      `SELECT $1::bigint <= ${positionAt('now()')} + ${MAX_POSITIONS_AHEAD} AS plausible`,
      [position],
    );
    if (!rows[0].plausible) {
      throw new Error(`The file has a position of the event log, ${position}, that no service has reached yet.`);
    }
    await this.#client.query(`SELECT move_event_positions($1::bigint + ${SKIPPED_POSITIONS})`, [position]);
  }

  async #explainDifferences(isPartial: boolean, work: () => Promise<Stored>): Promise<Stored> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Difference)) throw error;
      throw new AnotherStateError(this.#manifest.company.name, error.message, isPartial);
    }
  }
}
