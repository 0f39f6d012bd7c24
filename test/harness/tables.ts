import type { TestApp } from './app.ts';

/** SQL condition on `table_name`: partitions are left out, because their rows are those of the table that they are part of. */
const NOT_A_PARTITION = `table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)`;

const known = new WeakMap<TestApp, Promise<string[]>>();

/**
 * The tables with rows of companies, in the order of their names. The catalogue is asked once for each app, because that
 * takes longer than most tests: no test may ask after it has added a table.
 */
export function companyTables(app: TestApp): Promise<string[]> {
  const tables = known.get(app) ?? readCompanyTables(app);
  known.set(app, tables);
  return tables;
}

async function readCompanyTables(app: TestApp): Promise<string[]> {
  const rows = await app.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'company_id' AND ${NOT_A_PARTITION} ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
