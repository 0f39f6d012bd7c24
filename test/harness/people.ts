import { randomUUID } from 'node:crypto';
import { findCompany } from '../../src/company/company.ts';
import { codeOfStep, stepAt } from '../../src/company/credentials/factors/one-time-codes.ts';
import { startSession } from '../../src/company/credentials/sessions/verbs.ts';
import type { Role } from '../../src/company/credentials/users/roles.ts';
import { CreateUserBody } from '../../src/company/credentials/users/schema.ts';
import { createUser } from '../../src/company/credentials/users/verbs.ts';
import { readForm } from '../../src/kernel/validation/form.ts';
import type { TestApp, TestCompany } from './app.ts';
import { type Answer, type Caller, caller, type Headers } from './http.ts';

/** People who are signed in, as the requests of their browsers. */

export const SESSION_COOKIE = 'session-on-loopback';
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

export type Person = Caller & { userId: string; email: string; sessionId: string; secret: string };

type PersonOptions = { role?: Role; purpose?: 'full' | 'enrolment' };

/** Creates a user with a session. */
export async function signIn(app: TestApp, company: TestCompany, options: PersonOptions = {}): Promise<Person> {
  const { role = 'owner', purpose = 'full' } = options;
  const email = `${randomUUID()}@company.example`;
  const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, company.companyId) };
  const form = readForm(CreateUserBody, { email, name: `The ${role}`, role });
  const userId: string = JSON.parse((await createUser(context, form)).record).id;
  if (purpose === 'full') {
    await app.sql(`UPDATE users SET state = 'active', activated_at = created_at WHERE id = $1`, [userId]);
  }
  return newSession(app, company, { userId, email, purpose });
}

/** Starts another session of a user. */
export async function newSession(
  app: TestApp,
  { companyId }: Pick<TestCompany, 'companyId'>,
  { userId, email, purpose = 'full' }: { userId: string; email: string; purpose?: 'full' | 'enrolment' },
): Promise<Person> {
  const started = await startSession(
    { db: app.db, clock: app.clock.read },
    {
      ...{ company_id: companyId, user_id: userId, purpose, method: 'link', replacedSecret: undefined },
      browser: { address: '127.0.0.1', userAgent: 'Test' },
    },
  );
  if (!started) throw new Error('The user may have no such session.');
  return { ...browserOf(app, started.secret), userId, email, sessionId: started.id, secret: started.secret };
}

/** A browser with the cookie of a session. */
export function browserOf({ baseUrl }: Pick<TestApp, 'baseUrl'>, secret: string | undefined): Caller {
  const plain = caller(baseUrl);
  const cookie = secret === undefined ? undefined : `${SESSION_COOKIE}=${secret}`;
  const send: Caller['send'] = (method, path, body, headers: Headers = {}) =>
    plain.send(method, path, body, { cookie, ...SAME_ORIGIN, ...headers });
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    patch: (path, body, headers) => send('PATCH', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}

export const PASSWORD = 'a long walk by the sea 17';

export type PersonWithPassword = Person & { codeSecret: string; recoveryCodes: string[]; cookies: string[] };

/** A person with a password and an authenticator app, who set them up over HTTP. */
export async function enrolWithPassword(app: TestApp, company: TestCompany, { role = 'owner' }: { role?: Role } = {}) {
  const person = await signIn(app, company, { role, purpose: 'enrolment' });
  const ok = async (answer: Promise<Answer>) => {
    const found = await answer;
    if (found.status !== 200) throw new Error(found.text);
    return found;
  };
  await ok(person.send('PUT', '/account/password', { password: PASSWORD }));
  const { body: prepared } = await ok(person.post('/account/one-time-codes/setup'));
  const code = codeAt(app, prepared.secret);
  const done = await ok(person.send('PUT', '/account/one-time-codes', { setup: prepared.setup, code }));
  const cookies = cookiesOf(done);
  const secret = secretOf(cookies);
  // The code that finished the setup works once.
  app.clock.advance({ seconds: 30 });
  const enrolled: PersonWithPassword = {
    ...person,
    ...browserOf(app, secret),
    secret: secret ?? '',
    codeSecret: prepared.secret,
    recoveryCodes: done.body.recovery_codes,
    cookies,
  };
  return enrolled;
}

/** The code that an authenticator app shows now. */
export const codeAt = (app: Pick<TestApp, 'clock'>, secret: string): string =>
  codeOfStep(secret, stepAt(app.clock.read()));

export const cookiesOf = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat();

/** The value of a cookie that a response sets. */
export const secretOf = (cookies: readonly string[], name = SESSION_COOKIE): string | undefined =>
  cookies.map((cookie) => new RegExp(`^${name}=([^;]+)`).exec(cookie)?.[1]).find((value) => value !== undefined);
