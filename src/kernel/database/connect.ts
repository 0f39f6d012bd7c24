import pg from 'pg';
import type { Connection } from './database.ts';

const CONNECT_MS = 10_000;

/** One connection of its own, outside the pool. */
export async function connectClient(connection: Connection, purpose: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    application_name: `case-records ${purpose}`,
    connectionTimeoutMillis: CONNECT_MS,
  });
  await client.connect().catch((error: Error) => {
    // Where every address of a name refuses, the error has a code and no message.
    throw new Error(`The database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  });
  return client;
}
