import type { Logger } from 'pino';
import type { Database } from '../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../kernel/jobs/backoff.ts';
import { MAX_REASON_LENGTH } from '../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../kernel/jobs/job-queue.ts';
import type { PlainMail } from '../../kernel/plain-mail.ts';
import { stripNul } from '../../kernel/sql/inputs.ts';
import { type Clock, type Instant, toSql } from '../../kernel/time/time.ts';
import * as sql from './alerts.sql.ts';

export type SendMail = (mail: PlainMail, now: Instant, signal: AbortSignal) => Promise<unknown>;

type AlertQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  sendMail: SendMail;
  random?: () => number;
};

type AlertKey = Record<(typeof sql.KEY)[number], string>;
type StartedAlertRow = {
  id: string;
  kind: sql.AlertKind;
  attempt_number: number;
  due_at: string;
  url: string;
  company: string;
  recipient: string | null;
};

const DEADLINE = { hours: 72 };

/** Sends alert mails, each at least once: a worker that dies after sending leaves the alert to be sent again. */
export function alertQueue({ db, clock, logger, sendMail, random = Math.random }: AlertQueueOptions): JobQueue {
  async function handle(key: JobKey, lease: Lease): Promise<void> {
    const { company_id, endpoint_id, id } = key as AlertKey;
    const row = await db.queryFirst<StartedAlertRow>(sql.startAlert({ company_id, endpoint_id, id, lease: lease.id }));
    if (!row) return;
    const record = (state: sql.AlertState, error: string | null, retryAt?: Instant) =>
      db.queryRows(
        sql.recordAlertResult({
          company_id,
          endpoint_id,
          id,
          lease: lease.id,
          now: toSql(clock()),
          state,
          recipient: row.recipient,
          error,
          retry_at: retryAt && toSql(retryAt),
        }),
      );
    const fields = { company: company_id, endpoint: endpoint_id, kind: row.kind };
    if (row.recipient === null) {
      logger.error(fields, 'webhook alert not sent: the company has no address');
      await record(sql.ALERT_STATES.failed, 'The company has no contact_email and no sender_address. Set one of them.');
      return;
    }
    const due = Temporal.Instant.from(row.due_at);
    try {
      await sendMail({ id: row.id, due, recipient: row.recipient, ...renderAlert(row) }, clock(), lease.signal);
      await record(sql.ALERT_STATES.sent, null);
    } catch (error) {
      lease.signal.throwIfAborted();
      const { permanent = false, message } = error as Error & { permanent?: boolean };
      const retryAt = permanent
        ? undefined
        : nextAttemptAt(
            PROVIDER_SCHEDULE,
            { attempt: row.attempt_number, now: clock(), deadline: due.add(DEADLINE) },
            random,
          );
      const state = retryAt ? sql.ALERT_STATES.waiting : sql.ALERT_STATES.failed;
      await record(state, stripNul(message.slice(0, MAX_REASON_LENGTH)), retryAt);
      logger[retryAt ? 'warn' : 'error']({ ...fields, reason: message }, 'webhook alert not sent');
    }
  }

  return { name: 'webhook_notices', key: sql.KEY, statements: sql.statements, handle };
}

const STOPPED =
  'No more events are sent to it. New events are kept, and are delivered in order when you resume the endpoint.';

const TEMPLATES: Record<sql.AlertKind, { subject: string; problem: string; consequence: string }> = {
  failing: {
    subject: 'A webhook endpoint is failing',
    problem:
      'This webhook endpoint has rejected an event for three days and accepted no other in the last twelve hours:',
    consequence: STOPPED,
  },
  delivery_failed: {
    subject: 'An event could not be delivered',
    problem: 'This webhook endpoint has rejected an event for three days, but accepts others:',
    consequence:
      'Its delivery has been abandoned. The list of failed deliveries shows why, and each of them can be replayed.',
  },
  gone: {
    subject: 'A webhook endpoint is disabled',
    problem: 'This webhook endpoint has answered 410 Gone:',
    consequence: STOPPED,
  },
};

/** Leaves out the query of the URL, because it may hold a secret of the receiver. */
function renderAlert({ kind, url, company }: StartedAlertRow): Pick<PlainMail, 'subject' | 'text'> {
  const { subject, problem, consequence } = TEMPLATES[kind];
  const { origin, pathname, host } = new URL(url);
  const text = [`Hello ${company},`, '', problem, '', `${origin}${pathname}`, '', consequence, ''].join('\n');
  return { subject: `${subject}: ${host}`, text };
}
