import type pg from 'pg';
import { openClient } from './client.ts';
import type { Connection } from './database.ts';
import { type Migration, migrate, pendingMigrations } from './migrations.ts';

export type Setup = {
  /** Whoever owns the tables. */
  owner: Connection;
  /** The role that the service works under, where that is another. */
  role?: string | undefined;
  retentionDays?: number | undefined;
};

/**
 * Brings the schema up to date, says what the service's role may do, and how long events are kept. Where somebody else
 * owns the tables and has done all that, nothing is tried. Gives the migrations that were applied.
 */
export async function setUpDatabase({ owner, role, retentionDays }: Setup, migrations: Migration[]): Promise<string[]> {
  const missing = (await pendingMigrations(owner, migrations)).length > 0;
  const applied = missing ? await migrate(owner, migrations).catch(unlessForbidden) : [];
  const client = await openClient(owner, 'setup');
  try {
    const { rows } = await client.query(OWNS);
    if (!rows[0]?.owns) return applied;
    await client.query('BEGIN');
    // Granting is no more than an update of the catalogue: two at once would fail on it.
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    if (role !== undefined) await grant(client, client.escapeIdentifier(role));
    await keepEvents(client, retentionDays);
    await client.query('COMMIT');
    return applied;
  } finally {
    await client.end();
  }
}

const LOCK = 7_226_002;
const OWNS = `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = to_regclass('events')`;

/** Records can be written, the log only added to; what decides over the log, only read. */
async function grant(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query('SELECT quote_ident(current_schema()) AS schema');
  const { schema } = rows[0];
  await client.query(`
    GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
    REVOKE UPDATE, DELETE ON events FROM ${role};
    REVOKE INSERT, UPDATE, DELETE ON event_retention, migrations, default_tags FROM ${role};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role};
    GRANT EXECUTE ON FUNCTION forget_events TO ${role}`);
}

async function keepEvents(client: pg.Client, days: number | undefined): Promise<void> {
  await client.query('DELETE FROM event_retention WHERE days IS DISTINCT FROM $1', [days ?? null]);
  if (days === undefined) return;
  await client.query('INSERT INTO event_retention (days) VALUES ($1) ON CONFLICT DO NOTHING', [days]);
}

const FORBIDDEN = '42501';

function unlessForbidden(error: unknown): never {
  const { code } = ((error as Error).cause ?? error) as { code?: string };
  if (code !== FORBIDDEN) throw error;
  throw new Error(
    `The database lacks migrations that its role may not apply (${(error as Error).message}). Run "case-records migrate" with DATABASE_OWNER_URL.`,
    { cause: error },
  );
}
