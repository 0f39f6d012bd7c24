import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../kernel/database.ts';
import { dueStatements } from '../kernel/due-work.sql.ts';
import type { Claim, Key, Queue } from '../kernel/due-work.ts';
import { newId } from '../kernel/ids.ts';
import type { Outcomes } from '../kernel/outcomes.ts';
import { nextAttempt } from '../kernel/retry.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import * as sql from './message-queue.sql.ts';
import { type Channel, DeliveryFault, type Kind, type Outgoing, type Receipt, type Sender } from './outgoing.ts';

export type MessageQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  senders: Record<Channel, Sender>;
  outcomes: Outcomes;
  random?: () => number;
};

// The meeting is made in a moment or given up; whoever makes it also sets the waiting confirmation free.
const ASK_AGAIN = { seconds: 5 };
const LONGEST_REASON = 500;

/** Messages as due work: begin (read again, note the intent), send, finish. The network is in none of the statements. */
export function messageQueue({
  db,
  clock,
  logger,
  senders,
  outcomes,
  random = Math.random,
}: MessageQueueOptions): Queue {
  const values = (key: Key) => sql.KEY.map((column) => key[column]);

  async function handle(key: Key, claim: Claim): Promise<void> {
    const now = clock();
    const row = await db.first<BegunRow>(sql.beginMessage, [
      ...values(key),
      claim.id,
      toSql(now),
      toSql(now.add(ASK_AGAIN)),
    ]);
    if (row?.verdict === 'failed') outcomes.count('failed', row);
    if (row?.verdict !== 'sending') return;
    const outcome = await attempt(senders[row.channel], outgoing(key, row), claim.signal);
    if (outcome instanceof DeliveryFault) await notSent(key, claim, row, outcome);
    else await sent(key, row, outcome);
  }

  const attempt = (sender: Sender, message: Outgoing, signal: AbortSignal): Promise<Receipt | DeliveryFault> =>
    sender.send(message, clock(), signal).catch((error) => {
      if (error instanceof DeliveryFault) return error;
      logger.error({ err: error, message: message.id }, 'a message could not be made');
      return new DeliveryFault('It could not be made; the log says why.', { permanent: false, cause: error });
    });

  async function sent(key: Key, row: BegunRow, { to, providerId }: Receipt): Promise<void> {
    const parameters = [...values(key), toSql(clock()), to, providerId];
    const called = row.channel === 'email' && row.kind === 'confirmation';
    await insist(() =>
      called ? db.rows(sql.confirmationSent, [...parameters, newId()]) : db.rows(sql.messageSent, parameters),
    );
    outcomes.count('sent', row);
    logger.info({ message: key.id, company: key.company_id, channel: row.channel, kind: row.kind }, 'message sent');
  }

  async function notSent(key: Key, claim: Claim, row: BegunRow, fault: DeliveryFault): Promise<void> {
    const now = clock();
    const deadline = Temporal.Instant.from(row.deadline);
    const again = fault.permanent ? undefined : nextAttempt(row.attempt, now, deadline, random);
    const reason = fault.message.slice(0, LONGEST_REASON);
    const parameters = [...values(key), claim.id, toSql(now), reason, again ? toSql(again) : null];
    const [written] = await insist(() => db.rows<{ state: string }>(sql.messageNotSent, parameters));
    if (written?.state === 'failed') outcomes.count('failed', row);
    const level = written?.state === 'failed' ? 'error' : 'warn';
    const about = { message: key.id, company: key.company_id, channel: row.channel, kind: row.kind };
    logger[level]({ ...about, attempt: row.attempt, state: written?.state, reason }, 'message not sent');
  }

  return { name: 'messages', key: sql.KEY, statements: dueStatements({ table: 'messages', ...DUE }), handle };
}

const DUE = { key: sql.KEY, open: sql.OPEN };

type BegunRow = {
  verdict: 'sending' | 'wait' | 'cancelled' | 'skipped' | 'failed';
  channel: Channel;
  kind: Kind;
  attempt: number;
  due: string;
  deadline: string;
  start: string;
  end: string;
  location: string | null;
  join_url: string | null;
  version: number;
  recipient: string;
  company: string;
  time_zone: string;
  phone_region: string;
  sender_name: string | null;
  sender_address: string | null;
  adviser: string;
  customer: string | null;
};

const outgoing = (key: Key, row: BegunRow): Outgoing => ({
  id: key.id as string,
  appointmentId: key.appointment_id as string,
  channel: row.channel,
  kind: row.kind,
  due: Temporal.Instant.from(row.due),
  start: Temporal.Instant.from(row.start),
  end: Temporal.Instant.from(row.end),
  recipient: row.recipient,
  location: row.location,
  joinUrl: row.join_url,
  version: row.version,
  company: row.company,
  timeZone: row.time_zone,
  phoneRegion: row.phone_region,
  senderName: row.sender_name,
  senderAddress: row.sender_address,
  adviser: row.adviser,
  customer: row.customer,
});

const PAUSES_MS = [100, 500, 2_000, 5_000, 10_000];

/** What has happened outside must be written down: a database that is away for a moment is waited for. */
async function insist<T>(write: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await write();
    } catch {
      await pause(ms);
    }
  }
  return write();
}
