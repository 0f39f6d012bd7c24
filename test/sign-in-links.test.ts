import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pino from 'pino';
import { findCompany } from '../src/company/company.ts';
import { linkQueue } from '../src/company/credentials/links/queue.ts';
import { createLocalLink, endRestored, purgeLinks } from '../src/company/credentials/links/verbs.ts';
import { inviteUserAgain } from '../src/company/credentials/users/verbs.ts';
import type { PlainMail } from '../src/kernel/plain-mail.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp, type TestApp } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { Authenticator } from './harness/authenticator.ts';
import { browserOf, codeAt, cookiesOf, enrolWithPassword, PASSWORD, secretOf, signIn } from './harness/people.ts';
import { until } from './harness/until.ts';

const SITE = 'http://localhost:8080';
const app = await startApp({
  secrets: new SecretBox([randomBytes(32)]),
  publicUrl: SITE,
  trustedProxies: ['127.0.0.1'],
});
const company = await app.company();
const stranger = browserOf(app, undefined);
let lastAddress = 0;
const from = (address = `198.51.100.${++lastAddress}`) => ({ 'x-forwarded-for': address });
const use = (link: string, fields: object = {}, headers: object = from()) =>
  stranger.post('/sign-in/link', { link, ...fields }, { ...headers });
const email = () => `${randomUUID()}@company.example`;
const invite = (to = email(), role = 'reader') =>
  ok(company.post('/manage/users', { email: to, name: 'Nora New', role }));

/** Sends the mails that wait, as a worker does, and returns them. */
async function sendMails(to: TestApp = app, { failing = false } = {}): Promise<PlainMail[]> {
  const sent: PlainMail[] = [];
  const sendMail = async (mail: PlainMail) => {
    sent.push(mail);
    if (failing) throw new Error('The mail server is away.');
  };
  const queue = linkQueue({
    db: to.db,
    clock: to.clock.read,
    logger: pino({ level: 'silent' }),
    sendMail,
    siteUrl: SITE,
  });
  const now = to.clock.read();
  const lease = { id: randomUUID(), signal: new AbortController().signal };
  const keys = await to.db.queryRows<{ company_id: string; id: string }>(
    queue.statements.claim({
      ...{ now: now.toString(), lease: lease.id, lease_until: now.add({ minutes: 1 }).toString(), limit: 100 },
      ...{ busy_companies: [], busy_counts: [], max_per_company: 100, reserved: 0 },
    }),
  );
  for (const key of keys) await queue.handle(key, lease as never);
  return sent;
}

const linkOf = (mail: PlainMail | undefined): string => /#link=(crl_[\w-]{43})$/m.exec(mail?.text ?? '')?.[1] ?? '';
async function mailedTo(address: string): Promise<PlainMail> {
  // The invitation of the same person may wait too.
  const mail = (await sendMails()).findLast(({ recipient }) => recipient === address);
  assert.ok(mail, 'a mail was sent');
  return mail;
}

test('an invitation is mailed, works once, and begins a session that only sets up factors', async () => {
  const user = await invite();
  const mail = await mailedTo(user.email);
  assert.equal(mail.subject, 'Invitation to Case Records of Smith & Partners');
  assert.ok(mail.text.includes(`${SITE}/sign-in#link=crl_`));
  const answer = await use(linkOf(mail));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.user.id, answer.body.session.purpose, answer.body.scopes], [user.id, 'enrolment', []]);
  assertProblem(await use(linkOf(mail)), 401, 'sign_in_failed');
  const person = browserOf(app, secretOf(cookiesOf(answer)));
  assertProblem(await person.get(`${company.path}/interactions`), 403, 'insufficient_scope');
  const { options } = await ok(person.post('/account/passkeys/options'));
  const added = await person.post('/account/passkeys', {
    name: 'Phone',
    response: new Authenticator().register(options, SITE),
  });
  const full = browserOf(app, secretOf(cookiesOf(added)));
  await ok(full.get(`${company.path}/interactions`));
});

