import type { Logger } from 'pino';
import type { Database } from '../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../kernel/jobs/backoff.ts';
import { MAX_REASON_LENGTH } from '../../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../../kernel/jobs/retry-write.ts';
import type { PlainMail } from '../../../kernel/plain-mail.ts';
import { stripNul } from '../../../kernel/sql/inputs.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import { secretHash } from '../secrets.ts';
import * as sql from './statements.sql.ts';
import { linkAddress, newLinkSecret } from './verbs.ts';

type LinkQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  sendMail: (mail: PlainMail, now: Instant, signal: AbortSignal) => Promise<unknown>;
  /** The URL that links begin with. */
  siteUrl: string;
  random?: () => number;
};

type LinkKey = Record<(typeof sql.KEY)[number], string>;
type StartedLink = {
  id: string;
  kind: 'invitation' | 'recovery';
  email: string;
  attempt: number;
  due: string;
  expires: string;
  expired: boolean;
  name: string;
  company_id: string;
  company: string;
};

/**
 * Mails links. The secret is made for each attempt and stored as a hash only, so it is neither in the database nor in a
 * backup. If two mails arrive, the link of the later one works.
 */
export function linkQueue({ db, clock, logger, sendMail, siteUrl, random = Math.random }: LinkQueueOptions): JobQueue {
  async function handle(jobKey: JobKey, lease: Lease): Promise<void> {
    const { company_id, id } = jobKey as LinkKey;
    const key = { company_id, id, lease: lease.id };
    const secret = newLinkSecret();
    const now = toSql(clock());
    const row = await db.queryFirst<StartedLink>(sql.startLinkMail({ ...key, secret_sha256: secretHash(secret), now }));
    if (!row) return;
    const record = (state: string, last_error: string | null, retryAt?: Instant) =>
      db.queryRows(
        sql.recordLinkResult({ ...key, state, last_error, retry_at: retryAt && toSql(retryAt), now: toSql(clock()) }),
      );
    if (row.expired) {
      await record('failed', 'It could not be sent before it expired.');
      return;
    }
    const due = Temporal.Instant.from(row.due);
    try {
      const mail = { id: row.id, due, recipient: row.email, ...renderMail(row, linkAddress(siteUrl, secret)) };
      await sendMail(mail, clock(), lease.signal);
    } catch (error) {
      lease.signal.throwIfAborted();
      const { permanent = false, message } = error as Error & { permanent?: boolean };
      const reason = stripNul(message.slice(0, MAX_REASON_LENGTH));
      const failed = { attempt: row.attempt, now: clock(), deadline: Temporal.Instant.from(row.expires) };
      const retryAt = permanent ? undefined : nextAttemptAt(PROVIDER_SCHEDULE, failed, random);
      await record(retryAt ? 'waiting' : 'failed', reason, retryAt);
      logger.warn({ company: company_id, link: id, kind: row.kind, reason }, 'link not sent');
      return;
    }
    const recording = { signal: lease.signal, logger, subject: 'link result', giveUpOnError: true };
    await retryUntilRecorded(recording, () => record('sent', null));
  }

  return { name: 'user_links', key: sql.KEY, statements: sql.statements, handle };
}

function renderMail({ kind, name, company }: StartedLink, link: string): Pick<PlainMail, 'subject' | 'text'> {
  const lines =
    kind === 'invitation'
      ? [
          `${company} invites you to Case Records. Choose how you want to sign in:`,
          '',
          link,
          '',
          'The link works once, and for 72 hours. If you did not expect this mail, ignore it.',
        ]
      : [
          `Somebody, probably you, has asked for a way back to your account at ${company}. To choose a new password or`,
          'passkey, have your authenticator app or a recovery code at hand and open this link:',
          '',
          link,
          '',
          'The link works once, and for 30 minutes. If you did not ask for it, ignore it: nothing has changed.',
        ];
  const subject = kind === 'invitation' ? `Invitation to Case Records of ${company}` : 'Your way back to Case Records';
  return { subject, text: [`Hello ${name},`, '', ...lines, ''].join('\n') };
}
