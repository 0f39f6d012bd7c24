import type { Executor } from '../../../kernel/database/database.ts';
import { SignInFailedError } from '../../../kernel/errors.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { withPasswordHashing } from '../factors/password-hash.ts';
import { recoveryCodeHash } from '../factors/recovery-codes.ts';
import { secretHash } from '../secrets.ts';
import { type BrowserTraits, type StartedSession, startSession, type UserKey } from '../sessions/verbs.ts';
import { addressSubject, forgiveAttempt, takeAttempt } from './attempts.ts';
import type { PasswordSignInBody } from './schema.ts';
import { checkCode, type SecondFactor, useUpCode } from './second-factor.ts';
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

type Account = UserKey & SecondFactor & { name: string; password_hash: string; knows_browser: boolean };
/** Without an account, everything except the address is null. */
type AccountRow = { address: string } & (Account | { [Name in keyof Account]: null });

/** Stands for the account of an address that has none, so that refusing it takes the same work. */
const NOBODY: UserKey & SecondFactor = {
  company_id: '',
  user_id: '',
  sealed_secret: null,
  code_step: null,
  has_recovery_code: false,
};

/** One answer for everything that can be wrong, after the same work. */
const failed = () => new SignInFailedError('The email, the password or the code is wrong.');

export async function signInWithPassword(context: SignInContext, form: Form<PasswordSignInBody>): Promise<SignedIn> {
  form.check();
  const { email, password, code, company_id } = form.body;
  const { db, clock, browserSecret } = context;
  const code_sha256 = recoveryCodeHash(code);
  return withPasswordHashing(async ({ isPassword }) => {
    const row = (await db.queryFirst<AccountRow>(
      sql.findAccount({
        email,
        company_id,
        browser_sha256: browserSecret === undefined ? null : secretHash(browserSecret),
        code_sha256,
        now: toSql(clock()),
      }),
    )) as AccountRow;
    // Strangers can delay an account, but not in the browsers that its owner uses.
    const attempt = await takeAttempt(
      context,
      row.knows_browser
        ? { browser: browserSecret ?? '' }
        : { account: row.address, address: addressSubject(context.browser.address) },
    );
    const account = row.user_id === null ? undefined : row;
    const isRight = await isPassword(password, account?.password_hash);
    const right = checkCode(context, account ?? NOBODY, account ?? NOBODY, code);
    if (!account || !isRight || right === undefined) throw failed();
    const { user_id, name, password_hash, sealed_secret } = account;
    const user = { company_id: account.company_id, user_id };
    const started = await beginSession(context, { ...user, password_hash, sealed_secret }, 'password', (locked) =>
      useUpCode(locked, user, { name, code_sha256, right }),
    );
    if (!started) throw failed();
    await forgiveAttempt(db, attempt);
    return { ...user, started };
  });
}

type CheckedUser = UserKey & { password_hash?: string | null; sealed_secret?: string | null };

/**
 * Begins a full session of a user whose factors were checked, if they still are what they were and `useUp` succeeds.
 * Returns undefined otherwise, and if the user has been disabled.
 */
export async function beginSession(
  context: SignInContext,
  { company_id, user_id, password_hash = null, sealed_secret = null }: CheckedUser,
  method: 'passkey' | 'password',
  useUp: (locked: SignInContext) => Promise<boolean>,
): Promise<StartedSession | undefined> {
  const { browser, sessionSecret: replacedSecret } = context;
  return context.db.transaction(async (db) => {
    const locked = { ...context, db };
    if (!(await db.queryFirst(sql.lockUser({ company_id, user_id, password_hash, sealed_secret })))) return undefined;
    if (!(await useUp(locked))) return undefined;
    return startSession(locked, { company_id, user_id, purpose: 'full', method, browser, replacedSecret });
  });
}
