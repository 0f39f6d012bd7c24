import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { holdRestored } from '../src/server/restored-database.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { commandOutput } from './harness/command-line.ts';
import { app, book, links, MOVE, meeting, only, worker, zoom, zoomCompany } from './harness/meetings.ts';
import { urlOf } from './harness/service.ts';
import { CREDENTIALS } from './harness/zoom.ts';

/** Meetings that may have been created after the backup from which the database was restored. */

const held = (...args: string[]) => commandOutput({ DATABASE_URL: urlOf(app.connection) }, 'held', ...args);
const idle = async () => {
  for (let step = 0; step < 5; step++) await worker.runOnce();
};

/** Books an appointment whose meeting is created. Then the database is as before that, and what was due is held. */
async function restoredMeeting(company: TestCompany) {
  const booked = await book(company);
  await idle();
  const created = only();
  await app.sql(
    `WITH a AS (UPDATE appointments SET video_id = NULL, join_url = NULL, meeting_pending = true WHERE id = $1)
     UPDATE meetings SET state = 'pending', external_id = NULL, join_url = NULL, provider = NULL, account_id = NULL
      WHERE appointment_id = $1`,
    [booked.id],
  );
  const stateAt = app.clock.read();
  const { meetings } = await holdRestored(
    { owner: app.connection, clock: app.clock.read },
    { id: randomUUID(), stateAt },
  );
  assert.equal(meetings, 1);
  zoom.asked.length = 0;
  return { ...booked, created };
}

beforeEach(async () => {
  await held('drop');
});

test('a held meeting waits when its adviser is changed or connected again, and is looked up before it is created', async () => {
  const company = await zoomCompany();
  const { path, created } = await restoredMeeting(company);
  await ok(company.patch(`/manage/advisers/${company.adviserId}`, { name: 'Ada' }));
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS }));
  await idle();
  assert.deepEqual(zoom.asked, []);
  assert.match(await held('release', '--kind', 'meetings'), /^Released: 1 meetings\.$/);
  await idle();
  assert.deepEqual(await links(company, path), [String(created.id), created.join_url]);
  assert.equal(only().id, created.id);
});

test('a held meeting waits when its appointment is moved, and is moved when it is released', async () => {
  const company = await zoomCompany();
  const { path, created } = await restoredMeeting(company);
  await ok(company.patch(path, MOVE));
  await idle();
  assert.deepEqual(zoom.asked, []);
  await held('release', '--kind', 'meetings');
  await idle();
  assert.deepEqual([only().id, only().duration], [created.id, 45]);
});

test('a held meeting whose appointment is deleted is removed when it is released', async () => {
  const company = await zoomCompany();
  const { path } = await restoredMeeting(company);
  await ok(company.delete(path));
  await held('release', '--kind', 'meetings');
  await idle();
  assert.equal(zoom.meetings.size, 0);
});

test('a dropped meeting does not come back with its adviser; one that is requested again is looked up', async () => {
  const company = await zoomCompany();
  const { path, created } = await restoredMeeting(company);
  await held('drop', '--kind', 'meetings');
  await ok(company.patch(`/manage/advisers/${company.adviserId}`, { name: 'Ada' }));
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS }));
  await idle();
  assert.deepEqual(zoom.asked, []);
  assert.equal((await meeting(company, path)).state, 'failed');
  await ok(company.post(`${path}/meeting`));
  await idle();
  assert.equal((await meeting(company, path)).state, 'ready');
  assert.equal(only().id, created.id);
});

test('a meeting that is released before its account has a secret is looked up when the account is connected', async () => {
  const company = await zoomCompany();
  const { path, created } = await restoredMeeting(company);
  await app.sql('UPDATE video_accounts SET sealed_secret = NULL WHERE company_id = $1', [company.companyId]);
  await held('release', '--kind', 'meetings');
  await idle();
  assert.equal((await meeting(company, path)).state, 'failed');
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS }));
  await idle();
  assert.equal(only().id, created.id);
});
