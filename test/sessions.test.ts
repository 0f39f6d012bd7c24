import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { purgeSessions } from '../src/company/credentials/sessions/verbs.ts';
import { startApp } from './harness/app.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { caller } from './harness/http.ts';
import { browserOf, newSession, type Person, SAME_ORIGIN, SESSION_COOKIE, signIn } from './harness/people.ts';
import { until } from './harness/until.ts';

const app = await startApp();
const company = await app.company();
const CACHE = { seconds: 3 };
const list = `${company.path}/interactions`;

test('the session tells who is signed in, with the scopes of the role', async () => {
  await company.client.updateCompany({ body: { currency: 'GBP' } });
  const reader = await signIn(app, company, { role: 'reader' });
  const { user, scopes, session, company: shown } = await ok(reader.get('/session'));
  assert.deepEqual([user.id, user.email, user.role], [reader.userId, reader.email, 'reader']);
  assert.deepEqual([shown.id, shown.time_zone, shown.currency], [company.companyId, 'Europe/London', 'GBP']);
  assert.ok(scopes.includes('invoices:read') && !scopes.includes('invoices:write'));
  assert.deepEqual([session.id, session.current, session.purpose], [reader.sessionId, true, 'full']);
});

test('a person may do what the role allows, and the history names the person', async () => {
  const bookkeeper = await signIn(app, company, { role: 'bookkeeper' });
  await ok(bookkeeper.get(list));
  assertProblem(await bookkeeper.post(list, { type: 'phone' }), 403, 'insufficient_scope');
  const adviser = await signIn(app, company, { role: 'adviser' });
  const { id } = await ok(adviser.post(list, { type: 'phone' }));
  const [event] = await ok(company.get(`${list}/${id}/history`));
  assert.deepEqual(event.actor, { type: 'user', id: adviser.userId, name: 'The adviser' });
  assertProblem(await adviser.get('/manage/users'), 403, 'insufficient_scope');
});

