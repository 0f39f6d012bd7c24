import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';

const OLDEST = 150_000;

/**
 * Throws if an acknowledged write of this role could be lost, or if the server is too old for the statements here.
 * Settings can be a role's own, so it is asked as the role that writes. Returns the server's version number.
 */
export async function requireSafeServer(connection: Connection): Promise<number> {
  const client = await connectClient(connection, 'start');
  try {
    const { rows } = await client.query(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
              current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS commit,
              current_setting('synchronous_standby_names') <> '' AS replicated, current_user AS role`,
    );
    const { version, fsync, encoding, commit, replicated, role } = rows[0];
    if (version < OLDEST)
      throw new Error(`PostgreSQL 15 or later is needed; the server has ${(version / 10_000) | 0}.`);
    if (fsync === 'off') throw new Error('The server runs with fsync off: a power cut would lose acknowledged writes.');
    if (commit === 'off' || (commit === 'local' && replicated))
      throw new Error(
        `The role "${role}" works with synchronous_commit ${commit}: a crash would lose acknowledged writes. ` +
          'Set it to "on" for the role, the database or the server.',
      );
    if (encoding !== 'UTF8') throw new Error(`The database must have the encoding UTF8, not ${encoding}.`);
    return version;
  } finally {
    await client.end();
  }
}
