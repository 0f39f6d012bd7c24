import type pg from 'pg';
import { connectClient } from '../../kernel/database/connect.ts';
import type { Connection } from '../../kernel/database/database.ts';
import { COMPANY_TABLES, type CompanyTable, TABLE_TRAITS } from '../company-tables.ts';
import { HELD_UNTIL } from './import-table.ts';

/** How many jobs of each table are held. */
export type HeldCounts = Partial<Record<CompanyTable, number>>;

const JOB_TABLES = COMPANY_TABLES.filter((table) => TABLE_TRAITS[table]?.openJob !== undefined);

export async function countHeld(client: pg.Client, companyId: string): Promise<HeldCounts> {
  const held: HeldCounts = {};
  for (const table of JOB_TABLES) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS count FROM ${table} WHERE company_id = $1 AND lease_until >= ${HELD_UNTIL}`,
      [companyId],
    );
    held[table] = rows[0].count;
  }
  return held;
}

/** Lets workers do what an import has held. */
export async function releaseCompany(owner: Connection, companyId: string): Promise<HeldCounts> {
  const client = await connectClient(owner, 'company release');
  try {
    const { rows } = await client.query('SELECT removal_started_at IS NULL AS complete FROM companies WHERE id = $1', [
      companyId,
    ]);
    if (!rows[0]?.complete) throw new Error('The company is not complete. Finish its import first.');
    const released: HeldCounts = {};
    await client.query('BEGIN');
    for (const table of JOB_TABLES) {
      const { rowCount } = await client.query(
        `UPDATE ${table} SET lease_until = NULL WHERE company_id = $1 AND lease_until >= ${HELD_UNTIL}`,
        [companyId],
      );
      released[table] = rowCount ?? 0;
    }
    await client.query('COMMIT');
    return released;
  } finally {
    await client.end();
  }
}
