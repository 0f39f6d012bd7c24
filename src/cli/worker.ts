import { ConfigError } from '../config.ts';
import { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { systemClock } from '../kernel/time/time.ts';
import { runningDatabase } from '../server/database-urls.ts';
import type { Command } from './command.ts';
import { requireMigrated } from './database.ts';

export const commands: Command[] = [
  {
    name: 'worker',
    summary: 'Send what is due, beside the service',
    description:
      'Shares the work with every other worker on the same database, the one in the service included, until it is told to stop. A service with WORKER_CONCURRENCY=0 leaves all of it to such processes.',
    examples: ['worker'],
    run: async ({ config }) => ({
      config,
      start: async (logger) => {
        if (config.WORKER_CONCURRENCY === 0) throw new ConfigError(['WORKER_CONCURRENCY is 0: nothing would be sent']);
        const connection = await runningDatabase(config);
        await requireSafeServer(connection);
        await requireMigrated(connection);
        const { runWorker } = await import('../server/worker.ts');
        const outcomes = new DeliveryCounters();
        const stop = await runWorker({ config, connection, clock: systemClock, logger, outcomes });
        console.log('Case Records sends what is due');
        return { failed: new Promise(() => {}), stop };
      },
    }),
  },
];
