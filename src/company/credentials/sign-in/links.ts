import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../../kernel/database/database.ts';
import { SignInFailedError, UnavailableError } from '../../../kernel/errors.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { findLink, insertRecovery, useLink } from '../links/statements.sql.ts';
import { RECOVERY_TIME } from '../links/verbs.ts';
import { secretHash } from '../secrets.ts';
import { startSession } from '../sessions/verbs.ts';
import { addressSubject, forgiveAttempt, takeAttempt } from './attempts.ts';
import type { LinkBody, RecoveryBody } from './schema.ts';
import { type SecondFactor, type SignedIn, type SignInContext, useSecondFactor } from './verbs.ts';

type LinkRow = SecondFactor & { id: string; kind: 'invitation' | 'recovery' | 'local' };

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
  const now = toSql(clock());
  const link = await db.queryFirst<LinkRow>(findLink({ secret_sha256: secretHash(secret), now }));
  if (!link || (link.kind === 'local' && !isLoopback)) throw failed();
  if (link.kind === 'recovery') {
    if (code === undefined) form.addFault('code', 'required', 'is required: a one-time code or a recovery code');
    form.check();
    const attempt = await takeAttempt(context, { code: link.user_id });
    if (!(await useSecondFactor(context, link, code ?? ''))) throw failed();
    await forgiveAttempt(db, attempt);
  }
  const { company_id, user_id, id } = link;
  return db.transaction(async (transaction) => {
    if ((await transaction.queryRows(useLink({ company_id, id, now }))).length === 0) throw failed();
    const purpose = link.kind === 'local' ? 'full' : 'enrolment';
    const started = await startSession(
      { db: transaction, clock },
      { company_id, user_id, purpose, method: 'link', browser, replacedSecret: sessionSecret },
    );
    if (!started) throw failed();
    return { company_id, user_id, started };
  });
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
