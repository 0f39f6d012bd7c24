import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApp } from '../harness/app.ts';
import { slowDatabase } from '../harness/slow-database.ts';
import { until } from '../harness/until.ts';

/** What docs/operations.md promises while the database answers late, with the limits of production. */

const MAX_RESPONSE_MS = 45_000;

describe('while the database answers late, every request is answered in time, and its key settles it', {
  concurrency: true,
}, () => {
  for (const delayMs of [3_000, 4_000, 10_000])
    test(`${delayMs / 1_000} s late`, (t) => answeredInTime(delayMs, (line) => t.diagnostic(line)));
});

async function answeredInTime(delayMs: number, report: (line: string) => void): Promise<void> {
  const slow = await slowDatabase();
  const app = await startApp({}, { port: slow.port });
  const company = await app.company();
  const interactions = `${company.path}/interactions`;
  const note = (notes: string) => ({ type: 'phone', notes });
  const path = `${interactions}/${(await company.post(interactions, note('new'))).body.id}`;
  const keys = { create: crypto.randomUUID(), change: crypto.randomUUID(), manage: crypto.randomUUID() };

  const { etag } = (await company.get(path)).headers;
  const requests = {
    read: () => company.get(interactions),
    write: () => company.post(interactions, note('plain')),
    'keyed write': () => company.post(interactions, note('keyed'), { 'idempotency-key': keys.create }),
    'keyed write with If-Match': () =>
      company.patch(path, note('conditional'), { 'idempotency-key': keys.change, 'if-match': String(etag) }),
    'manage write': () => company.post('/manage/keys', { name: 'plain', scopes: ['manage'] }),
    'keyed manage write': () =>
      company.post('/manage/keys', { name: 'keyed', scopes: ['manage'] }, { 'idempotency-key': keys.manage }),
  };
  // With late answers no new connection is opened in time, so there is one for each request.
  const unkeyed = [requests.read, requests.read, requests.write, requests.write];
  const opened = Array.from({ length: 6 }, requests['manage write']);
  for (const { status } of await Promise.all([...opened, ...unkeyed.map((send) => send())])) assert.equal(status, 200);

  slow.delayMs = delayMs;
  const settled = Object.entries(requests).map(async ([name, send]) => {
    const start = performance.now();
    const { status, headers, text } = await send();
    const ms = Math.round(performance.now() - start);
    report(`${name}: ${status} after ${ms} ms`);
    assert.ok(status === 200 || (status === 503 && headers['retry-after']), `${name}: ${status} ${text}`);
    assert.ok(ms < MAX_RESPONSE_MS, `${name}: ${ms} ms`);
    return [name, status] as const;
  });
  const statuses = Object.fromEntries(await Promise.all(settled));
  // One statement each.
  assert.equal(statuses.read, 200);
  assert.equal(statuses.write, 200);

  slow.delayMs = 0;
  await until(() => app.db.connections.busy === 0 && app.db.connections.waiting === 0);
  const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'case-records' AND state <> 'idle'`;
  await until(async () => (await app.sql(open)).length === 0);
  for (const name of ['keyed write', 'keyed write with If-Match', 'keyed manage write'] as const) {
    const again = await requests[name]();
    assert.equal(again.status, 200, `${name}: ${again.text}`);
    if (statuses[name] === 200) assert.equal(again.headers['idempotency-replayed'], 'true', name);
  }
  const rows = await app.sql<{ notes: string; count: string }>(
    `SELECT notes, count(*) FROM interactions WHERE notes IN ('keyed', 'conditional') GROUP BY notes ORDER BY notes`,
  );
  assert.deepEqual(rows, [
    { notes: 'conditional', count: '1' },
    { notes: 'keyed', count: '1' },
  ]);
  const named = (await company.get('/manage/keys')).body.filter(({ name }: { name: string }) => name === 'keyed');
  assert.equal(named.length, 1);
}
