import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, describe, test } from 'node:test';
import pino from 'pino';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { buildApp } from '../src/server/app.ts';
import { countSecrets, reencryptSecrets } from '../src/webhooks/endpoints/secrets.ts';
import { countFailingEndpoints } from '../src/webhooks/endpoints/verbs.ts';
import { purgeDeliveries } from '../src/webhooks/retention.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { commandOutput, runCommand } from './harness/command-line.ts';
import { assertTyped } from './harness/events.ts';
import { caller } from './harness/http.ts';
import { openReceiver } from './harness/receiver.ts';
import { urlOf } from './harness/service.ts';
import { KEY, secrets, webhookWorker } from './harness/webhook-worker.ts';

/** How endpoints are created and managed, and which scopes that needs. */

const app = await startApp({ secrets });
const LIST = '/webhooks/endpoints';
const BODY = { url: 'https://firm.example/hooks', types: ['interaction.*'] };
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';

const create = (company: TestCompany, body: object = {}) => ok(company.post(LIST, { ...BODY, ...body }));

test('an endpoint is made, shown, changed and removed; its secret is shown once', async () => {
  const company = await app.company();
  const answer = await company.post(LIST, { ...BODY, description: 'The bookkeeping' });
  const { secret, ...shown } = answer.body;
  const maker = { type: 'key', id: (await ok(company.get('/manage/keys')))[0].id, name: 'test' };
  assert.match(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(shown, {
    id: shown.id,
    url: 'https://firm.example/hooks',
    description: 'The bookkeeping',
    types: ['interaction.*'],
    state: 'active',
    state_reason: null,
    failing_since: null,
    secret_rotated_at: null,
    previous_secret_until: null,
    created_at: '2026-06-01T09:00:00.000000Z',
    updated_at: '2026-06-01T09:00:00.000000Z',
    created_by: maker,
    url_set_by: maker,
  });
  const path = `${LIST}/${shown.id}`;
  assert.deepEqual(await ok(company.get(path)), shown);
  assert.deepEqual(await ok(company.get(LIST)), [shown]);
  assert.deepEqual(await ok(company.get(`${LIST}?search=BOOK`)), [shown]);
  assert.deepEqual(await ok(company.get(`${LIST}?search=other`)), []);
  const changed = await ok(company.patch(path, { description: null, types: ['*'], state: 'disabled' }));
  assert.deepEqual(changed, { ...shown, description: null, types: ['*'], state: 'disabled' });
  const rotated = await ok(company.post(`${path}/rotate`));
  assert.notEqual(rotated.secret, secret);
  assert.equal(rotated.previous_secret_until, '2026-06-02T09:00:00.000000Z');
  const removed = await ok(company.delete(path));
  assert.deepEqual(removed, { id: shown.id, removed_at: '2026-06-01T09:00:00.000000Z' });
  assert.deepEqual(await ok(company.get(LIST)), []);
  assert.deepEqual(
    await app.sql('SELECT sealed_secret, sealed_previous_secret FROM webhook_endpoints WHERE id = $1', [shown.id]),
    [{ sealed_secret: null, sealed_previous_secret: null }],
  );
  for (const [method, below] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/ping'],
    ['POST', '/resume'],
    ['POST', '/replay'],
    ['GET', '/deliveries'],
    ['GET', `/deliveries/${UNKNOWN}`],
    ['POST', `/deliveries/${UNKNOWN}/replay`],
  ] as const) {
    assert.equal(
      (await company.send(method, path + below, method === 'GET' ? undefined : {})).status,
      404,
      method + below,
    );
  }
  const history = await ok(company.get(`${path}/history`));
  assertTyped(history);
  assert.deepEqual(
    history.map(({ type }: { type: string }) => type.split('.')[1]),
    ['created', 'updated', 'secret_rotated', 'removed'],
  );
  for (const [i, { after }] of history.slice(0, -1).entries()) assert.deepEqual(after, history[i + 1].before);
});

