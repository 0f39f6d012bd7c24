import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { type Migration, migrate, pendingMigrations } from './migrations.ts';

export type Setup = {
  /** Whoever owns the tables. */
  owner: Connection;
  /** What the service works under, where that is another role. */
  service?: Connection | undefined;
  /** The role of the service, to be made where it is missing. */
  makeRole?: string | undefined;
  retentionDays?: number | undefined;
};

/**
 * Brings the schema up to date, says what the service's role may do, and how long events are kept. Where somebody else
 * owns the tables and has done all that, nothing is tried. Gives the migrations that were applied.
 */
export async function setUpDatabase(setup: Setup, migrations: Migration[]): Promise<string[]> {
  const { owner, retentionDays } = setup;
  const missing = (await pendingMigrations(owner, migrations)).length > 0;
  const applied = missing ? await migrate(owner, migrations).catch(explainMissingPrivilege) : [];
  const client = await connectClient(owner, 'setup');
  try {
    const { rows } = await client.query(OWNS);
    if (!rows[0]?.owns) return applied;
    const role = setup.makeRole ?? (setup.service && (await roleOf(setup.service)));
    await client.query('BEGIN');
    // Granting is no more than an update of the catalogue: two at once would fail on it.
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    if (setup.makeRole !== undefined) await createRole(client, setup.makeRole);
    if (role !== undefined) await grant(client, role);
    await setEventRetention(client, retentionDays);
    await client.query('COMMIT');
    return applied;
  } finally {
    await client.end();
  }
}

const LOCK = 7_226_002;
const OWNS = `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = to_regclass('events')`;

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

/** What the service may do with each table, and with no other: other tables in the schema are no business of ours. */
export const GRANTS: Record<string, readonly string[]> = {
  'SELECT, INSERT': ['events'],
  SELECT: ['default_tags', 'event_retention', 'migrations'],
  'SELECT, INSERT, UPDATE, DELETE': [
    'addresses',
    'advisers',
    'appointments',
    'cases',
    'client_rotations',
    'clients',
    'companies',
    'custom_tags',
    'customers',
    'idempotency_keys',
    'interactions',
    'invoice_items',
    'invoices',
    'meetings',
    'messages',
    'payments',
    'people',
    'relationships',
    'tokens',
    'video_accounts',
    'webhook_deliveries',
    'webhook_endpoints',
    'webhook_notices',
  ],
};

/** Exactly these rights, whatever the role had before. Nothing where it owns the tables or belongs to who does. */
async function grant(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT quote_ident(current_schema()) AS schema, pg_has_role($1, relowner, 'MEMBER') AS owns
       FROM pg_class WHERE oid = to_regclass('events')`,
    [role],
  );
  const { schema, owns } = rows[0];
  if (owns) return;
  const name = client.escapeIdentifier(role);
  await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${name}`);
  for (const [rights, tables] of Object.entries(GRANTS)) {
    await client.query(`REVOKE ALL ON ${tables.join(', ')} FROM ${name}`);
    await client.query(`GRANT ${rights} ON ${tables.join(', ')} TO ${name}`);
  }
  await client.query(`REVOKE ALL ON SEQUENCE event_positions FROM ${name}`);
  await client.query(`GRANT USAGE, SELECT ON SEQUENCE event_positions TO ${name}`);
  await client.query('REVOKE EXECUTE ON FUNCTION forget_events FROM PUBLIC');
  await client.query(`GRANT EXECUTE ON FUNCTION forget_events TO ${name}`);
}

async function setEventRetention(client: pg.Client, days: number | undefined): Promise<void> {
  await client.query('DELETE FROM event_retention WHERE days IS DISTINCT FROM $1', [days ?? null]);
  if (days === undefined) return;
  await client.query('INSERT INTO event_retention (days) VALUES ($1) ON CONFLICT DO NOTHING', [days]);
}

const FORBIDDEN = '42501';

function explainMissingPrivilege(error: unknown): never {
  const { code } = ((error as Error).cause ?? error) as { code?: string };
  if (code !== FORBIDDEN) throw error;
  throw new Error(
    `The database lacks migrations that its role may not apply (${(error as Error).message}). Run "case-records migrate" with DATABASE_OWNER_URL.`,
    { cause: error },
  );
}
