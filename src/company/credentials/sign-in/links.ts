import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../../kernel/database/database.ts';
import { SignInFailedError, UnavailableError } from '../../../kernel/errors.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { recoveryCodeHash } from '../factors/recovery-codes.ts';
import { findLink, insertRecovery, useLink } from '../links/statements.sql.ts';
import { RECOVERY_TIME } from '../links/verbs.ts';
import { secretHash } from '../secrets.ts';
import { startSession, type UserKey } from '../sessions/verbs.ts';
import { addressSubject, forgiveAttempt, takeAttempt } from './attempts.ts';
import type { LinkBody, RecoveryBody } from './schema.ts';
import { checkCode, type SecondFactor, useUpCode } from './second-factor.ts';
import { lockUser } from './statements.sql.ts';
import type { SignedIn, SignInContext } from './verbs.ts';

type LinkRow = UserKey & SecondFactor & { id: string; kind: 'invitation' | 'recovery' | 'local'; name: string };

const failed = () => new SignInFailedError('The link or the code is wrong, was used before, or is too old.');

/**
 * Uses a link up. It begins a session that may only set up ways to sign in. Recovery needs a second factor beside the
 * mail: otherwise everybody with access to the mailbox could replace both factors.
 */
export async function signInWithLink(
  context: SignInContext,
  form: Form<LinkBody>,
  { isLoopback }: { isLoopback: boolean },
): Promise<SignedIn> {
  form.check();
  const { db, clock, browser, sessionSecret } = context;
  const { link: secret, code } = form.body;
  const code_sha256 = recoveryCodeHash(code ?? '');
  const link = await db.queryFirst<LinkRow>(
    findLink({ secret_sha256: secretHash(secret), code_sha256, now: toSql(clock()) }),
  );
  if (!link || (link.kind === 'local' && !isLoopback)) throw failed();
  const isRecovery = link.kind === 'recovery';
  if (isRecovery && code === undefined)
    form.addFault('code', 'required', 'is required: a one-time code or a recovery code');
  form.check();
  const attempt = isRecovery ? await takeAttempt(context, { code: link.user_id }) : undefined;
  const right = isRecovery ? checkCode(context, link, link, code ?? '') : undefined;
  if (isRecovery && right === undefined) throw failed();
  const { company_id, user_id, id, name } = link;
  const user = { company_id, user_id };
  const started = await db.transaction(async (transaction) => {
    const locked = { ...context, db: transaction };
    const factors = { password_hash: null, sealed_secret: isRecovery ? link.sealed_secret : null };
    if (!(await transaction.queryFirst(lockUser({ ...user, ...factors })))) throw failed();
    if (right !== undefined && !(await useUpCode(locked, user, { name, code_sha256, right }))) throw failed();
    // Read again, because another invitation may have ended this link while the request waited for the lock.
    const now = toSql(clock());
    if ((await transaction.queryRows(useLink({ company_id, id, now }))).length === 0) throw failed();
    const purpose = link.kind === 'local' ? 'full' : 'enrolment';
    return startSession(locked, { ...user, purpose, method: 'link', browser, replacedSecret: sessionSecret });
  });
  if (!started) throw failed();
  if (attempt) await forgiveAttempt(db, attempt);
  return { ...user, started };
}

const MAX_PENDING = 50;

/**
 * Requests for recovery, which are answered before the account is looked for: the time of the answer says nothing about
 * whether there is one. A crash loses those of the last moment, and their senders ask again.
 */
export class Recoveries {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #pending = new Set<Promise<void>>();

  constructor(db: Database, clock: Clock, logger: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#logger = logger;
  }

  async request(context: SignInContext, form: Form<RecoveryBody>): Promise<string> {
    form.check();
    await takeAttempt(context, { recovery: addressSubject(context.browser.address) });
    if (this.#pending.size >= MAX_PENDING)
      throw new UnavailableError('Too many requests for recovery. Try again later.');
    const work = this.#insert(form.body).catch((error: Error) =>
      this.#logger.error({ reason: error.message }, 'a request for recovery was lost'),
    );
    this.#pending.add(work);
    void work.then(() => this.#pending.delete(work));
    return '{"accepted":true}';
  }

  /** Resolves when all requests that were answered are stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #insert({ email, company_id }: RecoveryBody): Promise<void> {
    // After the response: otherwise the work itself could delay it.
    await new Promise((resolve) => setImmediate(resolve));
    const now = this.#clock();
    const inserted = await this.#db.queryRows(
      insertRecovery({
        id: randomUUID(),
        email,
        company_id,
        expires_at: toSql(now.add(RECOVERY_TIME)),
        now: toSql(now),
      }),
    );
    if (inserted.length > 0) notifyWorkers(this.#db);
  }
}