const CROSS_ORIGIN: Record<string, Record<string, string | undefined>> = {
  'another site': { 'sec-fetch-site': 'cross-site' },
  'a sibling subdomain': { 'sec-fetch-site': 'same-site', origin: 'http://evil.localhost' },
  'no page, but an address that was typed': { 'sec-fetch-site': 'none' },
  'a browser without fetch metadata, on another origin': { 'sec-fetch-site': undefined, origin: 'http://evil.example' },
  'a browser without fetch metadata, on another port': { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' },
  'a site whose proxy passes Host: localhost on': { origin: 'https://records.example', host: 'localhost' },
  'a page without an origin': { 'sec-fetch-site': undefined, origin: 'null' },
  'something that names no origin': { 'sec-fetch-site': undefined },
};
for (const [from, headers] of Object.entries(CROSS_ORIGIN)) {
  test(`a request with the cookie from ${from} is refused and changes nothing`, async () => {
    const person = await signIn(app, company, { role: 'adviser' });
    const before = await app.sql('SELECT count(*) FROM interactions');
    assertProblem(await person.post(list, { type: 'phone' }, headers), 403, 'cross_origin');
    assertProblem(await person.get(list, headers), 403, 'cross_origin');
    assertProblem(await person.delete('/session', headers), 403, 'cross_origin');
    assert.deepEqual(await app.sql('SELECT count(*) FROM interactions'), before);
    await ok(person.get('/session'));
  });
}

test('a browser without fetch metadata is let in from a page of the service itself', async () => {
  const person = await signIn(app, company);
  await ok(person.get(list, { 'sec-fetch-site': undefined, origin: app.baseUrl }));
});

test('a bearer token needs no such header, and wins over a cookie', async () => {
  const person = await signIn(app, company, { role: 'reader' });
  const cookie = `${SESSION_COOKIE}=${person.secret}`;
  await ok(company.post(list, { type: 'phone' }, { cookie, 'sec-fetch-site': 'cross-site' }));
  assertProblem(await person.get(list, { authorization: 'Bearer wrong' }), 401, 'invalid_token');
  assertProblem(await company.get('/session'), 403, 'insufficient_scope');
  assertProblem(await company.get('/account/sessions'), 403, 'insufficient_scope');
});

for (const [what, cookie] of Object.entries({
  'a secret that never was': `${SESSION_COOKIE}=${randomBytes(32).toString('base64url')}`,
  'an empty secret': `${SESSION_COOKIE}=`,
  'a secret of another form': `${SESSION_COOKIE}=' OR 1=1`,
  'the cookie of the secure site': `__Host-session=${randomBytes(32).toString('base64url')}`,
})) {
  test(`${what} is refused`, async () => {
    app.clock.advance({ minutes: 1 });
    assertProblem(await app.anonymous.get(list, { cookie, ...SAME_ORIGIN }), 401, 'invalid_token');
  });
}

test('the cookie counts only if the request comes to a loopback name', async () => {
  const person = await signIn(app, company);
  assertProblem(await person.get(list, { host: 'records.example' }), 401, 'invalid_token');
  await ok(person.get(list, { host: 'localhost:8080' }));
  assertProblem(await person.get(list, { host: 'localhost:99999' }), 401, 'invalid_token');
});

test('a session that only sets up factors may read itself and end, and nothing else', async () => {
  const person = await signIn(app, company, { purpose: 'enrolment' });
  const { scopes, session } = await ok(person.get('/session'));
  assert.deepEqual([scopes, session.purpose], [[], 'enrolment']);
  for (const path of [list, '/manage/users', '/account/sessions', '/events']) {
    assertProblem(await person.get(path), 403, 'insufficient_scope', path);
  }
  await ok(person.delete('/session'));
});

/** Uses the session, and waits until that is stored. */
async function useSession(person: Person): Promise<void> {
  await ok(person.get('/session'));
  const seen = [person.sessionId, app.clock.read().toString()];
  const isStored = async () =>
    (await app.sql('SELECT 1 FROM sessions WHERE id = $1 AND last_seen_at = $2', seen)).length > 0;
  await until(isStored, 'the use of the session');
}

test('an idle session ends, at the time that the company has set and at most two minutes later', async () => {
  const firm = await app.company();
  await ok(firm.patch('/manage/company', { session_idle_minutes: 10 }));
  const person = await signIn(app, firm);
  app.clock.advance({ minutes: 9 });
  await useSession(person);
  app.clock.advance({ minutes: 9 });
  await useSession(person);
  app.clock.advance({ minutes: 12 });
  assertProblem(await person.get('/session'), 401, 'invalid_token');
});

test('a session that is used does not end, although its last use is stored later', async () => {
  const firm = await app.company();
  await ok(firm.patch('/manage/company', { session_idle_minutes: 5 }));
  const [person, colleague] = [await signIn(app, firm), await signIn(app, firm)];
  const seen = async () =>
    (await app.sql<{ at: Date }>('SELECT last_seen_at AS at FROM sessions WHERE id = $1', [person.sessionId]))[0]?.at;
  const stored = await seen();
  app.clock.advance({ minutes: 4, seconds: 59 });
  // What the process stores now is the use of the colleague.
  await useSession(colleague);
  await ok(person.get('/session'));
  assert.deepEqual(await seen(), stored);
  app.clock.advance({ seconds: 59 });
  await ok(person.get('/session'));
  app.clock.advance({ seconds: 1 });
  await useSession(person);
  app.clock.advance({ minutes: 4, seconds: 59 });
  await ok(person.get('/session'));
});

test('a session ends after some hours, however busy it is', async () => {
  const firm = await app.company();
  await ok(firm.patch('/manage/company', { session_hours: 1 }));
  const person = await signIn(app, firm);
  for (let minutes = 0; minutes < 60; minutes += 20) {
    app.clock.advance({ minutes: 20 });
    if (minutes < 40) await useSession(person);
  }
  assertProblem(await person.get('/session'), 401, 'invalid_token');
});

for (const [limit, setting, lower, higher] of [
  ['idle time', 'session_idle_minutes', 10, 120],
  ['length', 'session_hours', 1, 24],
] as const) {
  test(`a session that has ended stays ended when the company raises the ${limit}`, async () => {
    const firm = await app.company();
    await ok(firm.patch('/manage/company', { session_idle_minutes: 120, [setting]: lower }));
    const ended = await signIn(app, firm);
    app.clock.advance({ minutes: 61 });
    const working = await signIn(app, firm);
    assertProblem(await ended.get('/session'), 401, 'invalid_token');
    await ok(firm.patch('/manage/company', { [setting]: higher }));
    app.clock.advance(CACHE);
    assertProblem(await ended.get('/session'), 401, 'invalid_token');
    await ok(working.get('/session'));
  });
}

test('the settings of sessions have bounds', async () => {
  for (const body of [
    { session_idle_minutes: 4 },
    { session_idle_minutes: 121 },
    { session_hours: 0 },
    { session_hours: 25 },
  ]) {
    const answer = await company.patch('/manage/company', body);
    assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 'out_of_range']);
  }
});

