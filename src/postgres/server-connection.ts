import { Client, DatabaseError } from 'pg';
import { errorCode } from './bundled-postgres-error.ts';
import { SOCKET_PORT } from './socket-directory.ts';

const DATABASE = 'case_records';
/** Owns nothing: what it may do, the owner of the tables says. */
export const SERVICE_ROLE = 'case_records_service';
const ANSWER_TIMEOUT = 5_000;

/** For a client of `pg`. Port and ssl are there because PGPORT and PGSSLMODE would otherwise count. */
export type ServerConnection = { host: string; port: number; user: string; database: string; ssl: false };

export function connectionTo(host: string, database = DATABASE): ServerConnection {
  return { host, port: SOCKET_PORT, user: 'postgres', database, ssl: false };
}

/** The same database for the service itself. */
export const asService = (owner: ServerConnection): ServerConnection => ({ ...owner, user: SERVICE_ROLE });

const CANNOT_CONNECT_NOW = '57P03';

/** A server is `unready` while it starts or stops, and it `refuses` for every other reason. */
export type Presence = 'answers' | 'unready' | 'refuses' | 'silent' | 'absent';

/** Whether there is a server behind the socket, in whatever container or under whatever pid it runs. */
export async function presenceOf(connection: ServerConnection): Promise<Presence> {
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
    const { rowCount: roles } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ROLE]);
    if (roles === 0) await client.query(`CREATE ROLE ${SERVICE_ROLE} LOGIN`);
  });
}

async function withClient<T>(connection: ServerConnection, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...connection, connectionTimeoutMillis: ANSWER_TIMEOUT });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
