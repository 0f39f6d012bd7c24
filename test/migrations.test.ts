import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { type Migration, migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import { until, within } from './harness/until.ts';

const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');

/** An empty database of its own for each test. */
async function withDatabase(work: (connection: typeof server, client: pg.Client) => Promise<void>): Promise<void> {
  const connection = { ...server, database: `migrate_${randomBytes(6).toString('hex')}` };
  const admin = new pg.Client(server);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${connection.database}`);
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await work(connection, client);
  } finally {
    await client.end();
    await admin.query(`DROP DATABASE ${connection.database} WITH (FORCE)`);
    await admin.end();
  }
}

const migration = (version: number, sql: string): Migration => ({
  version,
  name: `000${version}_test.sql`,
  sql,
  sha256: sql,
});

test('ten concurrent processes migrate an empty database exactly once', () =>
  withDatabase(async (connection, client) => {
    const migrations = await readMigrations();
    const runs = await Promise.all(Array.from({ length: 10 }, () => migrate(connection, migrations)));
    assert.deepEqual(
      runs.flat(),
      migrations.map(({ name }) => name),
    );
    assert.equal((await client.query('SELECT * FROM migrations')).rowCount, migrations.length);
  }));

const ADD_COLUMN = 'ALTER TABLE one ADD COLUMN name text';
for (const [kind, sql] of [
  ['migration', ADD_COLUMN],
  ['step of a migration', `-- outside of a transaction\n-- Not CONCURRENTLY.\n${ADD_COLUMN};\n`],
] as const) {
  test(`a ${kind} that waits for a long transaction holds up nobody, and is applied when the transaction ends`, () =>
    withDatabase(async (connection, client) => {
      const first = migration(1, 'CREATE TABLE one (id int)');
      await migrate(connection, [first]);
      const reader = new pg.Client(connection);
      await reader.connect();
      try {
        await reader.query('BEGIN; SELECT * FROM one');
        let isApplied = false;
        const migrating = migrate(connection, [first, migration(2, sql)]).then(() => {
          isApplied = true;
        });
        const isWaiting = async () =>
          (await client.query(`SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted`)).rowCount ===
          1;
        await until(isWaiting, 'the migration to wait', 5_000);
        // The requests queue behind the migration until it lets them through.
        await within(client.query('SELECT * FROM one'), 'a request behind the migration', 10_000);
        assert.equal(isApplied, false);
        await reader.query('COMMIT');
        await migrating;
        assert.deepEqual((await client.query('SELECT name FROM one')).rows, []);
      } finally {
        await reader.end();
      }
    }));
}

test('a step that builds an index concurrently waits for long transactions without giving up', () =>
  withDatabase(async (connection, client) => {
    const first = migration(1, 'CREATE TABLE one (id int)');
    const steps = migration(2, '-- outside of a transaction\nCREATE INDEX CONCURRENTLY one_id ON one (id);\n');
    await migrate(connection, [first]);
    const writer = new pg.Client(connection);
    await writer.connect();
    try {
      await writer.query('BEGIN; INSERT INTO one VALUES (1)');
      const migrating = migrate(connection, [first, steps]);
      const longerThanOthers = `SELECT FROM pg_locks WHERE NOT granted AND clock_timestamp() - waitstart > interval '2.5 s'`;
      const hasWaited = async () => (await client.query(longerThanOthers)).rowCount === 1;
      await Promise.race([until(hasWaited, 'the migration to wait', 20_000), migrating]);
      await writer.query('COMMIT');
      assert.deepEqual(await migrating, ['0002_test.sql']);
    } finally {
      await writer.end();
    }
  }));

test('no time limit of a role or a database ends a migration', () =>
  withDatabase(async (connection) => {
    const limited = { ...connection, options: '-c statement_timeout=50 -c transaction_timeout=60 -c lock_timeout=50' };
    await migrate(limited, [
      migration(1, 'SELECT pg_sleep(0.1)'),
      migration(2, '-- outside of a transaction\nSELECT pg_sleep(0.1)'),
    ]);
  }));

test('a second run applies nothing', () =>
  withDatabase(async (connection) => {
    const migrations = await readMigrations();
    await migrate(connection, migrations);
    assert.deepEqual(await migrate(connection, migrations), []);
  }));

test('a migration that fails leaves the database as it was before it, and the next start goes on from there', () =>
  withDatabase(async (connection, client) => {
    const first = migration(1, 'CREATE TABLE one ()');
    const broken = migration(2, 'CREATE TABLE two (); SELECT 1 / 0');
    await assert.rejects(migrate(connection, [first, broken]), /0002_test.sql/);
    assert.deepEqual(
      (await client.query(`SELECT to_regclass('one') IS NOT NULL AS one, to_regclass('two') AS two`)).rows,
      [{ one: true, two: null }],
    );
    assert.deepEqual(await migrate(connection, [first, migration(2, 'CREATE TABLE two ()')]), ['0002_test.sql']);
  }));

test('a migration that cannot be noted down leaves nothing either', () =>
  withDatabase(async (connection, client) => {
    const first = migration(1, 'CREATE TABLE one ()');
    const unnoted = migration(2, 'CREATE TABLE two (); ALTER TABLE migrations ADD CHECK (version < 2)');
    await assert.rejects(migrate(connection, [first, unnoted]), /0002_test.sql/);
    assert.deepEqual((await client.query(`SELECT to_regclass('two') AS two`)).rows, [{ two: null }]);
    assert.deepEqual(await migrate(connection, [first, migration(2, 'CREATE TABLE two ()')]), ['0002_test.sql']);
  }));

test('a migration outside of a transaction is completed by the next start if it was interrupted', () =>
  withDatabase(async (connection, client) => {
    const table = migration(1, 'CREATE TABLE one (id integer)');
    const steps = (last: string) =>
      migration(
        2,
        `-- outside of a transaction
-- An index without a lock; built anew.
DROP INDEX CONCURRENTLY IF EXISTS one_id;
CREATE UNIQUE INDEX CONCURRENTLY one_id ON one (id);
${last};
`,
      );
    await client.query('CREATE TABLE one (id integer); INSERT INTO one VALUES (1), (1)');
    const known = { ...table, sql: 'SELECT 1' };
    await assert.rejects(migrate(connection, [known, steps('SELECT 1')]), /0002_test.sql failed: .*unique/);
    await client.query('DELETE FROM one');
    await assert.rejects(migrate(connection, [known, steps('SELECT 1 / 0')]), /0002_test.sql failed: division/);
    assert.deepEqual(await migrate(connection, [known, steps('SELECT 1')]), ['0002_test.sql']);
    assert.deepEqual(
      (await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'one_id'::regclass`)).rows,
      [{ indisvalid: true }],
    );
  }));

