import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { HELD_JOBS, holdRestored } from '../src/server/restored-database.ts';
import { startApp, type TestApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { commandOutput } from './harness/command-line.ts';
import { app, book, messages, post, REMINDER_DUE, worker } from './harness/messages-sending.ts';
import { type Holding, overlapping } from './harness/overlap.ts';
import { urlOf } from './harness/service.ts';
import { call } from './harness/webhooks.ts';

/** What a database that was restored from a backup must not do a second time. */

const env = { DATABASE_URL: urlOf(app.connection) };
const held = (...args: string[]) => commandOutput(env, 'held', ...args);
const restore = (id = randomUUID()) =>
  holdRestored({ owner: app.connection, clock: app.clock.read }, { id, stateAt: app.clock.read() });

beforeEach(async () => {
  await held('drop');
});

test('messages that were due before the restore wait, later ones are sent', async () => {
  const company = await app.company();
  await book(company, { email_confirmation: true, email_notification: true });
  assert.equal((await restore()).messages, 1);
  assert.equal(await worker.runOnce(), 0);
  app.clock.set(REMINDER_DUE);
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ kind }) => kind),
    ['reminder'],
  );
});

test('released messages are sent, dropped ones never', async () => {
  const [kept, dropped] = [await app.company(), await app.company()];
  const { path } = await book(kept, { email_confirmation: true });
  const other = await book(dropped, { email_confirmation: true });
  await restore();
  assert.match(await held('list'), /messages +Smith & Partners .* email confirmation, appointment of 2026-06-10/);
  assert.match(await held('release', '--company', kept.companyId), /^Released: 1 messages, 0 meetings/);
  assert.match(await held('drop', '--kind', 'messages'), /^Dropped: 1 messages\.$/);
  await worker.runOnce();
  assert.equal(post.sent.length, 1);
  assert.equal((await messages(kept, path))[0].state, 'sent');
  const [message] = await messages(dropped, other.path);
  assert.deepEqual([message.state, message.last_error?.slice(0, 24)], ['failed', 'Dropped by an operator a']);
  const events = await ok(dropped.get('/events?types=message.failed'));
  assert.deepEqual([events[0].actor.type, events[0].record.id, events.length], ['operator', message.id, 1]);
});

test('messages beyond one batch are held, released and dropped', async () => {
  const jobs = HELD_JOBS.find(({ kind }) => kind === 'messages') ?? assert.fail();
  const company = await app.company();
  const booked = [];
  for (let count = 0; count < 5; count++) booked.push(await book(company, { email_confirmation: true }));
  const now = app.clock.read();
  const filter = { companyId: company.companyId, batchSize: 2 };
  assert.equal(await jobs.hold(app.db, now, { batchSize: 2 }), 5);
  assert.equal(await jobs.release(app.db, filter), 5);
  assert.equal(await jobs.hold(app.db, now, { batchSize: 2 }), 5);
  assert.equal(await jobs.drop(app.db, filter, now), 5);
  assert.equal((await ok(company.get('/events?types=message.failed'))).length, 5);
  for (const { path } of booked) assert.equal((await messages(company, path))[0].state, 'failed');
});

test('the event of a dropped message has its state after a change that the drop has waited for', async () => {
  const jobs = HELD_JOBS.find(({ kind }) => kind === 'messages') ?? assert.fail();
  const company = await app.company();
  await book(company, { email_confirmation: true });
  const now = app.clock.read();
  await jobs.hold(app.db, now, {});
  const change: Holding = [
    `UPDATE messages SET sent_to = 'other@client.example' WHERE company_id = $1`,
    [company.companyId],
  ];
  const drop = () => jobs.drop(app.db, { companyId: company.companyId }, now);
  assert.deepEqual(await overlapping(app, [change], [drop]), [1]);
  const [event] = await ok(company.get('/events?types=message.failed'));
  assert.deepEqual([event.before.sent_to, event.after.sent_to], ['other@client.example', 'other@client.example']);
});

test('a message that was being sent at the time of the backup waits', async () => {
  const company = await app.company();
  await book(company, { email_confirmation: true });
  await app.sql(`UPDATE messages SET state = 'sending', lease_by = gen_random_uuid(), lease_until = now()
                  WHERE state = 'scheduled'`);
  assert.equal((await restore()).messages, 1);
  app.clock.advance({ hours: 2 });
  assert.equal(await worker.runOnce(), 0);
});

test('a meeting that is made in the meantime does not release a held confirmation', async () => {
  const company = await app.company();
  const { id } = await book(company, { email_confirmation: true, adviser_email: company.adviserWithVideo });
  await restore();
  const { releaseConfirmations } = await import('../src/cases/appointments/meetings/meeting-queue.sql.ts');
  await app.db.queryRows(releaseConfirmations({ company_id: company.companyId, case_id: company.caseId, id }));
  assert.equal(await worker.runOnce(), 0);
});

