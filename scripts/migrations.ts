import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClient } from '../src/kernel/database/connect.ts';
import { EFFECTS_FILE } from '../src/kernel/schema/migration-effects.ts';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { observeMigrations } from './observe-migrations.ts';

/** npm run migrations: writes migrations/effects.json, from which "upgrade --check" says what locks what. */

const dataDir = await mkdtemp(join(tmpdir(), 'case-records-migrations-'));
const server = await startBundledPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
try {
  const client = await connectClient(server.connection, 'migrations');
  const effects = await observeMigrations(client, await readMigrations());
  await client.end();
  const lines = Object.entries(effects).map(
    ([name, list]) =>
      `  ${JSON.stringify(name)}: [${list.map((effect) => `\n    ${JSON.stringify(effect)}`).join(',')}\n  ]`,
  );
  await writeFile(EFFECTS_FILE, `{\n${lines.join(',\n').replaceAll('[\n  ]', '[]')}\n}\n`);
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true });
}