test('a migration that was edited after it had been applied is refused', () =>
  withDatabase(async (connection) => {
    await migrate(connection, [migration(1, 'CREATE TABLE one ()')]);
    await assert.rejects(migrate(connection, [migration(1, 'CREATE TABLE uno ()')]), /changed after/);
  }));

test('a database of a newer version is refused', () =>
  withDatabase(async (connection) => {
    await migrate(connection, [migration(1, 'CREATE TABLE one ()'), migration(2, 'CREATE TABLE two ()')]);
    await assert.rejects(migrate(connection, [migration(1, 'CREATE TABLE one ()')]), /newer version/);
  }));

test('people whose names have letters that are folded since migration 0040 are found by the indexes of lists', () =>
  withDatabase(async (connection, client) => {
    const migrations = await readMigrations();
    await migrate(
      connection,
      migrations.filter(({ version }) => version < 40),
    );
    await client.query('SET session_replication_role = replica; SET enable_seqscan = off');
    await client.query(
      `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, email, tel_1, tel_2,
                           created_at, updated_at)
       SELECT id, id, id, id, '', 'Þór', 'Œuvrard', 'œ@client.example', '1', '1', now(), now()
         FROM (SELECT gen_random_uuid() AS id)`,
    );
    // What an interruption leaves.
    await client.query('CREATE INDEX people_of_company_name_ccnew ON people (company_id)');
    await migrate(connection, migrations);
    const name = `(left(fold_text(left(last_name, 100) || ', ' || left(first_names, 100)), 200) COLLATE "C")`;
    const email = `(left(fold_text(left(coalesce(email, ''), 254)), 254) COLLATE "C")`;
    const digits = (phone: string) => `right(regexp_replace(left(${phone}, 100), '[^0-9]', '', 'g'), 9) = '1'`;
    for (const [index, condition] of [
      ['name', `${name} >= 'oeuvrard, thor' AND ${name} < 'of'`],
      ['email', `${email} >= 'oe' AND ${email} < 'of'`],
      ['tel_1', `tel_1 IS NOT NULL AND ${digits('tel_1')} AND ${name} >= 'oe' AND ${name} < 'of'`],
      ['tel_2', `tel_2 IS NOT NULL AND ${digits('tel_2')} AND ${name} >= 'oe' AND ${name} < 'of'`],
    ] as const) {
      const found = `SELECT id FROM people WHERE company_id = (SELECT company_id FROM people LIMIT 1) AND deleted_at IS NULL AND ${condition}`;
      const plan = await client.query(`EXPLAIN ${found}`);
      assert.match(JSON.stringify(plan.rows), new RegExp(`people_of_company_${index}\\b`));
      assert.equal((await client.query(found)).rowCount, 1, index);
    }
    const indexes = await client.query(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'people'::regclass AND NOT indisvalid
       UNION SELECT relname FROM pg_class WHERE relname LIKE '%\\_cc%'`,
    );
    assert.deepEqual(indexes.rows, []);
  }));

test('a connection that is open while migration 0042 replaces a function still finds people by their indexes', () =>
  withDatabase(async (connection, client) => {
    const migrations = await readMigrations();
    await migrate(
      connection,
      migrations.filter(({ version }) => version < 42),
    );
    await client.query('SET enable_seqscan = off');
    const name = `(left(fold_text(left(last_name, 100) || ', ' || left(first_names, 100)), 200) COLLATE "C")`;
    const plan = async () => {
      const found = `SELECT id FROM people WHERE deleted_at IS NULL AND ${name} >= 'a'`;
      return (await client.query(`EXPLAIN ${found}`)).rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const walk = /using people_of_company_name[\s\S]*Index Cond: .*>= 'a'/;
    assert.match(await plan(), walk);
    await migrate(connection, migrations);
    assert.match(await plan(), walk);
  }));

test('each character is folded since migration 0045 as before, because no index is built anew', () =>
  withDatabase(async (connection, client) => {
    const migrations = await readMigrations();
    const folded = async (): Promise<(string | null)[]> => {
      const { rows } = await client.query(
        `SELECT array_agg(fold_text(text) ORDER BY n) AS folded
           FROM (SELECT n, 'A' || chr(n) || 'Z' AS text FROM generate_series(1, 65533) n WHERE n NOT BETWEEN 55296 AND 57343
                 UNION ALL VALUES (0, NULL), (-1, ''), (-2, U&'I\\0307\\0323'), (-3, U&'\\+01F600'))`,
      );
      return rows[0].folded;
    };
    await migrate(
      connection,
      migrations.filter(({ version }) => version < 45),
    );
    const before = await folded();
    await migrate(connection, migrations);
    assert.equal(before.length, 63_489);
    assert.deepEqual(await folded(), before);
  }));
