import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { HELD_JOBS, holdRestored } from '../src/server/restored-database.ts';
import { ok } from './harness/assert.ts';
import { commandOutput } from './harness/command-line.ts';
import { urlOf } from './harness/service.ts';
import { call, change } from './harness/webhooks.ts';
import { app, endpointOf, receiver, worker } from './harness/webhooks-delivery.ts';

/** Webhooks that a database which was restored from a backup must not deliver a second time. */

const held = (...args: string[]) => commandOutput({ DATABASE_URL: urlOf(app.connection) }, 'held', ...args);
const restore = () =>
  holdRestored({ owner: app.connection, clock: app.clock.read }, { id: randomUUID(), stateAt: app.clock.read() });
const seen = () => receiver.received.map(({ event }) => [event.type, event.record.id]);

test('events that were not delivered before the restore wait; later ones are delivered in their order', async () => {
  const company = await app.company();
  await endpointOf(company, { types: ['interaction.*'] });
  const before = await call(company, 'before');
  await worker.runOnce();
  const undelivered = await call(company, 'undelivered');
  receiver.received.length = 0;
  // There is no delivery yet: the worker had not come to this event when the backup was made.
  assert.equal((await restore()).webhooks, 1);
  await change(company, undelivered, 'later');
  await change(company, before, 'later');
  await worker.runOnce();
  assert.deepEqual(seen(), [['interaction.updated', before]]);
  await held('drop', '--kind', 'webhooks');
  await worker.runOnce();
  assert.deepEqual(seen(), [
    ['interaction.updated', before],
    ['interaction.updated', undelivered],
  ]);
});

test('a resumed endpoint does not release what is held', async () => {
  const company = await app.company();
  const endpoint = await endpointOf(company, { types: ['interaction.*'] });
  const id = await call(company, 'undelivered');
  await restore();
  await app.sql(`UPDATE webhook_endpoints SET state = 'failing' WHERE id = $1`, [endpoint.path.split('/').at(-1)]);
  await ok(company.post(`${endpoint.path}/resume`, {}));
  await worker.runOnce();
  assert.deepEqual(seen(), []);
  await held('release', '--kind', 'webhooks');
  await worker.runOnce();
  assert.deepEqual(seen(), [['interaction.created', id]]);
});

test('more jobs than one statement changes are held, released and dropped, and the rest of each record goes on', async () => {
  const jobs = HELD_JOBS.find(({ kind }) => kind === 'webhooks') ?? assert.fail();
  const company = await app.company();
  await endpointOf(company, { types: ['interaction.*'] });
  const ids = [await call(company, 'one'), await call(company, 'other')];
  for (const id of ids) await change(company, id, 'changed');
  await held('drop');
  await restore();
  const filter = { companyId: company.companyId, batchSize: 3 };
  assert.equal(await jobs.release(app.db, filter), 4);
  assert.equal(await jobs.release(app.db, filter), 0);
  assert.equal(await jobs.hold(app.db, app.clock.read(), { batchSize: 3 }), 4);
  assert.equal(await jobs.hold(app.db, app.clock.read(), { batchSize: 3 }), 0);
  for (const id of ids) await change(company, id, 'later');
  assert.equal(await jobs.drop(app.db, filter, app.clock.read()), 4);
  await worker.runOnce();
  assert.deepEqual(seen().sort(), ids.map((id) => ['interaction.updated', id]).sort());
});
