import type { Logger } from 'pino';
import type { Database } from '../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../kernel/jobs/backoff.ts';
import type { DeliveryCounters } from '../../../kernel/jobs/delivery-counters.ts';
import { queueStatements } from '../../../kernel/jobs/job-queue.sql.ts';
import type { JobKey, JobQueue, Lease } from '../../../kernel/jobs/job-queue.ts';
import type { Clock } from '../../../kernel/time/time.ts';
import { type BegunRow, ledger, outgoing, type Taken } from './delivery-attempts.ts';
import { CHANNELS, type Channel, DeliveryFault, type Outgoing, type Receipt, type Sender } from './message.ts';
import { KEY, OPEN } from './message-queue.sql.ts';

export type MessageQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  senders: Record<Channel, Sender>;
  outcomes: DeliveryCounters;
  random?: () => number;
  /** Before what became of a message is written down again. */
  pausesMs?: readonly number[];
};

const LONGEST_REASON = 500;
// Attempts that may have sent it. A second copy of a mail can be told by its Message-ID; that of an SMS cannot.
const MOST_DOUBTS: Record<Channel, number> = { email: 2, sms: 1 };

/**
 * Messages as due work: begin (read again, note the intent), send, finish. The network is in none of the statements. A
 * queue for each channel, so that a server which hangs takes the slots of its own messages only.
 */
export function messageQueues(options: MessageQueueOptions): JobQueue[] {
  const { clock, logger, senders, outcomes, random = Math.random } = options;
  const book = ledger(options);

  async function handle(key: JobKey, claim: Lease): Promise<void> {
    const taken = { key, claim };
    const row = await book.begin(taken);
    if (row?.verdict === 'failed') outcomes.countMessage('failed', row);
    if (row?.verdict !== 'sending') return;
    const outcome = await attempt(senders[row.channel], outgoing(key, row), claim.signal);
    if (outcome instanceof DeliveryFault) await notSent(taken, row, outcome);
    else await sent(taken, row, outcome);
  }

  const attempt = (sender: Sender, message: Outgoing, signal: AbortSignal): Promise<Receipt | DeliveryFault> =>
    sender.send(message, clock(), signal).catch((error) => {
      if (error instanceof DeliveryFault) return error;
      logger.error({ err: error, message: message.id }, 'a message could not be made');
      return new DeliveryFault('It could not be made; the log says why.', { permanent: false, cause: error });
    });

  const about = ({ company_id }: JobKey, { id, channel, kind }: BegunRow) => ({
    message: id,
    company: company_id,
    channel,
    kind,
  });

  async function sent(taken: Taken, row: BegunRow, receipt: Receipt): Promise<void> {
    await book.sent(taken, row, receipt);
    outcomes.countMessage('sent', row);
    logger.info(about(taken.key, row), 'message sent');
  }

  async function notSent(taken: Taken, row: BegunRow, fault: DeliveryFault): Promise<void> {
    const deadline = Temporal.Instant.from(row.deadline);
    const { permanent, unsure } = fault;
    const enough = permanent || (unsure && row.doubts + 1 >= MOST_DOUBTS[row.channel]);
    const again = enough
      ? undefined
      : nextAttemptAt(PROVIDER_SCHEDULE, { attempt: row.attempt, now: clock(), deadline }, random);
    const reason = fault.message.slice(0, LONGEST_REASON) + (unsure ? ' It may have gone out.' : '');
    const state = await book.notSent(taken, { reason, again, unsure });
    if (state === 'failed') outcomes.countMessage('failed', row);
    const level = state === 'failed' ? 'error' : 'warn';
    logger[level]({ ...about(taken.key, row), attempt: row.attempt, state, reason }, 'message not sent');
  }

  return CHANNELS.map((channel) => {
    const name = `messages.${channel}`;
    const open = `${OPEN} AND channel = '${channel}'`;
    return {
      name,
      key: KEY,
      statements: queueStatements({ name, tenantTable: 'companies', table: 'messages', key: KEY, open }),
      handle,
    };
  });
}
