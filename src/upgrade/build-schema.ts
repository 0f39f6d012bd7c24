import type pg from 'pg';
import type { Connection } from '../kernel/database/database.ts';
import { type Migration, migrate, pendingMigrations } from '../kernel/schema/migrations.ts';
import { copyPartitions } from './partitions.ts';
import { copyPrivileges, copyRoles, copySettings } from './roles.ts';
import { assertSameObjects } from './schema-objects.ts';
import { openSession } from './session.ts';

export type BuiltSchema = {
  /** Migrations that the data lacks. They are applied after the upgrade, as at any start. */
  pending: string[];
  /** Settings of roles, databases or the system that the new version does not accept. */
  refusedSettings: string[];
};

/**
 * Makes an empty database with the roles, the schema and the privileges of the old one: its own migrations at the same
 * level, and the partitions that it has. Throws if the old one contains anything else.
 */
export async function buildSchema(
  from: pg.Client,
  source: Connection,
  target: Connection,
  migrations: Migration[],
): Promise<BuiltSchema> {
  const pending = await pendingMigrations(source, migrations);
  await migrate(
    target,
    migrations.filter(({ name }) => !pending.includes(name)),
  );
  const to = await openSession(target);
  try {
    await copyRoles(from, to);
    await copyPartitions(from, to);
    await assertSameObjects(from, to);
    await copyPrivileges(from, to);
    return { pending, refusedSettings: await copySettings(from, to) };
  } finally {
    await to.end();
  }
}
