import type { Logger } from 'pino';
import type { Database } from '../../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../../kernel/jobs/backoff.ts';
import { MAX_REASON_LENGTH } from '../../../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../../../kernel/jobs/retry-write.ts';
import { stripNul } from '../../../../kernel/sql/inputs.ts';
import { type Clock, type Instant, toSql } from '../../../../kernel/time/time.ts';
import { type Channel, DeliveryError, type EmailSender, type SmsSender } from '../message.ts';
import { htmlOf } from '../templates/html.ts';
import * as sql from './statements.sql.ts';

type TestQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  senders: { email: EmailSender; sms: SmsSender };
  random?: () => number;
};

type TestKey = Record<(typeof sql.KEY)[number], string>;
type StartedTest = {
  id: string;
  channel: Channel;
  recipient: string;
  subject: string | null;
  content: string;
  attempt: number;
  due: string;
  sender_name: string;
  sender_address: string | null;
  reply_to: string | null;
};

/** A person waits for the message, so it makes no sense later. */
const DEADLINE = { hours: 1 };
const RETENTION = { hours: 30 * 24 };

/** Sends test messages, a mail at least once: a worker that dies after sending leaves it to be sent again. */
export function testMessageQueue({ db, clock, logger, senders, random = Math.random }: TestQueueOptions): JobQueue {
  async function handle(jobKey: JobKey, lease: Lease): Promise<void> {
    const { company_id, id } = jobKey as TestKey;
    const row = await db.queryFirst<StartedTest>(sql.startTestMessage({ company_id, id, lease: lease.id }));
    if (!row) return;
    const record = (state: string, last_error: string | null, retryAt?: Instant) =>
      db.queryRows(
        sql.recordTestResult({
          ...{ company_id, id, lease: lease.id, state, last_error },
          ...{ retry_at: retryAt && toSql(retryAt), now: toSql(clock()) },
        }),
      );
    try {
      await send(row, lease.signal);
    } catch (error) {
      lease.signal.throwIfAborted();
      const reason = stripNul((error as Error).message.slice(0, MAX_REASON_LENGTH));
      const retryAt = mayRetry(row, error) ? nextAttempt(row) : undefined;
      await record(retryAt ? 'scheduled' : 'failed', reason, retryAt);
      logger.warn({ company: company_id, message: id, channel: row.channel, reason }, 'test message not sent');
      return;
    }
    const recording = { signal: lease.signal, logger, subject: 'test message result', giveUpOnError: true };
    await retryUntilRecorded(recording, () => record('sent', null));
  }

  async function send({ channel, recipient, subject, content, ...row }: StartedTest, signal: AbortSignal) {
    const due = Temporal.Instant.from(row.due);
    if (channel === 'sms') {
      await senders.sms.sendText({ id: row.id, due, recipient, text: content }, signal);
      return;
    }
    const sender = { name: row.sender_name, address: row.sender_address, replyTo: row.reply_to };
    const mail = { id: row.id, due, recipient, sender, subject: subject ?? '', text: content };
    await senders.email.sendPlain({ ...mail, html: htmlOf(content, mail.subject) }, clock(), signal);
  }

  /** Phones cannot recognise a second copy of an SMS that may have gone out. */
  const mayRetry = ({ channel }: StartedTest, error: unknown): boolean =>
    !(error instanceof DeliveryError) || !(error.permanent || (error.uncertain && channel === 'sms'));

  const nextAttempt = ({ attempt, due }: StartedTest) => {
    const failed = { attempt, now: clock(), deadline: Temporal.Instant.from(due).add(DEADLINE) };
    return nextAttemptAt(PROVIDER_SCHEDULE, failed, random);
  };

  return { name: 'test_messages', key: sql.KEY, statements: sql.statements, handle };
}

/** Deletes the test messages that ended 30 days ago. */
export async function purgeTestMessages(db: Database, clock: Clock): Promise<void> {
  await db.queryRows(sql.purgeTestMessages({ ended_before: toSql(clock().subtract(RETENTION)) }));
}