test('a changed role takes effect within two seconds', async () => {
  const person = await signIn(app, company, { role: 'adviser' });
  await ok(person.post(list, { type: 'phone' }));
  await ok(company.patch(`/manage/users/${person.userId}`, { role: 'reader' }));
  app.clock.advance(CACHE);
  assertProblem(await person.post(list, { type: 'phone' }), 403, 'insufficient_scope');
  await ok(person.get(list));
});

test('an owner who has lost the role creates no key, not even in these two seconds', async () => {
  await signIn(app, company);
  const person = await signIn(app, company);
  const key = { name: 'stays', scopes: ['invoices:read'] };
  await ok(person.post('/manage/keys', key));
  await ok(company.patch(`/manage/users/${person.userId}`, { role: 'reader' }));
  await ok(person.get('/manage/company'));
  assertProblem(await person.post('/manage/keys', key), 401, 'invalid_token');
});

test('a disabled user is signed out within two seconds, and stays so when enabled again', async () => {
  const person = await signIn(app, company, { role: 'adviser' });
  await ok(person.get(list));
  await ok(company.post(`/manage/users/${person.userId}/disable`));
  app.clock.advance(CACHE);
  assertProblem(await person.get(list), 401, 'invalid_token');
  await ok(company.post(`/manage/users/${person.userId}/enable`));
  app.clock.advance(CACHE);
  assertProblem(await person.get(list), 401, 'invalid_token');
});

test('people see and end their own sessions, not those of others', async () => {
  const person = await signIn(app, company);
  const second = await newSession(app, company, person);
  const third = await newSession(app, company, person);
  const stranger = await signIn(app, company);
  const sessions: { id: string; current: boolean }[] = await ok(second.get('/account/sessions'));
  assert.deepEqual(
    sessions.map(({ id, current }) => [id, current]),
    [
      [third.sessionId, false],
      [second.sessionId, true],
      [person.sessionId, false],
    ],
  );
  assert.equal((await second.delete(`/account/sessions/${stranger.sessionId}`)).status, 404);
  assert.deepEqual(await ok(second.delete(`/account/sessions/${third.sessionId}`)), { ended: 1 });
  assert.deepEqual(await ok(second.delete('/account/sessions')), { ended: 1 });
  app.clock.advance(CACHE);
  for (const ended of [person, third]) assertProblem(await ended.get('/session'), 401, 'invalid_token');
  await ok(second.get('/session'));
  await ok(stranger.get('/session'));
});

test('signing out ends the session and removes the cookie', async () => {
  const person = await signIn(app, company);
  const answer = await person.delete('/session');
  assert.match(
    String(answer.headers['set-cookie']),
    /^session-on-loopback=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/,
  );
  app.clock.advance(CACHE);
  assertProblem(await person.get('/session'), 401, 'invalid_token');
});

test('the sessions of a user are ended by those who manage users, and the history says so', async () => {
  const person = await signIn(app, company);
  assert.deepEqual(await ok(company.delete(`/manage/users/${person.userId}/sessions`)), { ended: 1 });
  app.clock.advance(CACHE);
  assertProblem(await person.get('/session'), 401, 'invalid_token');
  const events: { type: string }[] = await ok(company.get(`/manage/users/${person.userId}/history`));
  assert.equal(events.at(-1)?.type, 'user.sessions_ended');
});

