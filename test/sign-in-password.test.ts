import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { codeOfStep, toBase32 } from '../src/company/credentials/factors/one-time-codes.ts';
import { addressSubject } from '../src/company/credentials/sign-in/attempts.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp } from './harness/app.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { browserOf, codeAt, cookiesOf, enrolWithPassword, PASSWORD, secretOf, signIn } from './harness/people.ts';

const PROXIES = { trustedProxies: ['127.0.0.1'] };
const app = await startApp({ secrets: new SecretBox([randomBytes(32)]), ...PROXIES });
const company = await app.company();
const stranger = browserOf(app, undefined);
const PATH = '/sign-in/password';
let lastAddress = 0;
/** A browser at an address of its own, so that the attempts of one test do not delay those of another. */
const from = (address = `198.51.100.${++lastAddress}`) => ({ 'x-forwarded-for': address });
const faultsOf = ({ body }: { body: { errors?: { field: string; code: string }[] } }) =>
  body.errors?.map(({ field, code }) => `${field}: ${code}`);

test('codes are those of RFC 6238', () => {
  const secret = toBase32(Buffer.from('12345678901234567890'));
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(codeOfStep(secret, Math.floor(seconds / 30)), code);
  }
});

test('password and code begin a full session, with new cookies', async () => {
  const person = await enrolWithPassword(app, company, { role: 'reader' });
  const { user, session } = await ok(person.get('/session'));
  assert.deepEqual([user.state, session.purpose, session.method], ['active', 'full', 'password']);
  assert.equal(person.recoveryCodes.length, 10);
  const body = { email: person.email.toUpperCase(), password: PASSWORD, code: codeAt(app, person.codeSecret) };
  const answer = await stranger.post(PATH, body, from());
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.user.id, person.userId);
  const cookies = cookiesOf(answer);
  assert.match(cookies[0] ?? '', /^session-on-loopback=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
  assert.match(
    cookies[1] ?? '',
    /^browser-on-loopback=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000$/,
  );
  await ok(browserOf(app, secretOf(cookies)).get('/session'));
});

test('a session that was planted in the browser ends at the sign-in, and gets none of its rights', async () => {
  const attacker = await signIn(app, company, { role: 'reader' });
  const victim = await enrolWithPassword(app, company);
  const body = { email: victim.email, password: PASSWORD, code: codeAt(app, victim.codeSecret) };
  const answer = await attacker.post(PATH, body, from());
  assert.equal(answer.status, 200, answer.text);
  assert.notEqual(secretOf(cookiesOf(answer)), attacker.secret);
  app.clock.advance({ seconds: 3 });
  assertProblem(await attacker.get('/session'), 401, 'invalid_token');
});

