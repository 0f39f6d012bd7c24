import { connectClient } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { requireUsablePooler } from './pooler-requirements.ts';

const MIN_VERSION = 150_000;

/**
 * Throws if an acknowledged write of this role could be lost, or if the server is too old. Settings can differ between
 * roles, so the connection must be that of the role that writes. Returns the server's version number.
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
    if (version < MIN_VERSION)
      throw new Error(`PostgreSQL 15 or later is required; the server is version ${(version / 10_000) | 0}.`);
    if (fsync === 'off')
      throw new Error('The server runs with fsync off: a power cut would lose acknowledged writes. Set fsync to "on".');
    if (commit === 'off' || (commit === 'local' && replicated))
      throw new Error(
        `The role "${role}" has synchronous_commit ${commit}: a crash would lose acknowledged writes. ` +
          'Set it to "on" for the role, the database or the server.',
      );
    await requireUsablePooler(connection, client);
    if (encoding !== 'UTF8') throw new Error(`The database must have the encoding UTF8, not ${encoding}.`);
    return version;
  } finally {
    await client.end();
  }
}
