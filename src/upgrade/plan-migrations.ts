import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';
import { type Effect, estimateSeconds, LOCKS, readEffects } from '../kernel/schema/migration-effects.ts';

/** What a missing migration will do with one table of this database. */
export type PlannedWork = Effect & { bytes: number; waits: string; seconds: number };
export type PlannedMigration = { migration: string; tables: PlannedWork[] };

/** Looks at the sizes of the tables that the missing migrations lock. Changes nothing. */
export async function planMigrations(connection: Connection, pending: readonly string[]): Promise<PlannedMigration[]> {
  const effects = await readEffects();
  const client = await connectClient(connection, 'upgrade');
  try {
    const sizes = new Map<string, number>();
    for (const table of new Set(pending.flatMap((name) => (effects[name] ?? []).map(({ table }) => table)))) {
      const { rows } = await client.query(
        `SELECT coalesce(sum(pg_total_relation_size(relid)), pg_total_relation_size(to_regclass($1)), 0)::float8 AS bytes
           FROM pg_partition_tree(to_regclass($1))`,
        [table],
      );
      sizes.set(table, rows[0].bytes);
    }
    return pending.map((migration) => ({
      migration,
      tables: (effects[migration] ?? []).map((effect) => {
        const bytes = sizes.get(effect.table) ?? 0;
        const waits = LOCKS.find(({ name }) => name === effect.lock)?.waits ?? '';
        return { ...effect, bytes, waits, seconds: estimateSeconds(effect, bytes) };
      }),
    }));
  } finally {
    await client.end();
  }
}
