import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { connectClient } from '../src/kernel/database/connect.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { startApp } from './harness/app.ts';
import { caller } from './harness/http.ts';

/** Databases that earlier releases have written (scripts/earlier-database.ts), migrated to today's schema. */

type Fixture = {
  commit: string;
  token: string;
  case_id: string;
  answers: { path: string; body: Record<string, unknown>[] }[];
  migrations: { version: number; name: string; sha256: string }[];
  tables: Record<string, { columns: string; rows: string }>;
  sequences: Record<string, string>;
};

const FOLDER = new URL('fixtures/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.startsWith('earlier-'));
const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');

/** Messages were due when the earlier release was stopped, so their states were about to change. */
const isMessageState = (key: string) => /^(email|sms)_(confirmation|notification)/.test(key);

/** Today's record may have more fields. */
function assertContains(today: unknown, earlier: unknown, place: string): void {
  if (typeof earlier !== 'object' || earlier === null) {
    assert.deepEqual(today, earlier, place);
    return;
  }
  assert.ok(typeof today === 'object' && today !== null, place);
  if (Array.isArray(earlier)) assert.equal((today as unknown[]).length, earlier.length, place);
  for (const [key, value] of Object.entries(earlier)) {
    if (isMessageState(key)) continue;
    assertContains((today as Record<string, unknown>)[key], value, `${place}.${key}`);
  }
}

async function restore(database: string, fixture: Fixture): Promise<void> {
  const connection = { ...server, database };
  const known = (await readMigrations()).slice(0, fixture.migrations.length);
  assert.deepEqual(
    known.map(({ version, name, sha256 }) => ({ version, name, sha256 })),
    fixture.migrations,
    'migrations that have landed do not change',
  );
  await migrate(connection, known);
  const client = await connectClient(connection, 'test');
  try {
    await client.query('SET session_replication_role = replica');
    await client.query('TRUNCATE default_tags');
    for (const [table, { columns, rows }] of Object.entries(fixture.tables)) {
      await client.query(
        `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
        [rows],
      );
    }
    for (const [name, value] of Object.entries(fixture.sequences)) {
      if (value !== null) await client.query('SELECT setval($1, $2)', [name, value]);
    }
  } finally {
    await client.end();
  }
}

test('there are databases of several earlier releases', () => {
  assert.ok(FILES.length >= 4, FILES.join(', '));
});

for (const file of FILES) {
  test(`${file}: every record is there after the migrations to today's schema, and can be changed`, async () => {
    const fixture: Fixture = JSON.parse(gunzipSync(await readFile(new URL(file, FOLDER))).toString());
    const database = `earlier_${fixture.migrations.length}_${process.pid}`;
    const admin = await connectClient(server, 'test');
    await admin.query(`CREATE DATABASE ${database}`);
    await admin.end();
    await restore(database, fixture);
    const owner = { ...server, database };
    const migrations = await readMigrations();
    const applied = await setUpDatabase({ owner, roleToCreate: SERVICE_ROLE }, migrations);
    assert.equal(applied.length, migrations.length - fixture.migrations.length);

    const app = await startApp({}, { database });
    app.clock.set('2026-11-20T09:00:00Z');
    const company = caller(app.baseUrl, fixture.token);
    for (const { path, body } of fixture.answers) {
      const answer = await company.get(path);
      assert.equal(answer.status, 200, answer.text);
      assertContains(answer.body, body, path);
    }
    const interactions = `/cases/${fixture.case_id}/interactions`;
    const { body: list } = await company.get(interactions);
    const changed = await company.patch(`${interactions}/${list[0].id}`, {
      type: 'letter',
      notes: 'after the upgrade',
    });
    assert.equal(changed.status, 200, changed.text);
    const { body: after } = await company.get(interactions);
    assert.equal(after.filter(({ notes }: { notes: string }) => notes === 'after the upgrade').length, 1);
    assert.equal((await app.anonymous.get('/readyz')).status, 200);
  });
}
