import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import pino from 'pino';
import { buildApp } from '../src/server/app.ts';
import { startApp } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { type Answer, caller } from './harness/http.ts';

const app = await startApp();

const lines: string[] = [];
const destination = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
const server = await buildApp({ db: app.db, clock: app.clock.read, logger: pino({ level: 'trace' }, destination) });
const url = await server.listen({ host: '127.0.0.1', port: 0 });
after(() => server.close());

/** Every encoding of the secret that could be decoded. */
function telltales(secret: string): string[] {
  const random = secret.slice(secret.indexOf('_') + 1);
  const bytes = Buffer.from(random, 'base64url');
  return [
    random,
    random.slice(0, 20),
    random.slice(-20),
    bytes.toString('hex'),
    bytes.toString('base64'),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64'),
  ];
}

async function storedText(): Promise<Map<string, string>> {
  const tables = await app.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const stored = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await app.sql<{ text: string }>(`SELECT row_to_json(t)::text AS text FROM ${name} t`);
    stored.set(name, rows.map(({ text }) => text).join('\n'));
  }
  return stored;
}

test('no secret is in the logs, in a list, in another answer or in the database', async () => {
  const company = await app.company();
  const answers: string[] = [];
  const secrets: string[] = [];
  const anonymous = caller(url);
  const manager = caller(url, company.token);
  const show = async (answer: Promise<Answer>) => answers.push((await answer).text);

  const client = await ok(manager.post('/manage/clients', { name: 'site', scopes: ['interactions:read', 'manage'] }));
  const rotated = await ok(manager.post(`/manage/clients/${client.id}/rotate`));
  const made = await ok(manager.post('/manage/keys', { name: 'export', scopes: ['interactions:read'] }));
  const grant = { grant_type: 'client_credentials', client_id: client.id, client_secret: rotated.client_secret };
  const token = await ok(anonymous.post('/oauth/token', grant));
  const viaBasic = await ok(
    anonymous.post(
      '/oauth/token',
      { grant_type: 'client_credentials' },
      { authorization: `Basic ${Buffer.from(`${client.id}:${rotated.client_secret}`).toString('base64')}` },
    ),
  );
  secrets.push(
    client.client_secret,
    rotated.client_secret,
    made.key,
    token.access_token,
    viaBasic.access_token,
    company.token,
  );

  for (const secret of secrets) {
    const bearer = caller(url, secret);
    await show(bearer.get(`${company.path}/interactions`));
    await show(bearer.get('/manage/keys'));
    await show(bearer.get(`/cases/${secret}/interactions`));
    await show(bearer.post('/manage/keys', `{"name": "${secret}`));
    await show(anonymous.get(`/manage/keys?access_token=${secret}`));
    await show(anonymous.post('/oauth/token', { ...grant, client_secret: secret, scope: 'operator' }));
    await show(anonymous.post('/oauth/token', { ...grant, client_id: secret }));
    await show(anonymous.post('/oauth/token', `client_secret=${secret}`, { 'content-type': 'text/plain' }));
    await show(anonymous.post('/oauth/token', secret));
    await show(anonymous.get(`/nothing/${secret}`));
  }
  for (const path of ['/manage/clients', '/manage/keys', `/manage/clients/${client.id}`, `/manage/keys/${made.id}`]) {
    await show(manager.get(path));
  }
  await show(manager.patch(`/manage/clients/${client.id}`, { name: 'shop' }));
  await show(anonymous.post('/oauth/revoke', { ...grant, token: token.access_token }));
  await show(manager.post(`/manage/clients/${client.id}/disable`));
  await show(manager.post(`/manage/clients/${client.id}/enable`));
  await show(manager.delete(`/manage/keys/${made.id}`));
  await show(manager.get('/metrics'));

  assert.ok(lines.length > 60, `${lines.length} lines were logged`);
  const places = new Map([['the logs', lines.join('')], ['an answer', answers.join('\n')], ...(await storedText())]);
  for (const secret of secrets) {
    for (const [place, text] of places) {
      for (const telltale of telltales(secret)) assert.ok(!text.includes(telltale), `${place} shows ${telltale}`);
    }
  }
});

test('a failure inside is logged without the secret that was sent', async () => {
  const company = await app.company();
  const before = lines.length;
  await app.sql('ALTER TABLE clients RENAME TO clients_away');
  try {
    const secret = 'crs_this-is-the-secret-of-one-client-only';
    const answer = await caller(url).post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: company.companyId,
      client_secret: secret,
    });
    assert.equal(answer.status, 500, answer.text);
    assert.equal(answer.body.code, 'internal');
    const logged = lines.slice(before).join('');
    assert.match(logged, /request failed/);
    assert.ok(!logged.includes(secret.slice(4)) && !answer.text.includes(secret.slice(4)));
  } finally {
    await app.sql('ALTER TABLE clients_away RENAME TO clients');
  }
});
