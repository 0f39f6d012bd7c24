import type { FastifyInstance } from 'fastify';
import type { Database } from '../kernel/database.ts';
import { CodedError } from '../kernel/errors.ts';
import type { Migration } from '../kernel/migrations.ts';
import { statement } from '../kernel/sql.ts';

const applied = statement('migrations.last', 'SELECT max(version) AS version FROM migrations');

export type HealthOptions = {
  db: Database;
  migrations: Migration[];
  /** The service listens before its start is complete: the demonstration company needs the address. */
  isStarted: () => boolean;
};

/** `/healthz`: the process answers. `/readyz`: it can also do its work. */
export function health(app: FastifyInstance, { db, migrations, isStarted }: HealthOptions): void {
  const wanted = migrations.at(-1)?.version;

  app.get('/healthz', { config: { access: 'public' } }, async () => ({ status: 'ok' }));

  app.get('/readyz', { config: { access: 'public' } }, async () => {
    if (!isStarted()) throw new CodedError('unavailable', 'The service is starting.');
    const row = await db.first<{ version: number | null }>(applied, []);
    if (row?.version !== wanted) throw new CodedError('unavailable', 'The database has not been migrated.');
    return { status: 'ok' };
  });
}
