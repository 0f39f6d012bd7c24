import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pino from 'pino';
import { findCompany } from '../src/company/company.ts';
import { inviteUserAgain } from '../src/company/credentials/users/verbs.ts';
import { Database } from '../src/kernel/database/database.ts';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { buildApp } from '../src/server/app.ts';
import { startApp } from './harness/app.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { Authenticator } from './harness/authenticator.ts';
import { browserOf, codeAt, cookiesOf, enrolWithPassword, PASSWORD, secretOf, signIn } from './harness/people.ts';
import { lockUser } from './harness/row-lock.ts';

/** Signing in while something else changes: a factor, the user, the company. */

const SITE = 'http://localhost:8080';
const app = await startApp({ secrets: new SecretBox([randomBytes(32)]), publicUrl: SITE });
const company = await app.company();
const stranger = browserOf(app, undefined);
const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, company.companyId) };

for (const [what, change] of Object.entries({
  'the old password': `UPDATE users SET password_hash = 'another' WHERE id = $1`,
  'a code of the old app': `UPDATE users SET sealed_secret = 'another' WHERE id = $1`,
  'an account that was disabled': `UPDATE users SET state = 'disabled' WHERE id = $1`,
})) {
  test(`a sign-in that began with ${what} is refused if that has changed meanwhile`, async () => {
    const person = await enrolWithPassword(app, company);
    const lock = await lockUser(app, person.userId);
    const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
    const answer = stranger.post('/sign-in/password', body);
    await lock.waitedFor();
    await lock.query(change, [person.userId]);
    await lock.release();
    assertProblem(await answer, 401, 'sign_in_failed');
  });
}

test('a change of the password ends the session of a sign-in with the old one that it had to wait for', async () => {
  const person = await enrolWithPassword(app, company);
  const lock = await lockUser(app, person.userId);
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  const signingIn = stranger.post('/sign-in/password', body);
  await lock.waitedFor();
  const changing = person.send('PUT', '/account/password', { password: 'by the river', current_password: PASSWORD });
  await lock.release();
  const [answer] = [await signingIn, await ok(changing)];
  app.clock.advance({ seconds: 2 });
  if (answer.status === 200) {
    assertProblem(await browserOf(app, secretOf(cookiesOf(answer))).get('/session'), 401, 'invalid_token');
  } else assertProblem(answer, 401, 'sign_in_failed');
});

test('a passkey that is removed while it signs in begins no session', async () => {
  const person = await signIn(app, company);
  const device = new Authenticator();
  const { options } = await ok(person.post('/account/passkeys/options'));
  await ok(person.post('/account/passkeys', { name: 'Phone', response: device.register(options, SITE) }));
  const { options: challenge } = await ok(stranger.post('/sign-in/passkey/options', {}));
  const lock = await lockUser(app, person.userId);
  const answer = stranger.post('/sign-in/passkey', { response: device.signIn(challenge, SITE) });
  await lock.waitedFor();
  await lock.query('DELETE FROM passkeys WHERE user_id = $1', [person.userId]);
  await lock.release();
  assertProblem(await answer, 401, 'sign_in_failed');
});

test('a session that began while the user was being disabled does not come back when the user is enabled', async () => {
  const person = await signIn(app, company, { role: 'reader' });
  const lock = await lockUser(app, person.userId);
  const disabling = company.post(`/manage/users/${person.userId}/disable`);
  await lock.waitedFor();
  const secret = randomBytes(32);
  await lock.query(
    `INSERT INTO sessions (company_id, id, user_id, secret_sha256, browser_sha256, purpose, method, address, user_agent,
                           created_at, last_seen_at)
     SELECT company_id, gen_random_uuid(), user_id, sha256($2), browser_sha256, purpose, method, address, user_agent,
            created_at, last_seen_at FROM sessions WHERE user_id = $1`,
    [person.userId, secret.toString('base64url')],
  );
  await lock.release();
  await ok(disabling);
  await ok(company.post(`/manage/users/${person.userId}/enable`));
  assertProblem(await browserOf(app, secret.toString('base64url')).get('/session'), 401, 'invalid_token');
});

test('a link that another invitation ends while it is being used begins no session', async () => {
  const email = `${randomBytes(6).toString('hex')}@company.example`;
  const { id } = await ok(company.post('/manage/users', { email, name: 'Nora', role: 'reader' }));
  const { secret: link } = await inviteUserAgain(context, id, 'print');
  const lock = await lockUser(app, id);
  const answer = stranger.post('/sign-in/link', { link });
  await lock.waitedFor();
  app.clock.advance({ seconds: 1 });
  await inviteUserAgain(context, id, 'print');
  await lock.release();
  assertProblem(await answer, 401, 'sign_in_failed');
});

test('nobody signs in to a company that is being removed', async () => {
  const firm = await app.company();
  const person = await enrolWithPassword(app, firm);
  await app.sql('UPDATE companies SET removal_started_at = now() WHERE id = $1', [firm.companyId]);
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  assertProblem(await stranger.post('/sign-in/password', body), 401, 'sign_in_failed');
});

test('what ends or changes a session in one process takes effect in another within two seconds', async () => {
  const db = new Database({ connection: { ...app.connection, user: SERVICE_ROLE }, poolSize: 2 });
  const process = await buildApp({ db, clock: app.clock.read, logger: pino({ level: 'silent' }), publicUrl: SITE });
  try {
    const second = { baseUrl: await process.listen({ host: '127.0.0.1', port: 0 }) };
    const elsewhere = ({ secret }: { secret: string }) => browserOf(second, secret);
    const [signedOut, demoted, disabled] = [
      await signIn(app, company),
      await signIn(app, company),
      await signIn(app, company),
    ];
    for (const person of [signedOut, demoted, disabled]) await ok(elsewhere(person).get('/manage/company'));
    await ok(signedOut.delete('/session'));
    await ok(company.patch(`/manage/users/${demoted.userId}`, { role: 'reader' }));
    await ok(company.post(`/manage/users/${disabled.userId}/disable`));
    app.clock.advance({ seconds: 2 });
    assertProblem(await elsewhere(signedOut).get('/manage/company'), 401, 'invalid_token');
    assertProblem(await elsewhere(demoted).get('/manage/company'), 403, 'insufficient_scope');
    assertProblem(await elsewhere(disabled).get('/manage/company'), 401, 'invalid_token');
  } finally {
    await process.close();
    await db.close();
  }
});
