import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';
import { COMPANY_TABLES, type CompanyTable, DERIVED_TABLES } from './company-tables.ts';

/** Removes a company with everything that belongs to it. Only the owner of the tables may do so. */

/** Small enough that no statement holds its locks for long: readers of the event log wait for its writers. */
const MAX_BATCH_ROWS = 5_000;
/** Requests with a deleted credential can write for a few seconds, until each process has noticed. */
const MAX_LATE_WRITES_MS = 30_000;
const PASS_INTERVAL_MS = 200;

export type CompanyContents = Readonly<Record<CompanyTable, number>> & {
  /** Video accounts that are connected, or whose meetings are not deleted yet. */
  readonly connected_accounts: number;
};

/** Throws if the role may not remove companies: it would otherwise fail after most rows are gone. */
export async function countCompanyRows(owner: Connection, companyId: string): Promise<CompanyContents> {
  return withClient(owner, async (client) => {
    const { rows } = await client.query("SELECT has_table_privilege('events', 'DELETE') AS may_delete");
    if (!rows[0].may_delete)
      throw new Error('Only the role that owns the tables can remove a company. Set DATABASE_OWNER_URL.');
    const counts = COMPANY_TABLES.map(
      (table) => `(SELECT count(*)::int FROM ${table} WHERE company_id = $1) AS ${table}`,
    );
    const connected = `(SELECT count(*)::int FROM video_accounts WHERE company_id = $1 AND sealed_secret IS NOT NULL)`;
    const text = `SELECT ${counts.join(', ')}, ${connected} AS connected_accounts`;
    return (await client.query<CompanyContents>(text, [companyId])).rows[0] as CompanyContents;
  });
}

type RemovalOptions = {
  /** Called before the rows of a table are deleted. */
  onTable?: (table: string) => void | Promise<void>;
  maxBatchRows?: number;
};

/** Can be interrupted and run again. */
export async function removeCompany(owner: Connection, companyId: string, options: RemovalOptions): Promise<void> {
  await withClient(owner, async (client) => {
    await client.query('UPDATE companies SET removal_started_at = coalesce(removal_started_at, now()) WHERE id = $1', [
      companyId,
    ]);
    for (let deadline: number | undefined; !(await removeRows(client, companyId, options)); ) {
      deadline ??= performance.now() + MAX_LATE_WRITES_MS;
      if (performance.now() > deadline) throw new Error('The company is still written to. Run the command again.');
      await delay(PASS_INTERVAL_MS);
    }
  });
}

const FOREIGN_KEY_VIOLATION = '23503';
const DEADLOCK = '40P01';

/** Returns false if a request wrote a row meanwhile, so that another pass is needed. */
async function removeRows(client: pg.Client, companyId: string, options: RemovalOptions): Promise<boolean> {
  const { onTable, maxBatchRows = MAX_BATCH_ROWS } = options;
  try {
    // A message that was sent again refers to the one before it.
    await deleteRows(client, 'messages', companyId, {
      maxBatchRows,
      where: 'AND resend_of IS NOT NULL ORDER BY created_at DESC, id DESC',
    });
    for (const table of [...DERIVED_TABLES, ...COMPANY_TABLES]) {
      await onTable?.(table);
      await deleteRows(client, table, companyId, { maxBatchRows });
    }
    // Events and stored responses refer to no row, so the database would keep them without their company.
    const { rowCount } = await client.query(
      `DELETE FROM companies c WHERE c.id = $1
          AND NOT EXISTS (SELECT FROM events e WHERE e.company_id = c.id)
          AND NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.company_id = c.id)`,
      [companyId],
    );
    return rowCount === 1;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== FOREIGN_KEY_VIOLATION && code !== DEADLOCK) throw error;
    return false;
  }
}

async function deleteRows(
  client: pg.Client,
  table: CompanyTable | (typeof DERIVED_TABLES)[number],
  companyId: string,
  { maxBatchRows, where = '' }: { maxBatchRows: number; where?: string },
): Promise<void> {
  for (;;) {
    // Another row has the same ctid in each partition of the event log, so events are named by their key.
    const [column, key] = table === 'events' ? ['position', 'company_id = $1 AND position'] : ['ctid', 'ctid'];
    const rows = `SELECT ${column} FROM ${table} WHERE company_id = $1 ${where} LIMIT ${maxBatchRows}`;
    const { rowCount } = await client.query(`DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(${rows}))`, [companyId]);
    if ((rowCount ?? 0) < maxBatchRows) return;
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
