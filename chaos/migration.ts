import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate, pendingMigrations, readMigrations, separateStatements } from '../src/kernel/schema/migrations.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { makeDataDirectory } from '../test/harness/data-directory.ts';
import { launch, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { addFault, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';

/**
 * `migrate` is killed at each migration, while it waits for a lock or at a random moment. The schema must be that
 * before or after the migration, and the next run must complete it. Of a migration outside of a transaction some
 * statements may have been executed.
 */

export const migration: ChaosTest = {
  name: 'migration',
  description: '`migrate` is killed during a migration',
  async run({ seed, short, progress }): Promise<Results> {
    const results = emptyResults();
    const random = randomFrom(seed);
    const home = await temporaryDirectory();
    const dataDir = join(home.path, 'database');
    await makeDataDirectory('initialised', dataDir);
    const server = await startBundledPostgres({ dataDir, log: () => {} });
    const all = await readMigrations();
    const rounds = short ? 2 : 30;
    const schemas = new Map<number, string>();
    /** The schema after `count` migrations without a kill. */
    const expectedSchema = async (count: number): Promise<string> => {
      const connection = { ...server.connection, database: `whole_${count}` };
      let schema = schemas.get(count);
      if (schema === undefined) {
        await admin.query(`CREATE DATABASE ${connection.database}`);
        await migrate(connection, all.slice(0, count));
        schema = await readSchema(connection);
        schemas.set(count, schema);
      }
      return schema;
    };
    const admin = new pg.Client(server.connection);
    await admin.connect();
    try {
      for (let round = 0; round < rounds; round++) {
        const database = `round_${round}`;
        const connection = { ...server.connection, database };
        await admin.query(`CREATE DATABASE ${database}`);
        const from = 1 + (round % (all.length - 1));
        await migrate(connection, all.slice(0, from));
        const settings = { DATABASE_URL: urlOf(connection) };
        progress(`round ${round + 1} of ${rounds}: from ${all[from]?.name}`);

        // A lock of a reader makes the migration wait in the middle, after its first statements.
        const reader = new pg.Client(connection);
        await reader.connect();
        const blocks = round % 2 === 0;
        if (blocks) {
          await reader.query('BEGIN');
          const tables = await reader.query<{ t: string }>(
            `SELECT tablename AS t FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'`,
          );
          for (const { t } of tables.rows) await reader.query(`LOCK TABLE ${t} IN ACCESS SHARE MODE`);
        }
        const migrating = launch(settings, 'migrate');
        if (blocks) {
          const selectWaiting = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`;
          await waitUntil(
            'the migration waits for a lock',
            30,
            async () => (await admin.query(selectWaiting, [database])).rowCount !== 0,
          );
        } else await pause(300 + random() * 1_500);
        migrating.child.kill('SIGKILL');
        await migrating.ended();
        await reader.end();
        const selectConnections = `SELECT 1 FROM pg_stat_activity WHERE datname = $1`;
        await waitUntil(
          'its connections have ended',
          30,
          async () => (await admin.query(selectConnections, [database])).rowCount === 0,
        );

        const missing = (await pendingMigrations(connection, all)).length;
        const applied = all.length - missing;
        const isAtomic = separateStatements(all[applied]?.sql ?? '') === undefined;
        if (isAtomic && (await readSchema(connection)) !== (await expectedSchema(applied))) {
          results.halfWritten++;
          addFault(results, `after a kill the schema is not that of ${all[applied - 1]?.name}, the last one applied`);
        }
        if (applied < from) results.lost++;
        const next = launch(settings, 'migrate');
        if ((await next.ended()) !== 0) addFault(results, `the next run failed: ${next.output.join('\n')}`);
        const after = await readSchema(connection);
        if (round === 0) results.notes.push(`${rounds} kills, half of them while the migration waited for a lock`);
        if (after !== (await expectedSchema(all.length))) {
          results.halfWritten++;
          addFault(results, `after ${all[from]?.name} was killed and run again the schema differs from a new one`);
        }
        await admin.query(`DROP DATABASE ${database}`);
        results.rounds++;
      }
    } finally {
      await admin.end();
      await server.stop();
      await home.remove();
    }
    return results;
  },
};

type ServerAddress = { host: string; user: string; database: string };

/** Returns columns, indexes, constraints, triggers and functions of the schema as one text. */
async function readSchema(connection: ServerAddress): Promise<string> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(
      `SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
         FROM information_schema.columns WHERE table_schema = 'public'
       UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
       UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
          WHERE connamespace = 'public'::regnamespace
       UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
       UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       ORDER BY 1`,
    );
    return rows.map(({ line }) => line).join('\n');
  } finally {
    await client.end();
  }
}
