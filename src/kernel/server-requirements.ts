import { openClient } from './client.ts';
import type { Connection } from './database.ts';

const OLDEST = 150_000;

/** Refuses a server on which an acknowledged write could be lost, or which is too old for the statements here. */
export async function requireSafeServer(connection: Connection): Promise<void> {
  const client = await openClient(connection, 'start');
  try {
    const { rows } = await client.query(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
              current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS commit,
              current_setting('synchronous_standby_names') <> '' AS replicated`,
    );
    const { version, fsync, encoding, commit, replicated } = rows[0];
    if (version < OLDEST)
      throw new Error(`PostgreSQL 15 or later is needed; the server has ${(version / 10_000) | 0}.`);
    if (fsync === 'off') throw new Error('The server runs with fsync off: a power cut would lose acknowledged writes.');
    if (commit === 'off' || (commit === 'local' && replicated))
      throw new Error(`The server runs with synchronous_commit ${commit}: a crash would lose acknowledged writes.`);
    if (encoding !== 'UTF8') throw new Error(`The database must have the encoding UTF8, not ${encoding}.`);
  } finally {
    await client.end();
  }
}
