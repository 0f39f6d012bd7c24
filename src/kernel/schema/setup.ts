import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { type Grant, grantPrivileges } from './grants.ts';
import { type Migration, type MigrationProgress, migrate, pendingMigrations } from './migrations.ts';
import { isUsableWithout } from './previous-release.ts';

export type SchemaSetup = {
  /** The connection of the role that owns the tables. */
  owner: Connection;
  /** The connection of the service, if it uses another role than the owner. */
  service?: Connection | undefined;
  /** The role of the service; it is created if it does not exist. */
  roleToCreate?: string | undefined;
  migrations: Migration[];
  /** Whether migrations of this release may be missing if the connection may not apply them. */
  mayLackMigrations?: boolean | undefined;
  progress?: MigrationProgress | undefined;
  grants: readonly Grant[];
  /** Writes settings that only the owner may write. Runs in the transaction that grants the privileges. */
  configure: (client: pg.Client) => Promise<void>;
};

/**
 * Applies the missing migrations, grants the service's role its privileges and writes the owner's settings. If the
 * connection does not own the tables, only the migrations are checked. Returns the names of the applied migrations.
 */
export async function setUpSchema(setup: SchemaSetup): Promise<string[]> {
  const { owner, migrations, progress, configure } = setup;
  const pending = await pendingMigrations(owner, migrations);
  const mayLack = setup.mayLackMigrations === true && isUsableWithout(pending, migrations);
  const isBehind = pending.length > 0;
  const applied = isBehind
    ? await migrate(owner, migrations, progress).catch((error) => explainMissingPrivilege(error, mayLack))
    : [];
  const client = await connectClient(owner, 'setup');
  try {
    const { rows } = await client.query(OWNS_TABLES);
    if (!rows[0]?.owns) return applied;
    const role = setup.roleToCreate ?? (setup.service && (await roleOf(setup.service)));
    await client.query('BEGIN');
    // GRANT updates rows of the catalogue: of two concurrent ones, one would fail.
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    if (setup.roleToCreate !== undefined) await createRole(client, setup.roleToCreate);
    if (role !== undefined) await grantPrivileges(client, role, setup.grants);
    await configure(client);
    await client.query('COMMIT');
    return applied;
  } finally {
    await client.end();
  }
}

const LOCK = 7_226_002;
const OWNS_TABLES = `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = to_regclass('migrations')`;

async function roleOf(service: Connection): Promise<string> {
  const client = await connectClient(service, 'setup');
  try {
    return (await client.query('SELECT current_user AS role')).rows[0].role;
  } finally {
    await client.end();
  }
}

async function createRole(client: pg.Client, role: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  if (rowCount === 0) await client.query(`CREATE ROLE ${client.escapeIdentifier(role)} LOGIN`);
}

const INSUFFICIENT_PRIVILEGE = '42501';

function explainMissingPrivilege(error: unknown, mayLack: boolean): string[] {
  const { code } = ((error as Error).cause ?? error) as { code?: string };
  if (code !== INSUFFICIENT_PRIVILEGE) throw error;
  if (mayLack) return [];
  throw new Error(
    `The database lacks migrations that its role may not apply (${(error as Error).message}). ` +
      'Run "case-records migrate" with DATABASE_OWNER_URL.',
    { cause: error },
  );
}