test('of two concurrent uses of a link, one succeeds', async () => {
  const link = linkOf(await mailedTo((await invite()).email));
  const statuses = (await Promise.all([use(link), use(link), use(link)])).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 401, 401]);
});

test('an invitation works for 72 hours', async () => {
  const [early, late] = [await invite(), await invite()];
  const mails = await sendMails();
  const linkTo = (address: string) => linkOf(mails.find(({ recipient }) => recipient === address));
  app.clock.advance({ hours: 71, minutes: 59 });
  await ok(use(linkTo(early.email)));
  app.clock.advance({ minutes: 1 });
  assertProblem(await use(linkTo(late.email)), 401, 'sign_in_failed');
});

test('another invitation replaces the first; a user who can sign in gets none', async () => {
  const user = await invite();
  const first = linkOf(await mailedTo(user.email));
  await ok(company.post(`/manage/users/${user.id}/invitation`));
  const second = linkOf(await mailedTo(user.email));
  assertProblem(await use(first), 401, 'sign_in_failed');
  await ok(use(second));
  const active = await signIn(app, company);
  const answer = await company.post(`/manage/users/${active.userId}/invitation`);
  assert.deepEqual([answer.status, answer.body.errors[0].field], [400, 'state']);
});

test('another invitation ends the session that the first one began', async () => {
  const user = await invite();
  const begun = browserOf(app, secretOf(cookiesOf(await use(linkOf(await mailedTo(user.email))))));
  await ok(begun.get('/account'));
  await ok(company.post(`/manage/users/${user.id}/invitation`));
  app.clock.advance({ seconds: 2 });
  assertProblem(await begun.get('/account'), 401, 'invalid_token');
});

test('an invitation is of no use once the user is disabled, and none is sent then', async () => {
  const user = await invite();
  const link = linkOf(await mailedTo(user.email));
  await ok(company.post(`/manage/users/${user.id}/disable`));
  assertProblem(await use(link), 401, 'sign_in_failed');
  assert.equal((await company.post(`/manage/users/${user.id}/reset-factors`)).status, 400);
});

test('a link is bound to the address that it was sent to', async () => {
  const user = await invite();
  const link = linkOf(await mailedTo(user.email));
  await app.sql('UPDATE users SET email = $2 WHERE id = $1', [user.id, email()]);
  assertProblem(await use(link), 401, 'sign_in_failed');
});

test('the secret of a link is in no row, before and after the mail', async () => {
  const user = await invite();
  const dump = async () =>
    (await app.sql<{ dump: string }>(`SELECT string_agg(l::text, ' ') AS dump FROM user_links l`))[0]?.dump ?? '';
  const before = await dump();
  const link = linkOf(await mailedTo(user.email));
  for (const text of [before, await dump()]) assert.ok(!text.includes(link.slice(4)));
});

test('a mail that could not be sent is sent again with another link', async () => {
  const user = await invite();
  const failed = (await sendMails(app, { failing: true })).find(({ recipient }) => recipient === user.email);
  app.clock.advance({ minutes: 1 });
  const mail = await mailedTo(user.email);
  assert.equal(mail.id, failed?.id);
  assertProblem(await use(linkOf(failed)), 401, 'sign_in_failed');
  await ok(use(linkOf(mail)));
});

