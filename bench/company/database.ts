import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Database } from '../../src/kernel/database/database.ts';
import { migrate, readMigrations } from '../../src/kernel/schema/migrations.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { urlOf } from '../../test/harness/service.ts';
import { createCompanies, type SeededCompany } from '../seed.ts';
import { COMPANIES, seedLargeCompany, sizeAt } from './seed.ts';

/**
 * Keeps a database with large companies for experiments: `node bench/company/database.ts --dir <folder> --scale 0.01`.
 * The first run fills the folder; a later one only applies new migrations. Prints what is needed to use it, and runs
 * until it is interrupted.
 */

const { values } = parseArgs({ options: { dir: { type: 'string' }, scale: { type: 'string', default: '0.01' } } });
if (values.dir === undefined) throw new Error('Pass --dir <folder>. The folder may be new.');
const dataDir = resolve(values.dir);
const postgres = await startBundledPostgres({ dataDir, log: () => {}, settings: { max_connections: '200' } });
// Waiting for a signal does not keep a process alive.
const keepAlive = setInterval(() => {}, 60_000);
try {
  const { connection } = postgres;
  await migrate(connection, await readMigrations(), { onMigration: (name) => say(`Migration ${name} …`) });
  const file = join(dataDir, 'companies.json');
  const companies = await readCompanies(file);
  if (companies.length === 0) {
    const db = new Database({ connection, poolSize: 1 });
    companies.push(...(await createCompanies(db, COMPANIES).finally(() => db.close())));
    const client = new pg.Client(connection);
    await client.connect();
    await seedLargeCompany(client, companies, sizeAt(Number(values.scale)), (step) => say(`Seeding ${step} …`));
    await client.end();
    await writeFile(file, JSON.stringify(companies));
  }
  console.log(JSON.stringify({ url: urlOf(connection), pid: process.pid, largest: companies[0], companies: file }));
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), postgres.exited]);
} finally {
  clearInterval(keepAlive);
  await postgres.stop();
}

async function readCompanies(file: string): Promise<SeededCompany[]> {
  const text = await readFile(file, 'utf8').catch(() => '[]');
  return JSON.parse(text);
}

function say(line: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
