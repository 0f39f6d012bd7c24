import pg from 'pg';
import { pino } from 'pino';
import { Database } from '../../src/kernel/database/database.ts';
import { systemClock } from '../../src/kernel/time/time.ts';
import type { ServerConnection } from '../../src/postgres/bundled-postgres.ts';
import { indexChanges } from '../../src/search/indexer.ts';

/** A worker takes one company at a time, and the first company has half of everything. */
const WORKERS = 2;

/**
 * Builds the index of searches as workers do, except that its words are sorted once at the end. Entering them one by one
 * takes several times as long and leads to the same index. A database that is kept has it already.
 */
export async function buildSearchIndex(connection: ServerConnection): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  const db = new Database({ connection, poolSize: WORKERS });
  const indexAll = () =>
    Promise.all(
      Array.from({ length: WORKERS }, () => indexChanges({ db, clock: systemClock, logger: pino({ level: 'warn' }) })),
    );
  try {
    const { rows } = await client.query(
      `SELECT pg_get_indexdef('search_documents_of_periods'::regclass) AS definition,
              EXISTS (SELECT FROM search_documents) AS "isBuilt"`,
    );
    const [{ definition, isBuilt }] = rows;
    if (!isBuilt) await client.query('DROP INDEX search_documents_of_periods');
    await indexAll();
    if (isBuilt) return;
    await client.query(`SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 2`);
    await client.query(definition);
    await client.query('ALTER INDEX search_documents_of_periods ALTER COLUMN 1 SET STATISTICS 0');
    await client.query('VACUUM (ANALYZE) search_documents, search_progress');
  } finally {
    await db.close();
    await client.end();
  }
}