test('meetings that were due wait, and are dropped with a reason', async () => {
  const company = await app.company();
  const { path } = await book(company, { video_meeting: true, adviser_email: company.adviserWithVideo });
  await app.sql(`UPDATE meetings SET state = 'pending', lease_until = NULL, lease_by = NULL`);
  assert.equal((await restore()).meetings, 1);
  assert.match(await held('list', '--kind', 'meetings'), /appointment of 2026-06-10/);
  await held('drop', '--kind', 'meetings');
  const { state, last_error } = await ok(company.get(`${path}/meeting`));
  assert.equal(state, 'failed');
  assert.match(last_error, /^Dropped by an operator/);
});

test('a follower that has seen a lost event is told, and one that has not goes on', async () => {
  const company = await app.company();
  await call(company, 'kept');
  const kept = await company.get('/events?after=latest');
  await call(company, 'lost');
  const lost = await company.get('/events?after=latest');
  // The backup does not have the last event.
  await app.sql('ALTER TABLE events DISABLE TRIGGER USER');
  await app.sql('DELETE FROM events WHERE position = (SELECT max(position) FROM events)');
  await app.sql('ALTER TABLE events ENABLE TRIGGER USER');
  await restore();
  const id = await call(company, 'after the restore');
  const linkOf = (answer: { headers: Record<string, unknown> }) =>
    /<(.*)>/.exec(String(answer.headers.link))?.[1] ?? '';
  const refused = await company.get(linkOf(lost));
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.body.errors[0].message, /lost: the log was restored from a backup/);
  const followed = await ok(company.get(linkOf(kept)));
  assert.deepEqual(
    followed.map(({ record }: { record: { id: string } }) => record.id),
    [id],
  );
});

test('a follower whose last event is lost is told, also if events after it were kept', async () => {
  const company = await app.company();
  await call(company, 'lost');
  const lost = await company.get('/events?after=latest');
  await call(company, 'committed before');
  const [last] = await app.sql<{ position: string }>(
    'SELECT position FROM events WHERE company_id = $1 ORDER BY position DESC LIMIT 1 OFFSET 1',
    [company.companyId],
  );
  await app.sql('ALTER TABLE events DISABLE TRIGGER USER');
  await app.sql('DELETE FROM events WHERE company_id = $1 AND position = $2', [company.companyId, last?.position]);
  await app.sql('ALTER TABLE events ENABLE TRIGGER USER');
  const link = /<(.*)>/.exec(String(lost.headers.link))?.[1] ?? '';
  await restore();
  const refused = await company.get(link);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.body.errors[0].message, /lost: the log was restored from a backup/);
  const { length } = await ok(company.get('/events?limit=100'));
  assert.ok(length > 0, 'it starts again without it');
});

test('no position is issued twice, whatever was done after the backup and however often it is restored', async () => {
  const positions = async (of: TestApp, company: TestCompany) =>
    (
      await of.sql<{ position: string }>('SELECT position FROM events WHERE company_id = $1 ORDER BY position', [
        company.companyId,
      ])
    ).map(({ position }) => BigInt(position));
  // What one life of the database issues: in the partition that it began with, and in the next ones.
  const live = async (of: TestApp): Promise<bigint[]> => {
    const company = await of.company();
    for (let n = 0; n < 3; n++) {
      await of.sql('SELECT close_event_partition(0)');
      await call(company, String(n));
    }
    return positions(of, company);
  };
  const restoreOf = (of: TestApp) =>
    holdRestored({ owner: of.connection, clock: of.clock.read }, { id: randomUUID(), stateAt: of.clock.read() });
  // All begin from the same state, as if each was restored from the same backup.
  const lost = await live(await startApp());
  const restored = await startApp();
  await restoreOf(restored);
  const afterRestore = await live(restored);
  const again = await startApp();
  again.clock.advance({ hours: 48 });
  await restoreOf(again);
  const afterSecond = await live(again);
  const all = [...lost, ...afterRestore, ...afterSecond];
  assert.ok(lost.length > 3);
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(
    all.toSorted((a, b) => Number(a - b)),
    all,
    'followers see later positions than before',
  );
  assert.ok((all.at(-1) ?? 0n) < BigInt(Number.MAX_SAFE_INTEGER));
  // The last partition is empty, so the next one can be closed too.
  const [{ partitions }] = (await again.sql('SELECT count(*)::int AS partitions FROM event_partitions()')) as [
    { partitions: number },
  ];
  assert.ok(partitions <= 7, String(partitions));
});

test('a restore that is recorded twice moves the positions once and holds nothing new', async () => {
  const company = await app.company();
  const id = randomUUID();
  await restore(id);
  const position = async () => (await app.sql('SELECT last_value FROM event_positions'))[0];
  const first = await position();
  await book(company, { email_confirmation: true });
  app.clock.advance({ minutes: 1 });
  // The message is due after the first attempt to act upon the restore.
  await app.sql(`UPDATE messages SET due_at = due_at + interval '1 second' WHERE state = 'scheduled'`);
  assert.equal((await restore(id)).messages, 0);
  assert.equal(Number((await position())?.last_value) - Number(first?.last_value) < 1_000, true);
});