test('the answer to a request for recovery is the same in any case', async () => {
  const person = await enrolWithPassword(app, company);
  const answers = [];
  for (const address of [person.email, email(), (await invite()).email]) {
    const answer = await stranger.post('/sign-in/recovery', { email: address }, from());
    assert.equal(answer.status, 200, answer.text);
    answers.push([answer.text, Object.keys(answer.headers).sort()]);
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

async function recover(address: string): Promise<string> {
  await ok(stranger.post('/sign-in/recovery', { email: address.toUpperCase() }, from()));
  const waiting = async () =>
    (await app.sql(`SELECT 1 FROM user_links WHERE email = $1 AND kind = 'recovery' AND state = 'waiting'`, [address]))
      .length > 0;
  await until(waiting, 'the request for recovery');
  return linkOf(await mailedTo(address));
}

test('recovery needs the mail and a second factor, and leads to a new password', async () => {
  const person = await enrolWithPassword(app, company);
  const link = await recover(person.email);
  const without = await use(link);
  assert.equal(without.status, 400, `${link} ${without.text}`);
  assert.deepEqual([without.status, without.body.errors[0].field], [400, 'code']);
  assertProblem(await use(link, { code: '000000' }), 401, 'sign_in_failed');
  const answer = await use(link, { code: codeAt(app, person.codeSecret) });
  assert.equal(answer.body.session?.purpose, 'enrolment', answer.text);
  const setting = browserOf(app, secretOf(cookiesOf(answer)));
  const password = 'a different walk by the river';
  const done = await setting.send('PUT', '/account/password', { password });
  assert.equal(done.status, 200, done.text);
  assert.equal((await ok(browserOf(app, secretOf(cookiesOf(done))).get('/session'))).session.purpose, 'full');
  app.clock.advance({ seconds: 30 });
  const body = { email: person.email, code: codeAt(app, person.codeSecret) };
  assertProblem(
    await stranger.post('/sign-in/password', { ...body, password: PASSWORD }, from()),
    401,
    'sign_in_failed',
  );
  await ok(stranger.post('/sign-in/password', { ...body, password }, from()));
  assertProblem(await person.get('/session'), 401, 'invalid_token');
});

test('codes are not guessed with the link of a recovery: attempts are delayed', async () => {
  const person = await enrolWithPassword(app, company);
  const link = await recover(person.email);
  for (let i = 0; i < 5; i++) assertProblem(await use(link, { code: '000000' }), 401, 'sign_in_failed');
  assertProblem(await use(link, { code: '000000' }), 429, 'too_many_attempts');
});

test('a link for recovery works for 30 minutes', async () => {
  const person = await enrolWithPassword(app, company);
  const link = await recover(person.email);
  app.clock.advance({ minutes: 30 });
  assertProblem(await use(link, { code: codeAt(app, person.codeSecret) }), 401, 'sign_in_failed');
});

test('nobody is flooded with mails: three links work concurrently, and an address makes a few requests', async () => {
  const person = await enrolWithPassword(app, company);
  for (let i = 0; i < 3; i++) await recover(person.email);
  await ok(stranger.post('/sign-in/recovery', { email: person.email }, from()));
  const address = from();
  const request = () => stranger.post('/sign-in/recovery', { email: email() }, address);
  for (let i = 0; i < 5; i++) await ok(request());
  assertProblem(await request(), 429, 'too_many_attempts');
  assert.deepEqual(
    (await sendMails()).filter(({ recipient }) => recipient === person.email),
    [],
  );
});

test('strangers who ask for links keep nobody from one: when none works, the next request brings one', async () => {
  const person = await enrolWithPassword(app, company);
  for (let i = 0; i < 3; i++) await recover(person.email);
  app.clock.advance({ minutes: 31 });
  const link = await recover(person.email);
  await ok(use(link, { code: codeAt(app, person.codeSecret) }));
});

test('after twelve links for recovery in 24 hours one works at a time', async () => {
  const person = await enrolWithPassword(app, company);
  await insertLinks(company.companyId, person.userId, 'recovery', 12);
  app.clock.advance({ minutes: 1 });
  const link = await recover(person.email);
  await ok(stranger.post('/sign-in/recovery', { email: person.email }, from()));
  // Its own link is stored after those that were asked for before.
  await recover((await enrolWithPassword(app, company)).email);
  const links = await app.sql(`SELECT 1 FROM user_links WHERE user_id = $1 AND kind = 'recovery'`, [person.userId]);
  assert.equal(links.length, 13);
  await ok(use(link, { code: codeAt(app, person.codeSecret) }));
});

test('a link whose mail failed does not count as one that works', async () => {
  const person = await enrolWithPassword(app, company);
  for (let i = 0; i < 3; i++) await recover(person.email);
  await app.sql(`UPDATE user_links SET state = 'failed' WHERE user_id = $1 AND kind = 'recovery'`, [person.userId]);
  await insertLinks(company.companyId, person.userId, 'recovery', 9);
  const link = await recover(person.email);
  await ok(use(link, { code: codeAt(app, person.codeSecret) }));
});

test('reset factors: nothing of before works, and the person chooses anew', async () => {
  const owner = await enrolWithPassword(app, company);
  const person = await enrolWithPassword(app, company, { role: 'adviser' });
  const link = await recover(person.email);
  await ok(owner.post(`/manage/users/${person.userId}/reset-factors`));
  app.clock.advance({ seconds: 30 });
  const code = codeAt(app, person.codeSecret);
  assertProblem(await person.get('/session'), 401, 'invalid_token');
  assertProblem(
    await stranger.post('/sign-in/password', { email: person.email, password: PASSWORD, code }, from()),
    401,
    'sign_in_failed',
  );
  assertProblem(await use(link, { code }), 401, 'sign_in_failed');
  const answer = await use(linkOf(await mailedTo(person.email)));
  const setting = browserOf(app, secretOf(cookiesOf(answer)));
  const account = await ok(setting.get('/account'));
  assert.deepEqual(
    [account.state, account.passkeys, account.password_set_at, account.has_one_time_codes, account.recovery_codes_left],
    ['invited', [], null, false, 0],
  );
  const events: { type: string; actor: { id: string } }[] = await ok(
    company.get(`/manage/users/${person.userId}/history`),
  );
  const reset = events.find(({ type }) => type === 'user.factors_reset');
  assert.equal(reset?.actor.id, owner.userId);
});

const insertLinks = (companyId: string, userId: string, kind: string, count: number, state = 'sent') =>
  app.sql(
    `INSERT INTO user_links (company_id, id, user_id, kind, email, expires_at, state, due_at, created_at)
     SELECT $1, gen_random_uuid(), $2, $4, 'x', $3, $6, $3, $3 FROM generate_series(1, $5)`,
    [companyId, userId, app.clock.read().toString(), kind, count, state],
  );

test('a company mails at most 500 invitations in 24 hours; recoveries and printed links are not among them', async () => {
  const firm = await app.company();
  const user = await ok(firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' }));
  await insertLinks(firm.companyId, user.id, 'recovery', 600);
  await insertLinks(firm.companyId, user.id, 'invitation', 600, 'given');
  const others = await signIn(app, firm);
  await insertLinks(firm.companyId, others.userId, 'invitation', 497);
  await ok(firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' }));
  const answer = await firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' });
  assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 'invalid_state']);
  // Someone who has lost every way to sign in must not have to wait for these.
  await ok(firm.post(`/manage/users/${user.id}/reset-factors`));
  await ok(firm.post(`/manage/users/${user.id}/invitation`));
});

test('a user gets at most five invitations by mail in 24 hours; an operator can still print one', async () => {
  const firm = await app.company();
  const user = await ok(firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' }));
  const again = () => firm.post(`/manage/users/${user.id}/invitation`);
  for (let i = 0; i < 4; i++) await ok(again());
  assertRefused(await again(), { body: 'invalid_state' });
  assertRefused(await firm.post(`/manage/users/${user.id}/reset-factors`), { body: 'invalid_state' });
  const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, firm.companyId) };
  const { secret = '' } = await inviteUserAgain(context, user.id, 'print');
  await ok(use(secret));
  app.clock.advance({ hours: 24 });
  await ok(again());
});

test('a company mails at most 2,000 invitations in 24 hours, with those of users who are invited again', async () => {
  const firm = await app.company();
  const user = await ok(firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' }));
  const others = await signIn(app, firm);
  await insertLinks(firm.companyId, others.userId, 'invitation', 1_997);
  await ok(firm.post(`/manage/users/${user.id}/invitation`));
  assertRefused(await firm.post(`/manage/users/${user.id}/invitation`), { body: 'invalid_state' });
  assertRefused(await firm.post(`/manage/users/${user.id}/reset-factors`), { body: 'invalid_state' });
  const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, firm.companyId) };
  assert.ok((await inviteUserAgain(context, user.id, 'print')).secret);
  app.clock.advance({ hours: 24 });
  await ok(firm.post(`/manage/users/${user.id}/invitation`));
});

test('a link for this machine signs in only from this machine, once', async () => {
  const person = await signIn(app, company);
  const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, company.companyId) };
  const link = await createLocalLink(context, person.userId);
  assertProblem(await use(link), 401, 'sign_in_failed');
  const answer = await use(link, {}, {});
  assert.deepEqual([answer.body.session?.purpose, answer.body.session?.method], ['full', 'link'], answer.text);
  assertProblem(await use(link, {}, {}), 401, 'sign_in_failed');
  const late = await createLocalLink(context, person.userId);
  app.clock.advance({ hours: 1 });
  assertProblem(await use(late, {}, {}), 401, 'sign_in_failed');
  const secure = await startApp({ publicUrl: 'https://records.example' });
  const firm = await secure.company();
  const owner = await signIn(secure, firm);
  const there = { db: secure.db, clock: secure.clock.read, company: await findCompany(secure, firm.companyId) };
  const abroad = await createLocalLink(there, owner.userId);
  const elsewhere = await browserOf(secure, undefined).post('/sign-in/link', { link: abroad });
  assertProblem(elsewhere, 401, 'sign_in_failed');
});

