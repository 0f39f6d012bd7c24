import type pg from 'pg';
import { connectClient } from '../database/connect.ts';
import { type Connection, sharesSessions } from '../database/connection.ts';

/** What a connection shows of the server behind it. */
type Probe = { pid: number; server: string };

const PROBE = {
  name: 'case_records_probe',
  text: `SELECT pg_backend_pid() AS pid,
                concat_ws(' ', pg_postmaster_start_time(), current_database(), current_user) AS server`,
};
const PROBES = 5;
// The session has no such prepared statement, or has one already that another connection has prepared.
const UNPREPARED_CODES = ['26000', '42P05'];

/**
 * Throws if a pooler in between shares sessions and the settings do not say so, or if it does not keep the prepared
 * statements of each connection. `direct` is a connection with a session of its own.
 */
export async function requireUsablePooler(connection: Connection, direct: pg.Client): Promise<void> {
  const pooled = 'connectionString' in connection ? { connectionString: connection.connectionString } : connection;
  const { isShared, keepsPrepared, server } = await probeSessions(pooled);
  if (isShared && !sharesSessions(connection))
    throw new Error(
      'The connection pooler gives each transaction another session. Set DATABASE_DIRECT_URL to the address of the ' +
        'server itself, and if DATABASE_OWNER_URL is set, give it that address too; or set pool_mode to "session".',
    );
  if (!sharesSessions(connection)) return;
  if (!keepsPrepared)
    throw new Error(
      'The connection pooler does not keep prepared statements: use PgBouncer 1.21 or later with ' +
        'max_prepared_statements above 0, or set pool_mode to "session" and remove DATABASE_DIRECT_URL.',
    );
  if (server !== (await direct.query<Probe>(PROBE)).rows[0]?.server)
    throw new Error('DATABASE_DIRECT_URL must lead to the same server, database and role as DATABASE_URL.');
}

/** Two connections take turns: a pooler that shares sessions gives one of them a session that the other had. */
async function probeSessions(pooled: Connection) {
  const clients = [await connectClient(pooled, 'start'), await connectClient(pooled, 'start')];
  let server: string | undefined;
  try {
    const sessions = clients.map(() => new Set<number>());
    for (let i = 0; i < PROBES * clients.length; i++) {
      const { rows } = await (clients[i % 2] as pg.Client).query<Probe>(PROBE);
      const { pid, server: found } = rows[0] as Probe;
      server = found;
      sessions[i % 2]?.add(pid);
    }
    const [one = new Set(), other = new Set()] = sessions;
    return { isShared: one.size > 1 || !one.isDisjointFrom(other), keepsPrepared: true, server };
  } catch (error) {
    if (!UNPREPARED_CODES.includes((error as { code?: string }).code ?? '')) throw error;
    return { isShared: true, keepsPrepared: false, server };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