for (const [what, body, faults] of [
  ['nothing', {}, { url: 'required', types: 'required' }],
  ['plain http', { ...BODY, url: 'http://firm.example/' }, { url: 'not_allowed' }],
  ['another scheme', { ...BODY, url: 'ftp://firm.example/' }, { url: 'not_allowed' }],
  ['no address', { ...BODY, url: 'firm.example' }, { url: 'format' }],
  ['credentials', { ...BODY, url: 'https://a:b@firm.example/' }, { url: 'not_allowed' }],
  ['a user', { ...BODY, url: 'https://a@firm.example/' }, { url: 'not_allowed' }],
  ['a fragment', { ...BODY, url: 'https://firm.example/#a' }, { url: 'not_allowed' }],
  ['an empty fragment', { ...BODY, url: 'https://firm.example/#' }, { url: 'not_allowed' }],
  ['port 0', { ...BODY, url: 'https://firm.example:0/' }, { url: 'out_of_range' }],
  ['port 65536', { ...BODY, url: 'https://firm.example:65536/' }, { url: 'format' }],
  ['a line break', { ...BODY, url: 'https://firm.example/\n' }, { url: 'format' }],
  ['a loopback address', { ...BODY, url: 'https://127.0.0.1/' }, { url: 'not_allowed' }],
  ['one in disguise', { ...BODY, url: 'https://0x7f.1/' }, { url: 'not_allowed' }],
  ['one as a number', { ...BODY, url: 'https://2130706433/' }, { url: 'not_allowed' }],
  ['one of IPv6', { ...BODY, url: 'https://[::1]/' }, { url: 'not_allowed' }],
  ['one that is mapped', { ...BODY, url: 'https://[::ffff:10.0.0.1]/' }, { url: 'not_allowed' }],
  ['that of the cloud’s metadata', { ...BODY, url: 'https://169.254.169.254/latest' }, { url: 'not_allowed' }],
  ['localhost', { ...BODY, url: 'https://localhost/' }, { url: 'not_allowed' }],
  ['a name below localhost', { ...BODY, url: 'https://a.localhost/' }, { url: 'not_allowed' }],
  ['no host name', { ...BODY, url: 'https://-/' }, { url: 'format' }],
  ['a name without a dot', { ...BODY, url: 'https://receiver/' }, { url: 'format' }],
  ['no type', { ...BODY, types: [] }, { types: 'too_short' }],
  ['an unknown type', { ...BODY, types: ['*', 'nothing.happened'] }, { 'types[1]': 'unknown' }],
  ['a type of no record', { ...BODY, types: ['nothing.*'] }, { 'types[0]': 'unknown' }],
  ['101 types', { ...BODY, types: Array.from({ length: 101 }, () => '*') }, { types: 'too_many' }],
] as [string, object, Record<string, string>][]) {
  test(`${what} makes no endpoint`, async () => {
    const company = await app.company();
    await refused(company.post(LIST, body), faults);
    assert.deepEqual(await ok(company.get(LIST)), []);
    if (what === 'nothing') return;
    const { id } = await create(company);
    await refused(company.patch(`${LIST}/${id}`, body), faults);
  });
}

test('the settings can allow http and private addresses', async () => {
  const open = await startApp({ secrets, allowPrivateAddresses: true });
  const company = await open.company();
  for (const url of ['http://firm.example/', 'http://127.0.0.1:8080/', 'https://localhost/'])
    await create(company, { url });
  await refused(company.post(LIST, { ...BODY, url: 'ftp://127.0.0.1/' }), { url: 'not_allowed' });
});

test('an endpoint is created also after the company was changed with If-Match on the same connection', async () => {
  const company = await app.company();
  const { headers } = await company.get('/manage/company');
  await ok(company.patch('/manage/company', { terms: 'x' }, { 'if-match': String(headers.etag) }));
  await create(company);
});

