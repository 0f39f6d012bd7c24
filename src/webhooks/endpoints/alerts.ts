import type { Logger } from 'pino';
import type { Database } from '../../kernel/database/database.ts';
import { nextAttempt } from '../../kernel/jobs/backoff.ts';
import { queueStatements } from '../../kernel/jobs/job-queue.sql.ts';
import type { JobKey, JobQueue, Lease } from '../../kernel/jobs/job-queue.ts';
import { stripNul } from '../../kernel/sql/statement.ts';
import { type Clock, type Instant, toSql } from '../../kernel/time/time.ts';
import * as sql from './alerts.sql.ts';

/** A plain mail of the service itself, as its sender takes it. */
export type PlainMail = { id: string; due: Instant; recipient: string; subject: string; text: string };
export type SendMail = (mail: PlainMail, now: Instant, signal: AbortSignal) => Promise<unknown>;

export type AlertQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  sendMail: SendMail;
  random?: () => number;
};

type StartedAlertRow = {
  id: string;
  kind: sql.AlertKind;
  attempt: number;
  due: string;
  url: string;
  company: string;
  recipient: string | null;
};

const MAX_AGE = { hours: 72 };
const LONGEST_REASON = 500;

/** The mails to companies' contacts as due work: at least once, as far as there is anybody to tell. */
export function alertQueue({ db, clock, logger, sendMail: tell, random = Math.random }: AlertQueueOptions): JobQueue {
  async function handle(key: JobKey, claim: Lease): Promise<void> {
    const values = [...sql.KEY.map((column) => key[column]), claim.id];
    const row = await db.queryFirst<StartedAlertRow>(sql.startAlert, values);
    if (!row) return;
    const settle = (state: string, reason: string | null, again?: Instant) => {
      const rest = [toSql(clock()), state, row.recipient, reason, again ? toSql(again) : null];
      return db.queryRows(sql.recordAlertResult, [...values, ...rest]);
    };
    const about = { company: key.company_id, endpoint: key.endpoint_id, kind: row.kind };
    if (row.recipient === null) {
      logger.error(about, 'nobody to tell of a webhook endpoint');
      return void (await settle('untold', 'The company has no contact_email and no sender_address.'));
    }
    const due = Temporal.Instant.from(row.due);
    try {
      await tell({ id: row.id, due, recipient: row.recipient, ...renderAlert(row) }, clock(), claim.signal);
      await settle('told', null);
    } catch (error) {
      claim.signal.throwIfAborted();
      const { permanent = false, message } = error as Error & { permanent?: boolean };
      const again = permanent ? undefined : nextAttempt(row.attempt, clock(), due.add(MAX_AGE), random);
      await settle(again ? 'waiting' : 'untold', stripNul(message.slice(0, LONGEST_REASON)), again);
      logger[again ? 'warn' : 'error']({ ...about, reason: message }, 'notice of a webhook endpoint not sent');
    }
  }

  const statements = queueStatements({ table: 'webhook_notices', key: sql.KEY, open: sql.OPEN });
  return { name: 'webhook_notices', key: sql.KEY, statements, handle };
}

const TEMPLATES: Record<sql.AlertKind, { subject: string; lines: string[] }> = {
  failing: {
    subject: 'A webhook endpoint is failing',
    lines: [
      'an event was refused for three days by this webhook endpoint, and no other was taken in the last twelve hours:',
      'Nothing more is sent to it. What happens meanwhile is kept, and delivered in its order once the endpoint is resumed.',
    ],
  },
  delivery_failed: {
    subject: 'An event could not be delivered',
    lines: [
      'an event was refused for three days by this webhook endpoint, which takes others:',
      'It has been given up. The list of failed deliveries shows why, and each of them can be replayed.',
    ],
  },
  gone: {
    subject: 'A webhook endpoint is disabled',
    lines: [
      'this webhook endpoint has answered 410 Gone:',
      'Nothing more is sent to it. What happens meanwhile is kept, and delivered in its order once the endpoint is resumed.',
    ],
  },
};

/** Without the query of the address, which may hold what only the receiver should know. */
function renderAlert({ kind, url, company }: StartedAlertRow): Pick<PlainMail, 'subject' | 'text'> {
  const { subject, lines } = TEMPLATES[kind];
  const [what, then] = lines;
  const { origin, pathname } = new URL(url);
  const text = [`Hello ${company},`, '', what, '', `${origin}${pathname}`, '', then, ''].join('\n');
  return { subject: `${subject}: ${new URL(url).host}`, text };
}