test('whatever is wrong, the answer is the same', async () => {
  const person = await enrolWithPassword(app, company);
  const disabled = await enrolWithPassword(app, company);
  await ok(company.post(`/manage/users/${disabled.userId}/disable`));
  const invited = await signIn(app, company, { purpose: 'enrolment' });
  const code = () => codeAt(app, person.codeSecret);
  const answers = [];
  for (const body of [
    { email: person.email, password: PASSWORD, code: '000000' },
    { email: person.email, password: `${PASSWORD} `, code: code() },
    { email: person.email, password: PASSWORD.toUpperCase(), code: code() },
    { email: person.email, password: PASSWORD, code: 'aaaaaa-aaaaaa-aaaaaa-aaaaaa' },
    { email: person.email, password: PASSWORD, code: code(), company_id: '0198c0de-0000-7000-8000-000000000000' },
    { email: 'nobody@company.example', password: PASSWORD, code: code() },
    { email: disabled.email, password: PASSWORD, code: codeAt(app, disabled.codeSecret) },
    { email: invited.email, password: PASSWORD, code: code() },
  ]) {
    const answer = await stranger.post(PATH, body, from());
    assertProblem(answer, 401, 'sign_in_failed', body);
    assert.equal(answer.headers['set-cookie'], undefined);
    answers.push({ ...answer.body, request_id: '', headers: Object.keys(answer.headers).sort() });
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

test('a code works once, also the one that finished the setup, and none before it does', async () => {
  const person = await enrolWithPassword(app, company);
  const earlier = codeAt(app, person.codeSecret);
  app.clock.advance({ seconds: 30 });
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  await ok(stranger.post(PATH, body, from()));
  assertProblem(await stranger.post(PATH, body, from()), 401, 'sign_in_failed');
  assertProblem(await stranger.post(PATH, { ...body, code: earlier }, from()), 401, 'sign_in_failed');
  app.clock.advance({ seconds: 30 });
  await ok(stranger.post(PATH, { ...body, code: codeAt(app, person.codeSecret) }, from()));
});

test('of two concurrent requests with the same code, one signs in', async () => {
  const person = await enrolWithPassword(app, company);
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  const answers = await Promise.all([1, 2, 3].map(() => stranger.post(PATH, body, from())));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
});

test('a code of a minute ago or in a minute is refused', async () => {
  const person = await enrolWithPassword(app, company);
  const now = Math.floor(app.clock.read().epochMilliseconds / 30_000);
  for (const step of [now - 2, now + 2]) {
    const body = { email: person.email, password: PASSWORD, code: codeOfStep(person.codeSecret, step) };
    assertProblem(await stranger.post(PATH, body, from()), 401, 'sign_in_failed');
  }
});

test('a recovery code replaces a lost app once, however it is typed', async () => {
  const person = await enrolWithPassword(app, company);
  const [first = ''] = person.recoveryCodes;
  // Base 32: 24 characters have 120 bits.
  for (const code of person.recoveryCodes) assert.match(code, /^[a-z2-7]{6}(-[a-z2-7]{6}){3}$/);
  assert.equal(new Set(person.recoveryCodes).size, 10);
  const body = { email: person.email, password: PASSWORD, code: ` ${first.toUpperCase().replaceAll('-', ' ')}` };
  const signedIn = await stranger.post(PATH, body, from());
  assert.equal(signedIn.status, 200, signedIn.text);
  assertProblem(await stranger.post(PATH, body, from()), 401, 'sign_in_failed');
  const account = await ok(browserOf(app, secretOf(cookiesOf(signedIn))).get('/account'));
  assert.equal(account.recovery_codes_left, 9);
  const events: { type: string; actor: object }[] = await ok(company.get(`/manage/users/${person.userId}/history`));
  assert.equal(events.at(-1)?.type, 'user.recovery_code_used');
  assert.deepEqual(events.at(-1)?.actor, { type: 'user', id: person.userId, name: 'The owner' });
});

test('neither password nor codes are stored in a readable form', async () => {
  const person = await enrolWithPassword(app, company);
  const [{ dump = '' } = {}] = await app.sql<{ dump: string }>(
    `SELECT (SELECT string_agg(u::text, ' ') FROM users u) || (SELECT string_agg(e::text, ' ') FROM events e) AS dump`,
  );
  assert.match(dump, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  for (const secret of [PASSWORD, person.codeSecret, ...person.recoveryCodes]) assert.ok(!dump.includes(secret));
});

const WEAK: [string, string][] = [
  ['elevenchars', 'too_short'],
  ['x'.repeat(129), 'too_long'],
  ['Qwerty123456', 'not_allowed'],
  ['Smith & Partners', 'not_allowed'],
  ['smithpartners1', 'not_allowed'],
  ['The Owner 2026', 'not_allowed'],
  ['case-records-99', 'not_allowed'],
];
for (const [password, code] of WEAK) {
  test(`the password "${password.slice(0, 20)}" is refused`, async () => {
    const person = await signIn(app, company, { purpose: 'enrolment' });
    assert.deepEqual(faultsOf(await person.send('PUT', '/account/password', { password })), [`password: ${code}`]);
  });
}

for (const password of ['mnbv lkjh poiu', 'ünïcödé wörds only', '🐎🔋🧷✅'.repeat(3), 'x y z '.repeat(21)]) {
  test(`the password "${password.slice(0, 20)}" is accepted: there are no rules about characters`, async () => {
    const person = await signIn(app, company, { purpose: 'enrolment' });
    await ok(person.send('PUT', '/account/password', { password }));
  });
}

test('a new password needs the current one, and ends the other sessions', async () => {
  const person = await enrolWithPassword(app, company);
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  const other = browserOf(app, secretOf(cookiesOf(await stranger.post(PATH, body, from()))));
  await ok(other.get('/session'));
  const password = 'another walk in the hills';
  const put = (sent: object) => person.send('PUT', '/account/password', sent);
  assert.deepEqual(faultsOf(await put({ password })), ['current_password: required']);
  assert.deepEqual(faultsOf(await put({ password, current_password: 'wrong' })), ['current_password: not_allowed']);
  await ok(put({ password, current_password: PASSWORD }));
  app.clock.advance({ seconds: 30 });
  assertProblem(await other.get('/session'), 401, 'invalid_token');
  await ok(person.get('/session'));
  const code = codeAt(app, person.codeSecret);
  assertProblem(await stranger.post(PATH, { ...body, code }, from()), 401, 'sign_in_failed');
  await ok(stranger.post(PATH, { ...body, code, password }, from()));
});

test('a password stays valid for years', async () => {
  const person = await enrolWithPassword(app, company);
  app.clock.advance({ hours: 24 * 365 * 10 });
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  await ok(stranger.post(PATH, body, from()));
});

test('factors are changed only within five minutes of the sign-in', async () => {
  const person = await enrolWithPassword(app, company);
  app.clock.advance({ minutes: 6 });
  const writes: [string, string, unknown?][] = [
    ['PUT', '/account/password', { password: 'another walk in the hills', current_password: PASSWORD }],
    ['POST', '/account/one-time-codes/setup'],
    ['PUT', '/account/one-time-codes', { setup: 'x', code: '1' }],
    ['POST', '/account/recovery-codes'],
    ['DELETE', '/account/password'],
    ['DELETE', '/account/sessions'],
  ];
  for (const [method, path, body] of writes) {
    assertProblem(await person.send(method, path, body), 403, 'recent_sign_in_required', path);
  }
  // Signing in again begins another session, and ends the one before.
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  const again = browserOf(app, secretOf(cookiesOf(await person.post(PATH, body, from()))));
  const { recovery_codes: codes } = await ok(again.post('/account/recovery-codes'));
  assert.notDeepEqual(codes, person.recoveryCodes);
  app.clock.advance({ seconds: 3 });
  assertProblem(await person.get('/session'), 401, 'invalid_token');
});

test('the setup of codes needs a code, and belongs to one person for 15 minutes', async () => {
  const [person, other] = [await signIn(app, company), await signIn(app, company)];
  const { setup, secret, uri } = await ok(person.post('/account/one-time-codes/setup'));
  assert.match(uri, /^otpauth:\/\/totp\/.*Smith%20%26%20Partners.*secret=/);
  const code = codeAt(app, secret);
  const put = (who: typeof person, body: object) => who.send('PUT', '/account/one-time-codes', body);
  assert.deepEqual(faultsOf(await put(person, { setup, code: code === '000000' ? '1' : '000000' })), [
    'code: not_allowed',
  ]);
  assert.deepEqual(faultsOf(await put(other, { setup, code })), ['setup: not_allowed']);
  app.clock.advance({ minutes: 4 });
  await ok(put(person, { setup, code: codeAt(app, secret) }));
  const late = await signIn(app, company, { purpose: 'enrolment' });
  const prepared = await ok(late.post('/account/one-time-codes/setup'));
  app.clock.advance({ minutes: 16 });
  assert.deepEqual(faultsOf(await put(late, { setup: prepared.setup, code: codeAt(app, prepared.secret) })), [
    'setup: not_allowed',
  ]);
});

test('the last way to sign in cannot be removed', async () => {
  const person = await enrolWithPassword(app, company);
  assert.deepEqual(faultsOf(await person.delete('/account/password')), ['password: invalid_state']);
});

test('without SECRETS_KEY one-time codes cannot be set up', async () => {
  const bare = await startApp();
  const person = await signIn(bare, await bare.company(), { purpose: 'enrolment' });
  const answer = await person.post('/account/one-time-codes/setup');
  assert.deepEqual(faultsOf(answer), ['body: invalid_state']);
});

for (const headers of [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': undefined },
  { 'sec-fetch-site': undefined, origin: 'http://evil.example' },
]) {
  test(`a page with ${JSON.stringify(headers)} cannot sign a browser in`, async () => {
    const answer = await stranger.post(PATH, { email: 'a@b.example', password: 'x', code: '1' }, headers);
    assertProblem(answer, 403, 'cross_origin');
  });
}

test('faults of the body are named', async () => {
  assert.deepEqual(faultsOf(await stranger.post(PATH, {}, from())), [
    'email: required',
    'password: required',
    'code: required',
  ]);
  assert.equal((await stranger.post(PATH, 'x'.repeat(20_000), from())).status, 413);
  assert.deepEqual(faultsOf(await stranger.post(PATH, 'a=1', { ...from(), 'content-type': 'text/plain' })), [
    'Content-Type: not_allowed',
  ]);
});

test('guesses from many addresses are delayed more and more, and wait costs no guess', async () => {
  const person = await enrolWithPassword(app, company);
  const guess = () => stranger.post(PATH, { email: person.email, password: 'wrong', code: '1' }, from());
  for (let i = 0; i < 5; i++) assertProblem(await guess(), 401, 'sign_in_failed');
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    const delayed = await guess();
    assertProblem(delayed, 429, 'too_many_attempts');
    waits.push(Number(delayed.headers['retry-after']));
    app.clock.advance({ seconds: waits.at(-1) ?? 0 });
    assertProblem(await guess(), 401, 'sign_in_failed');
  }
  assert.deepEqual(waits, [2, 4, 8, 16, 32, 64, 128, 256]);
  // The right password waits as well in a browser that nobody knows …
  const body = () => ({ email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) });
  assertProblem(await stranger.post(PATH, body(), from()), 429, 'too_many_attempts');
  // … but not in one in which the person has signed in before.
  const known = `browser-on-loopback=${secretOf(person.cookies, 'browser-on-loopback')}`;
  await ok(stranger.post(PATH, body(), { ...from(), cookie: known }));
});

test('an address without an account is delayed in the same way', async () => {
  const email = 'nobody-at-all@company.example';
  const guess = () => stranger.post(PATH, { email, password: 'wrong', code: '1' }, from());
  for (let i = 0; i < 5; i++) assertProblem(await guess(), 401, 'sign_in_failed');
  assert.equal((await guess()).headers['retry-after'], '2');
});

test('concurrent guesses do not pass the limit together', async () => {
  const email = 'all-together@company.example';
  const guess = () => stranger.post(PATH, { email, password: 'wrong', code: '1' }, from());
  const statuses = (await Promise.all(Array.from({ length: 20 }, guess))).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 5, statuses.join());
});

test('one address that tries many accounts is delayed, and others are not', async () => {
  const address = from();
  const guess = (headers: object, i: number) =>
    stranger.post(PATH, { email: `account-${i}@company.example`, password: 'wrong', code: '1' }, { ...headers });
  for (let i = 0; i < 20; i++) assertProblem(await guess(address, i), 401, 'sign_in_failed');
  assertProblem(await guess(address, 21), 429, 'too_many_attempts');
  assertProblem(await guess(from(), 22), 401, 'sign_in_failed');
});

test('addresses of one IPv6 network count together', () => {
  assert.equal(addressSubject('2001:db8:1:2:3:4:5:6'), addressSubject('2001:db8:1:2::1'));
  assert.equal(addressSubject('2001:db8::1'), addressSubject('2001:db8::2'));
  assert.notEqual(addressSubject('2001:db8:1:2::1'), addressSubject('2001:db8:1:3::1'));
  assert.equal(addressSubject('::1'), '0:0:0:0');
  assert.equal(addressSubject('192.0.2.1'), '192.0.2.1');
});

test('failures are forgotten after an hour, and their rows are deleted', async () => {
  const email = 'forgotten@company.example';
  const guess = (to = email) => stranger.post(PATH, { email: to, password: 'wrong', code: '1' }, from());
  for (let i = 0; i < 5; i++) await guess();
  assertProblem(await guess(), 429, 'too_many_attempts');
  app.clock.advance({ hours: 1, seconds: 1 });
  for (let i = 0; i < 20; i++) await guess(`prune-${i}@company.example`);
  const [{ old = 1 } = {}] = await app.sql<{ old: number }>(
    'SELECT count(*)::int AS old FROM sign_in_attempts WHERE failed_at < $1',
    [app.clock.read().subtract({ minutes: 30 }).toString()],
  );
  assert.equal(old, 0);
  assertProblem(await guess(), 401, 'sign_in_failed');
});

test('an address with accounts in two companies means the one that was active first', async () => {
  const other = await app.company();
  const first = await enrolWithPassword(app, company);
  const second = await enrolWithPassword(app, other);
  await app.sql('UPDATE users SET email = $2 WHERE id = $1', [second.userId, first.email]);
  const body = { email: first.email, password: PASSWORD };
  const { user } = await ok(stranger.post(PATH, { ...body, code: codeAt(app, first.codeSecret) }, from()));
  assert.equal(user.id, first.userId);
  const chosen = { ...body, code: codeAt(app, second.codeSecret), company_id: other.companyId };
  assert.equal((await ok(stranger.post(PATH, chosen, from()))).user.id, second.userId);
});

test('a company that is imported takes over no address, however early its accounts were active', async () => {
  const imported = await app.company();
  const [there, here] = [await enrolWithPassword(app, imported), await enrolWithPassword(app, company)];
  await app.sql('UPDATE users SET email = $2 WHERE id = $1', [there.userId, here.email]);
  await app.sql('UPDATE companies SET imported_at = $2 WHERE id = $1', [
    imported.companyId,
    app.clock.read().toString(),
  ]);
  const body = { email: here.email, password: PASSWORD };
  const { user } = await ok(stranger.post(PATH, { ...body, code: codeAt(app, here.codeSecret) }, from()));
  assert.equal(user.id, here.userId);
});