test('only a caller who may read events can have them delivered', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const path = `${LIST}/${id}`;
  const lesser = await company.withScopes('webhooks');
  await refused(lesser.post(LIST, BODY), { scopes: 'not_allowed' });
  await refused(lesser.patch(path, { url: 'https://other.example/' }), { scopes: 'not_allowed' });
  assert.equal((await ok(lesser.get(path))).url, BODY.url);
  const ping = await ok(lesser.post(`${path}/ping`));
  for (const verb of ['rotate', 'resume', 'replay', `deliveries/${ping.id}/replay`]) {
    await refused(lesser.post(`${path}/${verb}`, {}), { scopes: 'not_allowed' });
  }
  await ok((await company.withScopes('webhooks', 'events:read')).post(LIST, BODY));
  const other = await company.withScopes('events:read', 'manage');
  assert.equal((await other.post(LIST, BODY)).status, 403);
});

test('without a key to keep secrets there are no endpoints', async (t) => {
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  t.after(() => server.close());
  const company = await app.company();
  const without = caller(await server.listen({ host: '127.0.0.1', port: 0 }), company.token);
  await refused(without.post(LIST, BODY), { secret: 'invalid_state' });
});

test('another company’s endpoints and deliveries are as if they never were', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const { id } = await create(company);
  const { id: mine } = await create(stranger);
  const ping = await ok(company.post(`${LIST}/${id}/ping`));
  const before = await ok(company.get(`${LIST}/${id}/deliveries`));
  for (const [method, path] of [
    ['GET', `${LIST}/${id}`],
    ['PATCH', `${LIST}/${id}`],
    ['DELETE', `${LIST}/${id}`],
    ['POST', `${LIST}/${id}/rotate`],
    ['POST', `${LIST}/${id}/ping`],
    ['POST', `${LIST}/${id}/resume`],
    ['POST', `${LIST}/${id}/replay`],
    ['GET', `${LIST}/${id}/deliveries`],
    ['GET', `${LIST}/${id}/history`],
    ['GET', `${LIST}/${id}/deliveries/${ping.id}`],
    ['GET', `${LIST}/${mine}/deliveries/${ping.id}`],
    ['POST', `${LIST}/${id}/deliveries/${ping.id}/replay`],
    ['POST', `${LIST}/${mine}/deliveries/${ping.id}/replay`],
  ] as const) {
    const body = method === 'GET' ? undefined : {};
    assert.equal((await stranger.send(method, path, body)).status, 404, `${method} ${path}`);
  }
  assert.deepEqual(await ok(company.get(`${LIST}/${id}/deliveries`)), before);
  assert.equal((await ok(company.get(LIST))).length, 1);
});

test('deliveries come in pages and can be looked for', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const path = `${LIST}/${id}/deliveries`;
  for (let i = 0; i < 3; i++) {
    app.clock.advance({ minutes: 1 });
    await app.sql(`UPDATE webhook_deliveries SET state = 'failed', ended_at = now() WHERE endpoint_id = $1`, [id]);
    await ok(company.post(`${LIST}/${id}/ping`));
  }
  const page = await company.get(`${path}?per_page=2`);
  assert.deepEqual([page.body.length, page.headers['x-total-count']], [2, '3']);
  const times = page.body.map(({ created_at }: { created_at: string }) => created_at);
  assert.deepEqual(times, times.toSorted().reverse());
  assert.equal((await ok(company.get(`${path}?from=${times[0]}`))).length, 1);
  assert.equal((await ok(company.get(`${path}?to=${times[1]}`))).length, 1);
  assert.equal((await ok(company.get(`${path}?type=ping&state=failed`))).length, 2);
  assert.equal((await ok(company.get(`${path}?type=interaction.created`))).length, 0);
  await refused(company.get(`${path}?state=lost&from=today`), { state: 'not_allowed', from: 'format' });
});

