import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectClient } from '../src/kernel/database/connect.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';

const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');
const ID = '0198c0de-0000-7000-8000-00000000000';

test('meetings requested before the migration are created if they lie ahead', async () => {
  const database = `before_meetings_${process.pid}`;
  const admin = await connectClient(server, 'test');
  await admin.query(`CREATE DATABASE ${database}`);
  const connection = { ...server, database };
  const migrations = await readMigrations();
  await migrate(
    connection,
    migrations.filter(({ version }) => version < 5),
  );
  const client = await connectClient(connection, 'test');
  try {
    await client.query(`
      INSERT INTO companies (id, name, created_at, updated_at) VALUES ('${ID}1', 'First', now(), now());
      INSERT INTO cases (company_id, id, reference, created_at, updated_at) VALUES ('${ID}1', '${ID}1', 'r', now(), now());
      INSERT INTO advisers (company_id, id, email, name, video_provider, created_at, updated_at)
      VALUES ('${ID}1', '${ID}1', 'a@firm.example', 'A', 'jitsi', now(), now());
      INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_reminder,
        sms_reminder, video_meeting, cancelled, created_at, updated_at)
      SELECT '${ID}1', '${ID}1', ('${ID}' || n)::uuid, '${ID}1', 'a@firm.example', now() + ahead, now() + ahead + interval '1 h',
             false, false, video, cancelled, now(), now()
        FROM (VALUES (1, interval '1 day', true, 0), (2, interval '-1 day', true, 0), (3, interval '1 day', true, 1),
                     (4, interval '1 day', false, 0)) AS t (n, ahead, video, cancelled)`);
    await migrate(connection, migrations);
    const { rows } = await client.query(
      'SELECT right(appointment_id::text, 1) AS n, state, wished FROM meetings ORDER BY 1',
    );
    assert.deepEqual(rows, [
      { n: '1', state: 'pending', wished: true },
      { n: '2', state: 'none', wished: true },
      { n: '3', state: 'none', wished: false },
    ]);
  } finally {
    await client.end();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await admin.end();
  }
});
