import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate, pendingMigrations, readMigrations } from '../src/kernel/schema/migrations.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { launch, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { randomFrom } from '../test/harness/simulated-year.ts';
import { type Figures, fault, noFigures, type Proof, until } from './proof.ts';

/**
 * `migrate` is killed at each migration: while it waits in the middle of it, and at a random moment. The database is as
 * before or as after it, and the next run goes on.
 */

export const migration: Proof = {
  name: 'migration',
  about: '`migrate` is killed in the middle',
  async run({ seed, short, progress }): Promise<Figures> {
    const figures = noFigures();
    const random = randomFrom(seed);
    const home = await temporaryDirectory();
    const server = await startBundledPostgres({ dataDir: join(home.path, 'database'), log: () => {} });
    const all = await readMigrations();
    const rounds = short ? 3 : 30;
    const known = new Map<number, string>();
    /** That of a database in which nothing was killed. */
    const schemaAfter = async (count: number): Promise<string> => {
      const connection = { ...server.connection, database: `whole_${count}` };
      let schema = known.get(count);
      if (schema === undefined) {
        await admin.query(`CREATE DATABASE ${connection.database}`);
        await migrate(connection, all.slice(0, count));
        schema = await schemaOf(connection);
        known.set(count, schema);
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

        // Whoever looks at a table keeps a migration that changes it waiting, after what it has done before.
        const onlooker = new pg.Client(connection);
        await onlooker.connect();
        const waits = round % 2 === 0;
        if (waits) {
          await onlooker.query('BEGIN');
          const tables = await onlooker.query<{ t: string }>(
            `SELECT tablename AS t FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'`,
          );
          for (const { t } of tables.rows) await onlooker.query(`LOCK TABLE ${t} IN ACCESS SHARE MODE`);
        }
        const begun = launch(settings, 'migrate');
        if (waits) {
          const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`;
          await until('the migration waits', 30, async () => (await admin.query(waiting, [database])).rowCount !== 0);
        } else await pause(300 + random() * 1_500);
        begun.child.kill('SIGKILL');
        await begun.ended;
        await onlooker.end();
        const left = `SELECT 1 FROM pg_stat_activity WHERE datname = $1`;
        await until('its connections have ended', 30, async () => (await admin.query(left, [database])).rowCount === 0);

        const missing = (await pendingMigrations(connection, all)).length;
        const applied = all.length - missing;
        if ((await schemaOf(connection)) !== (await schemaAfter(applied))) {
          figures.halfWritten++;
          fault(figures, `after a kill the schema is not that of ${all[applied - 1]?.name}, which was the last`);
        }
        if (applied < from) figures.lost++;
        const next = launch(settings, 'migrate');
        if ((await next.ended) !== 0) fault(figures, `the next run failed: ${next.output.join('\n')}`);
        const after = await schemaOf(connection);
        if (round === 0) figures.notes.push(`${rounds} kills, half of them while the migration waited for a lock`);
        if (after !== (await schemaAfter(all.length))) {
          figures.halfWritten++;
          fault(figures, `after ${all[from]?.name} was killed and run again the schema differs from a new one`);
        }
        await admin.query(`DROP DATABASE ${database}`);
        figures.rounds++;
      }
    } finally {
      await admin.end();
      await server.stop();
      await home.remove();
    }
    return figures;
  },
};

type Server = { host: string; user: string; database: string };

/** Tables with their columns, indexes, constraints, triggers and functions, as one text. */
async function schemaOf(connection: Server): Promise<string> {
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