test('after a restore no link and no session of before works', async () => {
  const other = await startApp({ publicUrl: SITE });
  const firm = await other.company();
  const person = await signIn(other, firm);
  await ok(firm.post('/manage/users', { email: email(), name: 'Nora', role: 'reader' }));
  await ok(person.get('/session'));
  await endRestored(other.db, other.clock.read);
  other.clock.advance({ seconds: 3 });
  assertProblem(await person.get('/session'), 401, 'invalid_token');
  assert.deepEqual(await sendMails(other), []);
});

test('old links are deleted', async () => {
  await mailedTo((await invite()).email);
  app.clock.advance({ hours: 24 * 11 });
  await purgeLinks(app.db, app.clock.read);
  const [{ left = 1 } = {}] = await app.sql<{ left: number }>(
    `SELECT count(*)::int AS left FROM user_links WHERE state <> 'waiting'`,
  );
  assert.equal(left, 0);
});

test('the page has a strict policy and no inline script', async () => {
  const page = await stranger.get('/sign-in');
  assert.equal(page.status, 200);
  assert.match(
    String(page.headers['content-security-policy']),
    /default-src 'none'; script-src 'self'; style-src 'self'/,
  );
  assert.ok(!/<script>|<style>|\son\w+=/.test(page.text));
  for (const [, file = ''] of page.text.matchAll(/(?:src|href)="(sign-in\/[^"]+)"/g)) {
    assert.equal((await stranger.get(`/${file}`)).status, 200, file);
  }
  assert.equal((await stranger.get('/sign-in/other.js')).status, 404);
});

test('the fields for passwords hide what is typed, and let password managers fill them', async () => {
  const { text } = await stranger.get('/sign-in');
  const fields = [...text.matchAll(/<input[^>]*autocomplete="(current|new)-password"[^>]*>/g)].map(([field]) => field);
  assert.equal(fields.length, 3);
  for (const field of fields) assert.match(field, /type="password"/);
  assert.equal(text.match(/type="password"/g)?.length, fields.length);
  const [, script = ''] = /src="(sign-in\/[^"]+)"/.exec(text) ?? [];
  assert.doesNotMatch(text + (await stranger.get(`/${script}`)).text, /paste|oncopy|autocomplete="off"/);
});
