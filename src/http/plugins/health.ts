import type { FastifyInstance } from 'fastify';
import type { Database } from '../../kernel/database/database.ts';
import { UnavailableError } from '../../kernel/errors.ts';
import type { Migration } from '../../kernel/schema/migrations.ts';
import { read } from '../../kernel/sql/query.ts';
import { sendProblem } from '../operation/problems.ts';

const lastMigration = read('migrations.last', {
  inputs: {},
  sql: () => 'SELECT max(version) AS version FROM migrations',
});

const STARTING = new UnavailableError('The service is starting.');
const STOPPING = new UnavailableError('The service is stopping.');

/** A transaction ends, or is ended, in less time than this: the log standing still for longer is worth a look. */
const MAX_STALL_SECONDS = 20;

export type HealthOptions = {
  db: Database;
  migrations: Migration[];
  /** The service listens before its start is complete: the demonstration company needs the address. */
  isStarted: () => boolean;
  /** Returns for how long followers of the event log have been shown nothing new. */
  logStalledSeconds: () => Promise<number>;
};

/**
 * `/healthz`: the process answers. `/readyz`: it can also do its work. An event log that stands still is told with 200:
 * records are read and written all the same, and 503 would make a load balancer take away every process at once.
 */
export function health(app: FastifyInstance, { db, migrations, isStarted, logStalledSeconds }: HealthOptions): void {
  const wanted = migrations.at(-1)?.version ?? 0;

  app.get('/healthz', { config: { access: 'public' } }, async () => ({ status: 'ok' }));

  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });

  app.get('/readyz', { config: { access: 'public' } }, async (request, reply) => {
    // Nothing is wrong, so nothing is logged: a supervisor asks again and again.
    if (!isStarted() || stopping) return sendProblem(request, reply, stopping ? STOPPING : STARTING);
    const row = await db.queryFirst<{ version: number | null }>(lastMigration({}));
    // A later one is of the release that follows: its migrations work while this release still runs.
    if ((row?.version ?? 0) < wanted) throw new UnavailableError('The database has not been migrated.');
    const stalled = await logStalledSeconds();
    if (stalled < MAX_STALL_SECONDS) return { status: 'ok' };
    return { status: 'degraded', event_log_stalled_seconds: Math.floor(stalled) };
  });
}