test('If-Match holds for endpoints', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const { headers } = await company.get(`${LIST}/${id}`);
  const match = { 'if-match': String(headers.etag) };
  assert.equal((await company.patch(`${LIST}/${id}`, { description: 'a' }, match)).status, 200);
  assert.equal((await company.patch(`${LIST}/${id}`, { description: 'b' }, match)).status, 412);
});

for (const hours of [-1, 169, 1.5, 'soon']) {
  test(`an overlap of ${hours} hours is refused`, async () => {
    const company = await app.company();
    const { id } = await create(company);
    assert.equal((await company.post(`${LIST}/${id}/rotate`, { overlap_hours: hours })).status, 400);
  });
}

test('twenty concurrent changes leave a log in which each state appears once', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const path = `${LIST}/${id}`;
  await Promise.all(Array.from({ length: 20 }, (_, i) => ok(company.patch(path, { description: String(i) }))));
  const history = await ok(company.get(`${path}/history`));
  assertTyped(history);
  // The state after an event is read from the next one's `before`, so a wrong `before` would appear twice.
  const states = history.map(({ after }: { after: { description: string | null } }) => after.description);
  assert.deepEqual(new Set(states), new Set([null, ...Array.from({ length: 20 }, (_, i) => String(i))]));
  assert.equal(history.length, 21);
});

test('secrets are in no list, no log, no event and no table', async (t) => {
  const lines: string[] = [];
  const log = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  const logger = pino({ level: 'trace' }, log);
  const server = await buildApp({ db: app.db, clock: app.clock.read, logger, secrets, allowPrivateAddresses: true });
  t.after(() => server.close());
  const receiver = await openReceiver();
  after(receiver.close);
  const company = await app.company();
  const loud = caller(await server.listen({ host: '127.0.0.1', port: 0 }), company.token);
  const key = { 'idempotency-key': 'one' };
  const first = await ok(loud.post(LIST, { url: receiver.url, types: ['*'] }, key));
  assert.equal((await ok(loud.post(LIST, { url: receiver.url, types: ['*'] }, key))).secret, first.secret);
  const second = await ok(loud.post(`${LIST}/${first.id}/rotate`));
  await webhookWorker(app, { log }).runOnce();
  assert.ok(receiver.received.length >= 2 && lines.length > 0);
  const path = `${LIST}/${first.id}`;
  const shown = await Promise.all(
    [LIST, path, `${path}/history`, `${path}/deliveries`, '/events'].map((one) => company.get(one)),
  );
  const tables = await app.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const rows = await Promise.all(tables.map(({ name }) => app.sql(`SELECT t::text FROM "${name}" t`)));
  const sent = receiver.received.map(({ text }) => text);
  const all = [...shown.map(({ text }) => text), ...sent, ...lines, JSON.stringify(rows)].join('\n');
  const sealed = await app.sql('SELECT sealed_secret, sealed_previous_secret FROM webhook_endpoints WHERE id = $1', [
    first.id,
  ]);
  for (const { secret } of [first, second]) assert.ok(!all.includes(secret.slice(6)));
  const outside = [...shown.map(({ text }) => text), ...sent, ...lines].join('\n');
  for (const one of Object.values(sealed[0] as object)) assert.ok(one && !outside.includes(one));
});

test('secrets can be re-encrypted, and are counted by the key that opens them', async () => {
  const other = await startApp({ secrets });
  const company = await other.company();
  const { id } = await create(company);
  await ok(company.post(`${LIST}/${id}/rotate`));
  const context = { db: other.db, clock: other.clock.read };
  const key = Buffer.alloc(32, 7);
  const rotating = new SecretBox([key, KEY]);
  assert.deepEqual(await countSecrets(context, rotating), { total: 2, undecryptable: 0, outdated: 2 });
  assert.deepEqual(await countSecrets(context, new SecretBox([key])), { total: 2, undecryptable: 2, outdated: 0 });
  assert.deepEqual(await reencryptSecrets(context, new SecretBox([key])), {
    secrets: 2,
    reencrypted: 0,
    undecryptable: 2,
  });
  assert.deepEqual(await reencryptSecrets(context, rotating), { secrets: 2, reencrypted: 2, undecryptable: 0 });
  assert.deepEqual(await countSecrets(context, new SecretBox([key])), { total: 2, undecryptable: 0, outdated: 0 });
  assert.equal(await countFailingEndpoints(other), 0);
  await other.sql(`UPDATE webhook_endpoints SET state = 'failing'`);
  assert.equal(await countFailingEndpoints(other), 1);
});

