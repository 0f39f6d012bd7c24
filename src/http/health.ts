import type { FastifyInstance } from 'fastify';
import type { Database } from '../kernel/database.ts';
import { CodedError } from '../kernel/errors.ts';
import type { Migration } from '../kernel/migrations.ts';
import { statement } from '../kernel/sql.ts';

const applied = statement('migrations.last', 'SELECT max(version) AS version FROM migrations');

/** `/healthz`: the process answers. `/readyz`: it can also do its work. */
export function health(app: FastifyInstance, db: Database, migrations: Migration[]): void {
  const wanted = migrations.at(-1)?.version;

  app.get('/healthz', { config: { access: 'public' } }, async () => ({ status: 'ok' }));

  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });

  app.get('/readyz', { config: { access: 'public' } }, async () => {
    if (stopping) throw new CodedError('unavailable', 'The service is stopping.');
    const row = await db.first<{ version: number | null }>(applied, []);
    if (row?.version !== wanted) throw new CodedError('unavailable', 'The database has not been migrated.');
    return { status: 'ok' };
  });
}
