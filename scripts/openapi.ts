import { readFile, writeFile } from 'node:fs/promises';
import pino from 'pino';
import { Database } from '../src/kernel/database/database.ts';
import { systemClock } from '../src/kernel/time/time.ts';
import { buildApp } from '../src/server/app.ts';

/** Writes openapi.json from the code; with --check, fails if the committed copy differs. */

const file = new URL('../openapi.json', import.meta.url);
// The document is built from the routes, so this database is never connected.
const db = new Database({ connection: { host: '/nowhere', user: 'nobody', database: 'none' }, poolSize: 1 });
const app = await buildApp({ db, clock: systemClock, logger: pino({ level: 'silent' }) });
await app.ready();
const generated = `${JSON.stringify(app.swagger(), null, 2)}\n`;
await app.close();
await db.close();

if (!process.argv.includes('--check')) await writeFile(file, generated);
else if ((await readFile(file, 'utf8')) !== generated) {
  console.error('openapi.json does not match the code: run `npm run openapi` and commit the result.');
  process.exitCode = 1;
}
