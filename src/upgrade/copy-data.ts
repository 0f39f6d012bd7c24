import type pg from 'pg';
import { copyTable } from './copy-table.ts';
import { checksumOf, copySequences, listTables, type Table } from './tables.ts';
import { UpgradeError } from './upgrade-error.ts';

const REPORTED_BYTES = 1_000_000;

type CopyOptions = { from: pg.Client; to: pg.Client; onProgress: (text: string) => void };

export type CopiedData = { tables: number; sequences: number; bytes: number };

/** Copies all rows and sequences, and compares each table in both servers. */
export async function copyData({ from, to, onProgress }: CopyOptions): Promise<CopiedData> {
  const tables = await listTables(from);
  // Foreign keys hold in the old database, and the copy is compared with it. Triggers have had their effect there.
  await to.query('SET session_replication_role = replica');
  await to.query('BEGIN');
  // Migrations insert rows too. What is truncated in the same transaction is written without WAL.
  if (tables.length > 0) await to.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
  let bytes = 0;
  for (const [i, table] of tables.entries()) {
    const place = `${table.name} (${i + 1} of ${tables.length} tables)`;
    let reported = 0;
    onProgress(`Copying ${place}`);
    await copyTable(from, to, table, (count) => {
      bytes += count;
      reported += count;
      if (reported < REPORTED_BYTES) return;
      reported = 0;
      onProgress(`Copying ${place}: ${Math.round(bytes / 1e6)} MB so far`);
    });
  }
  await to.query('COMMIT');
  const sequences = await copySequences(from, to);
  await compareTables(tables, { from, to, onProgress });
  onProgress('Collecting statistics …');
  await to.query('ANALYZE');
  return { tables: tables.length, sequences, bytes };
}

async function compareTables(tables: Table[], { from, to, onProgress }: CopyOptions): Promise<void> {
  for (const [i, table] of tables.entries()) {
    onProgress(`Comparing ${table.name} (${i + 1} of ${tables.length} tables)`);
    const [old, copied] = await Promise.all([checksumOf(from, table), checksumOf(to, table)]);
    if (old === copied) continue;
    throw new UpgradeError(
      `The copy of ${table.name} differs: it has ${copied}, and the original ${old}. Nothing was switched. Report this, ` +
        'and go on with the old version.',
    );
  }
}
