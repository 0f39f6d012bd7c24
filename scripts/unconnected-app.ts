import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { Database } from '../src/kernel/database/database.ts';
import { systemClock } from '../src/kernel/time/time.ts';
import { buildApp } from '../src/server/app.ts';

/** Builds the app with all its routes on a database that is never connected, calls `work`, and closes it. */
export async function withUnconnectedApp(work: (app: FastifyInstance) => void): Promise<void> {
  const db = new Database({ connection: { host: '/nowhere', user: 'nobody', database: 'none' }, poolSize: 1 });
  const app = await buildApp({ db, clock: systemClock, logger: pino({ level: 'silent' }) });
  await app.ready();
  work(app);
  await app.close();
  await db.close();
}
