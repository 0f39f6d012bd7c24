import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { startApp } from './harness/app.ts';
import { FIXTURES, readFixture, restoreFixture } from './harness/earlier-databases.ts';
import { caller } from './harness/http.ts';

/** Databases that earlier releases have written, migrated to today's schema. */

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

test('there are databases of several earlier releases', () => {
  assert.ok(FIXTURES.length >= 4, FIXTURES.join(', '));
});

for (const file of FIXTURES) {
  test(`${file}: every record is there after the migrations to today's schema, and can be changed`, async () => {
    const fixture = await readFixture(file);
    const database = await restoreFixture(fixture);
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
