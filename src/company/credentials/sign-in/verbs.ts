import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import { InvalidTokenError, SignInFailedError } from '../../../kernel/errors.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { codeSecretOwner } from '../factors/code-secrets.ts';
import { matchCode } from '../factors/one-time-codes.ts';
import { isPassword } from '../factors/password-hash.ts';
import { recoveryCodeHash } from '../factors/recovery-codes.ts';
import { useCode, useRecoveryCode } from '../factors/statements.sql.ts';
import { secretHash } from '../secrets.ts';
import { type BrowserTraits, type StartedSession, startSession, type UserKey } from '../sessions/verbs.ts';
import { addressSubject, forgiveAttempt, takeAttempt } from './attempts.ts';
import type { PasswordSignInBody } from './schema.ts';
import * as sql from './statements.sql.ts';

/** What signing in needs to know of a request. */
export type SignInContext = {
  db: Executor;
  clock: Clock;
  secrets: SecretBox | undefined;
  requestId: string;
  browser: BrowserTraits;
  /** The secrets of the cookies that the browser has. */
  sessionSecret: string | undefined;
  browserSecret: string | undefined;
};

export type SignedIn = UserKey & { started: StartedSession };

type AccountRow = SecondFactor & { password_hash: string; knows_browser: boolean };

/** One answer for everything that can be wrong, after the same work. */
const failed = () => new SignInFailedError('The email, the password or the code is wrong.');

export async function signInWithPassword(context: SignInContext, form: Form<PasswordSignInBody>): Promise<SignedIn> {
  form.check();
  const { email, password, code, company_id } = form.body;
  const { db, clock, browserSecret } = context;
  const account = await db.queryFirst<AccountRow>(
    sql.findAccount({
      email,
      company_id,
      browser_sha256: browserSecret === undefined ? null : secretHash(browserSecret),
      now: toSql(clock()),
    }),
  );
  // Strangers can delay an account, but not in the browsers that its owner uses.
  const attempt = await takeAttempt(
    context,
    account?.knows_browser
      ? { browser: browserSecret ?? '' }
      : { account: lowerCase(email), address: addressSubject(context.browser.address) },
  );
  const isRight = await isPassword(password, account?.password_hash);
  if (!account || !isRight || !(await useSecondFactor(context, account, code))) throw failed();
  const started = await startFullSession(context, account, 'password');
  await forgiveAttempt(db, attempt);
  return { ...account, started };
}

export type SecondFactor = UserKey & { name: string; sealed_secret: string | null };

/** Uses a one-time code or a recovery code up. Returns false if it is wrong or was used before. */
export async function useSecondFactor(
  { db, clock, secrets, requestId }: Pick<SignInContext, 'db' | 'clock' | 'secrets' | 'requestId'>,
  { company_id, user_id, name, sealed_secret }: SecondFactor,
  code: string,
): Promise<boolean> {
  if (/^[\d ]+$/.test(code)) {
    const secret = sealed_secret && secrets?.open(sealed_secret, codeSecretOwner(company_id, user_id));
    const step = secret ? matchCode(secret, code, clock()) : undefined;
    if (step === undefined) return false;
    return (await db.queryRows(useCode({ company_id, user_id, code_step: step }))).length > 0;
  }
  const origin = auditOrigin({ credential: { type: 'user', id: user_id, name }, requestId });
  const hash = recoveryCodeHash(code);
  return (await db.queryRows(useRecoveryCode({ company_id, user_id, hash, now: toSql(clock()), origin }))).length > 0;
}

export async function startFullSession(
  { db, clock, browser, sessionSecret }: SignInContext,
  { company_id, user_id }: UserKey,
  method: 'passkey' | 'password' | 'link',
): Promise<StartedSession> {
  const session = { company_id, user_id, purpose: 'full', method, browser, replacedSecret: sessionSecret } as const;
  const started = await startSession({ db, clock }, session);
  if (!started) throw new InvalidTokenError('The user has been disabled.');
  return started;
}

/** As PostgreSQL does it: JavaScript makes two characters of this one, so the same account would have another key. */
const lowerCase = (email: string) => email.replaceAll('İ', 'i').toLowerCase();
