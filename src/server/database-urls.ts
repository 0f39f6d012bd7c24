import type { Config } from '../config.ts';
import type { Connection } from '../kernel/database/database.ts';
import { asService, findBundledPostgres, SERVICE_ROLE, type ServerConnection } from '../postgres/bundled-postgres.ts';
import type { DatabaseSetup } from './database-setup.ts';

/** How the service reaches its database, and how it is set up. */
export type Databases = { connection: Connection; setup: DatabaseSetup };

/** The operator's own; undefined where the settings name none. */
export function ownDatabase(config: Config): Databases | undefined {
  const { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, EVENT_RETENTION_DAYS: retentionDays } = config;
  if (url === undefined) return undefined;
  const connection = { connectionString: url };
  if (ownerUrl === undefined) return { connection, setup: { owner: connection, retentionDays } };
  return { connection, setup: { owner: { connectionString: ownerUrl }, service: connection, retentionDays } };
}

export const bundledDatabase = ({ EVENT_RETENTION_DAYS }: Config, owner: ServerConnection): Databases => ({
  connection: asService(owner),
  setup: { owner, roleToCreate: SERVICE_ROLE, retentionDays: EVENT_RETENTION_DAYS },
});

/** The database of a service that may come and go: nothing is started for it. */
export async function runningDatabase(config: Config): Promise<Connection> {
  const own = ownDatabase(config);
  if (own) return own.connection;
  const running = await findBundledPostgres(config.DATA_DIR);
  if (!running)
    throw new Error(`No service runs on ${config.DATA_DIR}. Run "case-records serve", or set DATABASE_URL.`);
  return bundledDatabase(config, running).connection;
}
