import type pg from 'pg';
import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';

/** Removes a company with everything that belongs to it. Only the owner of the tables may do so. */

/**
 * Every table with rows of companies: first what sends something or lets a caller in, then rows before the rows that
 * they refer to. A test compares the list with the database.
 */
export const COMPANY_TABLES = [
  'messages',
  'webhook_notices',
  'webhook_deliveries',
  'webhook_endpoints',
  'tokens',
  'client_rotations',
  'clients',
  'idempotency_keys',
  'meetings',
  'video_accounts',
  'appointments',
  'payments',
  'invoice_items',
  'invoices',
  'interactions',
  'relationships',
  'people',
  'addresses',
  'customers',
  'cases',
  'advisers',
  'custom_tags',
  'events',
] as const;
type CompanyTable = (typeof COMPANY_TABLES)[number];

/** Small enough that no statement holds its locks for long: readers of the event log wait for its writers. */
const BATCH_SIZE = 5_000;
/** Requests that were accepted before the credentials were deleted can write for a short time. */
const MAX_PASSES = 20;

export type CompanyContents = Readonly<Record<CompanyTable, number>>;

export async function countCompanyRows(owner: Connection, companyId: string): Promise<CompanyContents> {
  return withClient(owner, async (client) => {
    const counts = COMPANY_TABLES.map(
      (table) => `(SELECT count(*)::int FROM ${table} WHERE company_id = $1) AS ${table}`,
    );
    return (await client.query<CompanyContents>(`SELECT ${counts.join(', ')}`, [companyId])).rows[0] as CompanyContents;
  });
}

/** Can be interrupted and run again. `onTable` is called before rows of a table are deleted. */
export async function removeCompany(
  owner: Connection,
  companyId: string,
  onTable: (table: string) => void,
): Promise<void> {
  await withClient(owner, async (client) => {
    await client.query('UPDATE companies SET removal_started_at = coalesce(removal_started_at, now()) WHERE id = $1', [
      companyId,
    ]);
    for (let pass = 1; ; pass++) {
      for (const table of COMPANY_TABLES) {
        onTable(table);
        await deleteRows(client, table, companyId);
      }
      if (await deleteCompany(client, companyId)) return;
      if (pass === MAX_PASSES) throw new Error('The company is still written to. Run the command again.');
    }
  });
}

async function deleteRows(client: pg.Client, table: CompanyTable, companyId: string): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE company_id = $1 LIMIT ${BATCH_SIZE}))`,
      [companyId],
    );
    if ((rowCount ?? 0) < BATCH_SIZE) return;
  }
}

const FOREIGN_KEY_VIOLATION = '23503';

/** Returns false if a row was written meanwhile that refers to the company, or an event, which refers to nothing. */
async function deleteCompany(client: pg.Client, companyId: string): Promise<boolean> {
  try {
    const { rowCount } = await client.query(
      `DELETE FROM companies c WHERE c.id = $1
          AND NOT EXISTS (SELECT FROM events e WHERE e.company_id = c.id)
          AND NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.company_id = c.id)`,
      [companyId],
    );
    return rowCount === 1;
  } catch (error) {
    if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error;
    return false;
  }
}

async function withClient<T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient(connection, 'company remove');
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