test('what has ended is forgotten after 30 days, and what waits never', async () => {
  const other = await startApp({ secrets, allowPrivateAddresses: true });
  const receiver = await openReceiver();
  after(receiver.close);
  const company = await other.company();
  const { id } = await create(company, { url: receiver.url });
  const add = () => ok(company.post(`${company.path}/interactions`, { type: 'phone' }));
  const worker = webhookWorker(other);
  await add();
  await worker.runOnce();
  await ok(company.patch(`${LIST}/${id}`, { state: 'disabled' }));
  await ok(
    company.post(`${LIST}/${id}/deliveries/${(await ok(company.get(`${LIST}/${id}/deliveries`)))[0].id}/replay`),
  );
  other.clock.advance({ hours: 30 * 24 });
  assert.equal(await purgeDeliveries({ db: other.db, clock: other.clock.read }), 0);
  other.clock.advance({ seconds: 1 });
  assert.equal(await purgeDeliveries({ db: other.db, clock: other.clock.read }), 1);
  const left = await ok(company.get(`${LIST}/${id}/deliveries`));
  assert.deepEqual(
    left.map(({ state }: { state: string }) => state),
    ['waiting'],
  );
});

describe('from the command line', () => {
  const env = () => ({ DATABASE_URL: urlOf(app.connection), SECRETS_KEY: KEY.toString('base64') });

  test('endpoints are made, looked at, used and removed', async () => {
    const company = await app.company();
    const run = async (...args: string[]) => {
      return JSON.parse(await commandOutput(env(), 'webhook', ...args, '--company', company.companyId, '--json'));
    };
    const { id, secret } = await run('create', '--url', BODY.url, '--type', 'interaction.*,webhook_endpoint.created');
    assert.match(secret, /^whsec_/);
    assert.deepEqual(
      (await run('list')).map(({ types }: { types: string[] }) => types),
      [['interaction.*', 'webhook_endpoint.created']],
    );
    const ping = await run('ping', id);
    assert.deepEqual(
      (await run('deliveries', id, '--state', 'waiting')).map(({ id }: { id: string }) => id),
      [ping.id],
    );
    assert.notEqual((await run('rotate', id, '--overlap-hours', '1')).secret, secret);
    assert.equal((await run('update', id, '--state', 'disabled')).state, 'disabled');
    assert.equal((await run('resume', id)).state, 'active');
    assert.deepEqual(await run('replay', id, '--after', '2026-06-01 09:00'), { queued: 0, next: null });
    assert.equal((await run('show', id)).url, BODY.url);
    const redeliver = ['webhook', 'redeliver', id, '--delivery', ping.id, '--company', company.companyId];
    const { code, err } = await runCommand(env(), ...redeliver);
    assert.deepEqual([code, /ping cannot be replayed/.test(err)], [3, true], err);
    assert.equal((await run('remove', id)).id, id);
    assert.equal((await runCommand(env(), 'webhook', 'show', id, '--company', company.companyId)).code, 4);
  });

  test('without a key to keep the secret, the fault says what to set', async () => {
    const company = await app.company();
    const { SECRETS_KEY: _, ...without } = env();
    const args = ['webhook', 'create', '--url', BODY.url, '--type', '*', '--company', company.companyId];
    const { code, err } = await runCommand(without, ...args);
    assert.deepEqual([code, /SECRETS_KEY is not set/.test(err)], [3, true], err);
  });
});
