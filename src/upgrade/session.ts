import type pg from 'pg';
import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';

/**
 * Values are written as text, as pg_dump does: PostgreSQL promises that a newer version reads it, and makes no promise
 * about the binary format. These settings make two servers write the same text for the same value.
 */
const SETTINGS = {
  client_encoding: 'UTF8',
  datestyle: 'ISO, YMD',
  intervalstyle: 'iso_8601',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  search_path: 'pg_catalog',
  row_security: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};

/** Opens a session without the limits and the formats that a role or a database may have set. */
export async function openSession(connection: Connection): Promise<pg.Client> {
  const client = await connectClient(connection, 'upgrade');
  // If the connection breaks, the next query reports it.
  client.on('error', () => {});
  for (const [name, value] of Object.entries(SETTINGS)) {
    await client.query('SELECT set_config($1, $2, false)', [name, value]);
  }
  return client;
}
