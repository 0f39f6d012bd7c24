import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { InvalidTokenError, InvalidValue, invalidState } from '../../../kernel/errors.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { withCredentialLock } from '../credential-lock.ts';
import { endSessions } from '../sessions/statements.sql.ts';
import { type BrowserTraits, ownKeys, type StartedSession, startSession } from '../sessions/verbs.ts';
import { forgiveAttempt, takeAttempt } from '../sign-in/attempts.ts';
import { codeSecretOwner } from './code-secrets.ts';
import { codeUri, matchCode, newCodeSecret } from './one-time-codes.ts';
import { withPasswordHashing } from './password-hash.ts';
import { assertStrongPassword } from './password-rules.ts';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import type { CodesBody, PasswordBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export type Factors = {
  email: string;
  name: string;
  company: string;
  state: 'invited' | 'active' | 'disabled';
  password_hash: string | null;
  sealed_secret: string | null;
  code_step: string | null;
  recovery_codes: number;
  has_password: boolean;
  passkeys: number;
};

/** The browser of the request, in which a full session may begin. */
export type FactorRequest = { browser: BrowserTraits; sessionSecret: string | undefined };

/** The answer, and the session that replaces one that could only set up factors. */
export type FactorsChanged = { json: string; started: StartedSession | undefined };

export async function showAccount(context: Context): Promise<string> {
  const { company_id, user_id } = ownKeys(context);
  return (await context.db.queryJson(sql.showAccount({ company_id, user_id }))) ?? noUser();
}

export async function findFactors(context: Context): Promise<Factors> {
  const { company_id, user_id } = ownKeys(context);
  return (await context.db.queryFirst<Factors>(sql.findFactors({ company_id, user_id }))) ?? noUser();
}

const noUser = () => {
  throw new InvalidTokenError('The session is not valid.');
};

/** The inputs of a change of the signed-in user. */
export const changeOf = (context: Context) => {
  const { company_id, user_id } = ownKeys(context);
  return { company_id, user_id, now: toSql(context.clock()), origin: auditOrigin(context) };
};

/**
 * Changes factors of the signed-in user, and ends the user's other sessions. With enough factors, an invited user
 * becomes active, gets recovery codes if there are none, and a session that could only set up factors becomes a full
 * one.
 */
export function changeFactors(
  context: Context,
  { browser, sessionSecret }: FactorRequest,
  method: 'passkey' | 'password',
  work: (locked: Context) => Promise<string[] | undefined>,
): Promise<FactorsChanged> {
  return withCredentialLock(context, async (locked) => {
    let codes = await work(locked);
    const { company_id, user_id, id, now, origin } = { ...ownKeys(locked), ...changeOf(locked) };
    await locked.db.queryRows(endSessions({ company_id, user_id, id: null, except_id: id, now }));
    const factors = await findFactors(locked);
    const isSufficient = factors.passkeys > 0 || factors.has_password;
    let started: StartedSession | undefined;
    if (isSufficient) {
      if (factors.recovery_codes === 0) codes ??= await createCodes(locked);
      await locked.db.queryRows(sql.activate({ company_id, user_id, now, origin }));
      if (locked.session?.purpose === 'enrolment') {
        const session = {
          company_id,
          user_id,
          purpose: 'full',
          method,
          browser,
          replacedSecret: sessionSecret,
        } as const;
        started = await startSession(locked, session);
      }
    }
    const account = await showAccount(locked);
    return { json: `{"account" : ${account}, "recovery_codes" : ${JSON.stringify(codes ?? null)}}`, started };
  });
}

async function createCodes(context: Context): Promise<string[]> {
  const codes = newRecoveryCodes();
  await context.db.queryRows(sql.setRecoveryCodes({ ...changeOf(context), hashes: codes.map(recoveryCodeHash) }));
  return codes;
}

/** The new password is checked and hashed before the lock is taken, because that takes a while. */
export async function setPassword(context: Context, form: Form<PasswordBody>, request: FactorRequest) {
  const { password, current_password: current } = form.body;
  const before = await findFactors(context);
  const needsCurrent = before.password_hash !== null && context.session?.purpose !== 'enrolment';
  if (needsCurrent && current === undefined && form.ok) form.addFault('current_password', 'required', 'is required');
  const words = [before.email, before.name, before.company];
  form.read('password', password, (text) => assertStrongPassword(text, words));
  form.check();
  const password_hash = await withPasswordHashing(async ({ hashPassword, isPassword }) => {
    if (needsCurrent) {
      const attempt = await takeAttempt(context, { password: ownKeys(context).user_id });
      if (!(await isPassword(current ?? '', before.password_hash)))
        form.addFault('current_password', 'not_allowed', 'is not the password');
      form.check();
      await forgiveAttempt(context.db, attempt);
    }
    return hashPassword(password);
  });
  return changeFactors(context, request, 'password', async (locked) => {
    if ((await findFactors(locked)).password_hash !== before.password_hash) {
      throw invalidState('password', 'was changed meanwhile');
    }
    await locked.db.queryRows(sql.setPassword({ ...changeOf(locked), password_hash }));
    return undefined;
  });
}

export const removePassword = (context: Context, request: FactorRequest) =>
  changeFactors(context, request, 'passkey', async (locked) => {
    const [removed] = await locked.db.queryRows(sql.removePassword(changeOf(locked)));
    if (!removed)
      throw invalidState('password', 'cannot be removed: without a passkey nothing would be left to sign in with');
    return undefined;
  });

const SETUP_TIME = { minutes: 15 };
const setupOwner = (context: Context) => [...codeSecretOwner(context.company.id, ownKeys(context).user_id), 'setup'];

const requireBox = (secrets: SecretBox | undefined): SecretBox => {
  if (secrets) return secrets;
  throw invalidState(
    'body',
    'SECRETS_KEY is not set: one-time codes cannot be set up. Use a passkey, or ask the operator',
  );
};

/** Makes a secret for an authenticator app. Nothing is stored until a code shows that the app has it. */
export async function prepareCodes(context: Context, secrets: SecretBox | undefined): Promise<string> {
  const box = requireBox(secrets);
  const { email, company } = await findFactors(context);
  const secret = newCodeSecret();
  const until = context.clock().add(SETUP_TIME).epochMilliseconds;
  const setup = box.seal(JSON.stringify({ secret, until }), setupOwner(context));
  return JSON.stringify({ secret, uri: codeUri(secret, { company, email }), setup });
}

export async function setCodes(
  context: Context,
  form: Form<CodesBody>,
  secrets: SecretBox | undefined,
  request: FactorRequest,
) {
  const { setup, code } = form.body;
  const prepared = form.read('setup', setup, (text) => openSetup(context, text, secrets));
  const step = prepared && form.read('code', code, (text) => requireCode(prepared, text, context));
  form.check();
  if (prepared === undefined || step === undefined) throw new Error('The form has a fault that was not reported.');
  const { company_id, user_id } = ownKeys(context);
  const sealed_secret = requireBox(secrets).seal(prepared, codeSecretOwner(company_id, user_id));
  return changeFactors(context, request, 'password', async (locked) => {
    await locked.db.queryRows(sql.setCodes({ ...changeOf(locked), sealed_secret, code_step: step }));
    return undefined;
  });
}

function openSetup(context: Context, text: string, secrets: SecretBox | undefined): string {
  const opened = requireBox(secrets).open(text, setupOwner(context));
  const { secret, until } = JSON.parse(opened ?? '{}') as { secret?: string; until?: number };
  if (secret !== undefined && (until ?? 0) > context.clock().epochMilliseconds) return secret;
  throw new InvalidValue('not_allowed', 'is too old or not what the setup returned: begin again');
}

function requireCode(secret: string, code: string, { clock }: Context): number {
  const step = matchCode(secret, code, clock());
  if (step === undefined) throw new InvalidValue('not_allowed', 'is not the code that the app shows now');
  return step;
}

/** Replaces the recovery codes. */
export const replaceRecoveryCodes = (context: Context, request: FactorRequest) =>
  changeFactors(context, request, 'password', createCodes);
