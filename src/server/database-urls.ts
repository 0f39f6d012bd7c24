import type { Config } from '../config.ts';
import type { Connection } from '../kernel/database/database.ts';
import {
  asServiceRole,
  findBundledPostgres,
  SERVICE_ROLE,
  type ServerConnection,
} from '../postgres/bundled-postgres.ts';
import type { DatabaseSetup } from './database-setup.ts';

/** How the service connects to its database, and how the schema is set up. */
export type DatabaseAccess = { connection: Connection; setup: DatabaseSetup };

/** Returns the operator's PostgreSQL; undefined if DATABASE_URL is not set. */
export function externalDatabase(config: Config): DatabaseAccess | undefined {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_OWNER_URL: ownerUrl } = config;
  if (url === undefined) return undefined;
  const retentionDays = config.EVENT_RETENTION_DAYS;
  const connection = { connectionString: url, directUrl };
  if (ownerUrl === undefined) return { connection, setup: { owner: connection, retentionDays } };
  return { connection, setup: { owner: { connectionString: ownerUrl }, service: connection, retentionDays } };
}

export const bundledDatabase = ({ EVENT_RETENTION_DAYS }: Config, owner: ServerConnection): DatabaseAccess => ({
  connection: asServiceRole(owner),
  setup: { owner, roleToCreate: SERVICE_ROLE, retentionDays: EVENT_RETENTION_DAYS },
});

/** Returns the operator's database, or the bundled one of a running service. Never starts a server. */
export async function findRunningDatabase(config: Config): Promise<Connection> {
  const external = externalDatabase(config);
  if (external) return external.connection;
  const running = await findBundledPostgres(config.DATA_DIR);
  if (!running) {
    throw new Error(`No service runs on ${config.DATA_DIR}. Run "case-records serve", or set DATABASE_URL.`);
  }
  return bundledDatabase(config, running).connection;
}

/** Returns the settings of the bundled server. Without a command of its own it keeps the WAL for the service. */
export const bundledSettings = ({ BACKUP_DIR, BACKUP_WAL }: Config): Record<string, string> =>
  BACKUP_DIR !== undefined && BACKUP_WAL ? { archive_mode: 'on', archive_timeout: '60s' } : {};
