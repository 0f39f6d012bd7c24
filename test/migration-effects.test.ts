import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { observeMigrations } from '../scripts/observe-migrations.ts';
import { connectClient } from '../src/kernel/database/connect.ts';
import { type Effect, readEffects } from '../src/kernel/schema/migration-effects.ts';
import { type Migration, readMigrations } from '../src/kernel/schema/migrations.ts';

const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');

async function observe(migrations: Migration[]): Promise<Record<string, Effect[]>> {
  const database = `effects_${randomBytes(6).toString('hex')}`;
  const admin = await connectClient(server, 'test');
  await admin.query(`CREATE DATABASE ${database}`);
  const client = await connectClient({ ...server, database }, 'test');
  try {
    return await observeMigrations(client, migrations);
  } finally {
    await client.end();
    await admin.query(`DROP DATABASE ${database}`);
    await admin.end();
  }
}

test('migrations/effects.json has what each migration does to existing tables ("npm run migrations" writes it)', async () => {
  assert.deepEqual(await readEffects(), await observe(await readMigrations()));
});

test('locks, rewrites, indexes, checks and changed rows are observed', async () => {
  const first = `CREATE TABLE t (id int PRIMARY KEY, n int, CHECK (n > 0)); CREATE TABLE u (id int PRIMARY KEY);
    CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE p_1 PARTITION OF p DEFAULT`;
  const steps: [string, Effect[]][] = [
    [first, []],
    ['CREATE INDEX ON t (n)', [{ table: 't', lock: 'SHARE', work: ['index'] }]],
    ['ALTER TABLE t ADD a text', [{ table: 't', lock: 'ACCESS EXCLUSIVE', work: [] }]],
    [`ALTER TABLE t ADD b text NOT NULL DEFAULT ''`, [{ table: 't', lock: 'ACCESS EXCLUSIVE', work: [] }]],
    [
      'ALTER TABLE t ALTER n TYPE bigint',
      [{ table: 't', lock: 'ACCESS EXCLUSIVE', work: ['check', 'index', 'rewrite'] }],
    ],
    ['ALTER TABLE t ALTER n SET NOT NULL', [{ table: 't', lock: 'ACCESS EXCLUSIVE', work: ['check'] }]],
    ['ALTER TABLE t ADD CHECK (id > 0) NOT VALID', [{ table: 't', lock: 'ACCESS EXCLUSIVE', work: [] }]],
    ['UPDATE t SET n = 1', [{ table: 't', lock: 'ROW EXCLUSIVE', work: ['rows'] }]],
    ['CREATE TABLE v (id int REFERENCES u)', [{ table: 'u', lock: 'SHARE ROW EXCLUSIVE', work: [] }]],
    ['CREATE INDEX t_n ON t (n)', [{ table: 't', lock: 'SHARE', work: ['index'] }]],
    [
      `-- outside of a transaction
       ALTER TABLE t ADD CONSTRAINT t_b CHECK (b IS NOT NULL) NOT VALID;
       ALTER TABLE t VALIDATE CONSTRAINT t_b;
       CREATE INDEX CONCURRENTLY t_a ON t (a);`.replaceAll(/^ +/gm, ''),
      [
        { table: 't', lock: 'ACCESS EXCLUSIVE', work: [] },
        { table: 't', lock: 'SHARE UPDATE EXCLUSIVE', work: ['check', 'index'] },
      ],
    ],
    ['ALTER TABLE p ADD a int', [{ table: 'p', lock: 'ACCESS EXCLUSIVE', work: [] }]],
  ];
  const migrations = steps.map(([sql], i) => ({ version: i + 1, name: `${i + 1}`, sql, sha256: '' }));
  assert.deepEqual(await observe(migrations), Object.fromEntries(steps.map(([, effects], i) => [`${i + 1}`, effects])));
});
