import { Client, DatabaseError } from 'pg';
import { errorCode } from './bundled-postgres-error.ts';
import { SOCKET_PORT } from './socket-directory.ts';

const DATABASE = 'case_records';
/** The role of the service. It owns nothing; the owner of the tables grants its privileges. */
export const SERVICE_ROLE = 'case_records_service';
const CONNECT_TIMEOUT_MS = 5_000;

/** Options of a `pg` client. Port and ssl are explicit, because PGPORT and PGSSLMODE would apply otherwise. */
export type ServerConnection = { host: string; port: number; user: string; database: string; ssl: false };

export function connectionTo(host: string, database = DATABASE): ServerConnection {
  return { host, port: SOCKET_PORT, user: 'postgres', database, ssl: false };
}

/** Returns the connection with the role of the service. */
export const asServiceRole = (owner: ServerConnection): ServerConnection => ({ ...owner, user: SERVICE_ROLE });

const CANNOT_CONNECT_NOW = '57P03';

/** A server is `unready` while it starts or stops; it `refuses` for any other reason. */
export type ServerState = 'answers' | 'unready' | 'refuses' | 'silent' | 'absent';

/** Connects to find out whether a server listens on the socket, whatever its container or pid. */
export async function probeServer(connection: ServerConnection): Promise<ServerState> {
  try {
    await withClient(connection, (client) => client.query('SELECT 1'));
    return 'answers';
  } catch (error) {
    if (error instanceof DatabaseError) return error.code === CANNOT_CONNECT_NOW ? 'unready' : 'refuses';
    return ['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '') ? 'absent' : 'silent';
  }
}

export async function ensureDatabase(host: string): Promise<void> {
  await withClient(connectionTo(host, 'postgres'), async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

/** Returns the value of a setting; undefined if the server refuses the connection. */
export const readSetting = (connection: ServerConnection, name: string): Promise<string | undefined> =>
  withClient(
    connection,
    async (client) => (await client.query('SELECT current_setting($1) AS value', [name])).rows[0].value,
  ).catch(() => undefined);

async function withClient<T>(connection: ServerConnection, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...connection, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
