import type { FastifyInstance } from 'fastify';
import type { Database } from '../../kernel/database/database.ts';
import { UnavailableError } from '../../kernel/errors.ts';
import { PREVIOUS_RELEASE_MIGRATION } from '../../kernel/schema/previous-release.ts';
import { read } from '../../kernel/sql/statement.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { sendProblem } from '../operation/problems.ts';

const lastMigration = read('migrations.last', {
  inputs: {},
  sql: () => 'SELECT max(version) AS version FROM migrations',
});

/** Returns the version of the last migration that was applied. */
export async function lastMigrationOf(db: Database): Promise<number> {
  const row = await db.queryFirst<{ version: number | null }>(lastMigration({}));
  return row?.version ?? 0;
}

const STARTING = new UnavailableError('The service is starting.');
const STOPPING = new UnavailableError('The service is stopping.');

/** Every transaction ends within this time, so a log that is stalled for longer needs attention. */
const MAX_STALL_SECONDS = 20;
const CHECK_INTERVAL_MS = 1_000;

/** Returns whether the service can serve requests. The answer may be a second old. */
export type ReadinessCheck = () => Promise<boolean>;

type HealthOptions = {
  findLastMigration: () => Promise<number>;
  clock: Clock;
  /** The last migration that the service cannot do without; by default that of the previous release. */
  requiredMigration?: number | undefined;
  /** The service listens before its start is complete, because the demonstration company needs the address. */
  isStarted: () => boolean;
  /** Returns for how long followers of the event log have received nothing new. */
  logStalledSeconds: () => Promise<number>;
};

/**
 * `/healthz`: the process responds. `/readyz`: it can also serve requests. A stalled event log is reported with 200,
 * because records can still be read and written, and with 503 a load balancer would remove all processes.
 */
export function health(
  app: FastifyInstance,
  {
    findLastMigration,
    clock,
    requiredMigration = PREVIOUS_RELEASE_MIGRATION,
    isStarted,
    logStalledSeconds,
  }: HealthOptions,
): ReadinessCheck {
  app.get('/healthz', { config: { access: 'public' } }, async () => ({ status: 'ok' }));

  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });

  const checkDatabase = async (): Promise<void> => {
    // A newer schema is ready too: migrations of the next release work while this release still runs. So is the schema
    // of the previous release, so that processes can be replaced before the migrations.
    if ((await findLastMigration()) < requiredMigration) throw new UnavailableError('The database lacks migrations.');
  };

  app.get('/readyz', { config: { access: 'public' } }, async (request, reply) => {
    // This is expected and polled, so it is not logged.
    if (!isStarted() || stopping) return sendProblem(request, reply, stopping ? STOPPING : STARTING);
    await checkDatabase();
    const stalled = await logStalledSeconds();
    if (stalled < MAX_STALL_SECONDS) return { status: 'ok' };
    return { status: 'degraded', event_log_stalled_seconds: Math.floor(stalled) };
  });

  let checkedAt = -Infinity;
  let lastCheck = Promise.resolve(false);
  return async () => {
    if (!isStarted() || stopping) return false;
    const now = clock().epochMilliseconds;
    // Strangers can ask as often as they like, so their requests share one check.
    if (Math.abs(now - checkedAt) >= CHECK_INTERVAL_MS) {
      checkedAt = now;
      lastCheck = checkDatabase().then(
        () => true,
        () => false,
      );
    }
    return lastCheck;
  };
}