test('keys, users, webhooks and the settings of sessions need a sign-in during the last five minutes; tokens do not', async () => {
  const person = await signIn(app, company);
  app.clock.advance({ minutes: 5 });
  await ok(person.post('/manage/keys', { name: 'in time', scopes: ['invoices:read'] }));
  app.clock.advance({ seconds: 1 });
  const key = await ok(company.post('/manage/keys', { name: 'token', scopes: ['invoices:read'] }));
  const writes: [string, string, unknown?][] = [
    ['POST', '/manage/keys', { name: 'late', scopes: ['invoices:read'] }],
    ['DELETE', `/manage/keys/${key.id}`],
    ['POST', '/manage/clients', { name: 'late', scopes: ['invoices:read'] }],
    ['POST', '/manage/users', { email: 'late@company.example', name: 'Late', role: 'reader' }],
    ['PATCH', `/manage/users/${person.userId}`, { role: 'owner' }],
    ['POST', `/manage/users/${person.userId}/disable`],
    ['DELETE', `/manage/users/${person.userId}/sessions`],
    ['POST', '/webhooks/endpoints', { url: 'https://company.example/', types: ['*'] }],
    ['PATCH', '/webhooks/endpoints/0198c0de-0000-7000-8000-000000000000', { url: 'https://company.example/' }],
    ['POST', '/webhooks/endpoints/0198c0de-0000-7000-8000-000000000000/rotate'],
    ['POST', '/webhooks/endpoints/0198c0de-0000-7000-8000-000000000000/resume'],
    ['POST', '/webhooks/endpoints/0198c0de-0000-7000-8000-000000000000/replay'],
    ['POST', `/webhooks/endpoints/0198c0de-0000-7000-8000-000000000000/deliveries/${key.id}/replay`],
    ['PUT', '/manage/advisers/0198c0de-0000-7000-8000-000000000000/video-account', { provider: 'zoom' }],
    ['PATCH', '/manage/company', { session_idle_minutes: 120 }],
    ['PATCH', '/manage/company', { name: 'Smith', session_hours: 24 }],
  ];
  for (const [method, path, body] of writes) {
    assertProblem(await person.send(method, path, body), 403, 'recent_sign_in_required', path);
  }
  await ok(person.get('/manage/users'));
  await ok(person.patch('/manage/company', { phone_region: 'GB' }));
  await ok(person.post(list, { type: 'phone' }));
});

test('a user has at most ten sessions: the oldest ends', async () => {
  const person = await signIn(app, company);
  for (let i = 0; i < 10; i++) {
    app.clock.advance({ seconds: 1 });
    await newSession(app, company, person);
  }
  app.clock.advance(CACHE);
  assertProblem(await person.get('/session'), 401, 'invalid_token');
  for (let i = 0; i < 60; i++) await newSession(app, company, person);
  const [{ kept = 0 } = {}] = await app.sql<{ kept: number }>(
    'SELECT count(*)::int AS kept FROM sessions WHERE user_id = $1',
    [person.userId],
  );
  assert.equal(kept, 50);
});

test('sessions that have become idle do not count for the ten', async () => {
  const person = await signIn(app, company);
  for (let i = 0; i < 9; i++) {
    app.clock.advance({ seconds: 1 });
    await newSession(app, company, person);
  }
  for (let i = 0; i < 2; i++) {
    app.clock.advance({ minutes: 20 });
    await useSession(person);
  }
  for (let i = 0; i < 9; i++) await newSession(app, company, person);
  app.clock.advance(CACHE);
  await ok(person.get('/session'));
});

test('the worker deletes sessions after 30 days, when their browsers are no longer known', async () => {
  const firm = await app.company();
  const old = await signIn(app, firm);
  app.clock.advance({ hours: 24 });
  const later = await newSession(app, firm, old);
  app.clock.advance({ hours: 29 * 24, seconds: 1 });
  await purgeSessions(app.db, app.clock.read);
  const left = await app.sql<{ id: string }>('SELECT id FROM sessions WHERE user_id = $1', [old.userId]);
  assert.deepEqual(left, [{ id: later.sessionId }]);
});

