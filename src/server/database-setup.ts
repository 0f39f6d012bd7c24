import { CASE_GRANTS } from '../cases/grants.ts';
import { COMPANY_GRANTS } from '../company/grants.ts';
import { EVENT_GRANTS } from '../events/grants.ts';
import { setEventRetention } from '../events/retention-setting.ts';
import { IDEMPOTENCY_GRANTS } from '../http/operation/grants.ts';
import { type Grant, MIGRATION_GRANTS } from '../kernel/schema/grants.ts';
import type { Migration, MigrationProgress } from '../kernel/schema/migrations.ts';
import { type SchemaSetup, setUpSchema } from '../kernel/schema/setup.ts';
import { SEARCH_GRANTS } from '../search/grants.ts';
import { WEBHOOK_GRANTS } from '../webhooks/grants.ts';

export type DatabaseSetup = Pick<SchemaSetup, 'owner' | 'service' | 'roleToCreate' | 'mayLackMigrations'> & {
  /** For how many days events are kept. */
  retentionDays?: number | undefined;
};

/** Everything that the service's role may do. */
export const GRANTS: readonly Grant[] = [
  ...CASE_GRANTS,
  ...COMPANY_GRANTS,
  ...EVENT_GRANTS,
  ...IDEMPOTENCY_GRANTS,
  ...MIGRATION_GRANTS,
  ...SEARCH_GRANTS,
  ...WEBHOOK_GRANTS,
];

/** Brings the schema, the privileges of the service's role and the retention of events up to date. */
export const setUpDatabase = (
  { retentionDays, ...setup }: DatabaseSetup,
  migrations: Migration[],
  progress?: MigrationProgress,
): Promise<string[]> =>
  setUpSchema({
    ...setup,
    migrations,
    progress,
    grants: GRANTS,
    configure: (client) => setEventRetention(client, retentionDays),
  });
