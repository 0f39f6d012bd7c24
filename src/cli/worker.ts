import type { Logger } from 'pino';
import { readRestoreMark } from '../backup/restore-mark.ts';
import { ConfigError } from '../config.ts';
import type { Connection } from '../kernel/database/database.ts';
import { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { isUsableWithout } from '../kernel/schema/previous-release.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { systemClock } from '../kernel/time/time.ts';
import { findRunningDatabase } from '../server/database-urls.ts';
import type { Command } from './command.ts';
import { assertMigrated } from './database.ts';

/** Works with the schema of the previous release too, so that workers can be replaced before the migrations. */
async function assertUsable(connection: Connection, logger: Logger): Promise<void> {
  const migrations = await readMigrations();
  const missing = await pendingMigrations(connection, migrations);
  if (!isUsableWithout(missing, migrations)) await assertMigrated(connection);
  else if (missing.length > 0) logger.warn({ missing }, 'migrations are missing: run "case-records migrate"');
}

export const commands: Command[] = [
  {
    name: 'worker',
    summary: 'Run a worker in a process of its own',
    description:
      'Sends messages and webhooks and keeps meetings in step, until it receives a signal. It shares the jobs with ' +
      'all workers on the same database, including the one in the service. A service with WORKER_CONCURRENCY=0 runs none.',
    examples: ['worker'],
    run: async ({ config }) => ({
      config,
      start: async (logger) => {
        if (config.WORKER_CONCURRENCY === 0)
          throw new ConfigError(['WORKER_CONCURRENCY must be at least 1 for a worker, not "0"']);
        const connection = await findRunningDatabase(config);
        await requireSafeServer(connection);
        await assertUsable(connection, logger);
        if (config.DATABASE_URL === undefined && (await readRestoreMark(config.DATA_DIR))) {
          throw new Error('The service has not finished its start after a restore. Start the worker again.');
        }
        const { runWorker } = await import('../server/worker.ts');
        const { logWorkerStart } = await import('../server/start-summary.ts');
        const counters = new DeliveryCounters();
        const stop = await runWorker({ config, connection, clock: systemClock, logger, counters });
        logWorkerStart(logger, config);
        return { failed: new Promise(() => {}), stop };
      },
    }),
  },
];