test('a session that was ended is kept as long as others, because its browser is known, and then deleted', async () => {
  const firm = await app.company();
  const person = await signIn(app, firm);
  const stored = async () => {
    await purgeSessions(app.db, app.clock.read);
    return app.sql('SELECT ended_at IS NOT NULL AS ended FROM sessions WHERE user_id = $1', [person.userId]);
  };
  await ok(person.delete('/session'));
  app.clock.advance({ hours: 30 * 24 });
  assert.deepEqual(await stored(), [{ ended: true }]);
  app.clock.advance({ seconds: 1 });
  assert.deepEqual(await stored(), []);
});

test('requests that a page makes without the person do not keep the session from ending', async () => {
  const person = await signIn(app, company);
  const background = { 'session-use': 'background' };
  for (let minutes = 0; minutes < 40; minutes += 10) {
    await ok(person.get('/events', background));
    app.clock.advance({ minutes: 10 });
  }
  assertProblem(await person.get('/events', background), 401, 'invalid_token');
});

test('only a hash of the secret is stored', async () => {
  const { secret } = await signIn(app, company);
  const [{ dump = '' } = {}] = await app.sql<{ dump: string }>(
    "SELECT string_agg(s::text, E'\\n') AS dump FROM sessions s",
  );
  assert.ok(!dump.includes(secret) && !dump.includes(Buffer.from(secret, 'base64url').toString('hex')));
});

test('a busy session writes its last use at most once a minute', async () => {
  const person = await signIn(app, company);
  const writes = async () =>
    (await app.sql<{ n: string }>(`SELECT xmin::text AS n FROM sessions WHERE id = $1`, [person.sessionId]))[0]?.n;
  await ok(person.get('/session'));
  app.clock.advance({ seconds: 3 });
  const before = await writes();
  for (let i = 0; i < 10; i++) {
    await ok(person.get(list));
    app.clock.advance({ seconds: 3 });
  }
  assert.equal(await writes(), before);
});

test('a response with a secret is replayed only to the session that received it', async () => {
  const person = await signIn(app, company);
  const again = await newSession(app, company, person);
  const headers = { 'idempotency-key': 'key-of-a-person' };
  const body = { name: 'once', scopes: ['invoices:read'] };
  const first = await ok(person.post('/manage/keys', body, headers));
  assert.deepEqual(await ok(person.post('/manage/keys', body, headers)), first);
  assertProblem(await again.post('/manage/keys', body, headers), 422, 'idempotency_key_reused');
});

test('with a public address over https, only its cookie counts, and over plain http none does', async () => {
  const secure = await startApp({ publicUrl: 'https://records.example/app' });
  const firm = await secure.company();
  const { secret } = await signIn(secure, firm);
  const plain = caller(secure.baseUrl);
  const host = { cookie: `__Host-session=${secret}`, ...SAME_ORIGIN };
  await ok(plain.get('/session', host));
  await ok(plain.get('/session', { cookie: host.cookie, origin: 'https://records.example' }));
  assertProblem(await plain.get('/session', { cookie: host.cookie, origin: secure.baseUrl }), 403, 'cross_origin');
  assertProblem(await browserOf(secure, secret).get('/session'), 401, 'invalid_token');
  const answer = await plain.delete('/session', host);
  assert.match(
    String(answer.headers['set-cookie']),
    /^__Host-session=; HttpOnly; Secure; SameSite=Strict; Path=\/; Max-Age=0$/,
  );
  const open = await startApp({ publicUrl: 'http://records.example' });
  const { secret: stolen } = await signIn(open, await open.company());
  for (const name of ['__Host-session', SESSION_COOKIE]) {
    const cookie = `${name}=${stolen}`;
    assertProblem(await caller(open.baseUrl).get('/session', { cookie, ...SAME_ORIGIN }), 401, 'invalid_token');
  }
});
