import pg from 'pg';
import { type Connection, withOwnSession } from './connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Opens one connection outside the pool, with a session of its own. */
export async function connectClient(connection: Connection, purpose: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...withOwnSession(connection),
    application_name: `case-records ${purpose}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect().catch((error: Error) => {
    // If every address of a host refuses, the error has a code but no message.
    throw new Error(`The database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  });
  // A broken connection would end the process otherwise. The next query reports it.
  client.on('error', () => {});
  return client;
}
