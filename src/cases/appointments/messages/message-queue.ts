import type { Logger } from 'pino';
import type { Database } from '../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../kernel/jobs/backoff.ts';
import type { DeliveryCounters } from '../../../kernel/jobs/delivery-counters.ts';
import { MAX_REASON_LENGTH } from '../../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../../kernel/jobs/job-queue.ts';
import type { Clock } from '../../../kernel/time/time.ts';
import { type ClaimedMessage, deliveryAttempts, type StartedMessage, toOutgoingMessage } from './delivery-attempts.ts';
import { CHANNELS, type Channel, DeliveryError, type OutgoingMessage, type Receipt, type Sender } from './message.ts';
import { MESSAGE_KEY, type MessageKey, statements } from './message-queue.sql.ts';

type MessageQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  senders: Record<Channel, Sender>;
  counters: DeliveryCounters;
  /** Sender address of companies without one of their own. */
  mailFrom: string;
  random?: () => number;
  /** Delays between attempts to record a result in the database. */
  recordDelaysMs?: readonly number[];
};

/** Mail systems recognise a second copy by its Message-ID; phones cannot recognise a second SMS. */
const MAX_UNCERTAIN_ATTEMPTS: Record<Channel, number> = { email: 2, sms: 1 };

/**
 * The job queues of messages: start an attempt (read everything again, record the intent), send, record the result. No
 * statement waits for the network. Each channel has its own queue, so a server that hangs only blocks slots of its own
 * channel.
 */
export function messageQueues(options: MessageQueueOptions): JobQueue[] {
  const { clock, logger, senders, counters, random = Math.random } = options;
  const attempts = deliveryAttempts(options);

  async function handle(jobKey: JobKey, lease: Lease): Promise<void> {
    const key = jobKey as MessageKey;
    const claimed = { key, lease };
    const started = await attempts.start(claimed);
    if (started?.decision === 'failed') counters.countMessage('failed', started);
    if (started?.decision !== 'sending') return;
    const result = await send(senders[started.channel], toOutgoingMessage(key, started), lease.signal);
    if (result instanceof DeliveryError) await recordFailure(claimed, started, result);
    else await recordSent(claimed, started, result);
  }

  const send = (sender: Sender, message: OutgoingMessage, signal: AbortSignal): Promise<Receipt | DeliveryError> =>
    sender.send(message, clock(), signal).catch((error) => {
      if (error instanceof DeliveryError) return error;
      logger.error({ err: error, message: message.id }, 'failed to compose message');
      return new DeliveryError('The message could not be composed; see the log.', { permanent: false, cause: error });
    });

  const logFields = ({ company_id }: MessageKey, { id, channel, kind }: StartedMessage) => ({
    message: id,
    company: company_id,
    channel,
    kind,
  });

  async function recordSent(claimed: ClaimedMessage, started: StartedMessage, receipt: Receipt): Promise<void> {
    await attempts.recordSent(claimed, receipt);
    counters.countMessage('sent', started);
    logger.info(logFields(claimed.key, started), 'message sent');
  }

  async function recordFailure(claimed: ClaimedMessage, started: StartedMessage, error: DeliveryError): Promise<void> {
    const deadline = Temporal.Instant.from(started.deadline);
    const { permanent, uncertain } = error;
    const giveUp =
      permanent || (uncertain && started.uncertain_attempts + 1 >= MAX_UNCERTAIN_ATTEMPTS[started.channel]);
    const failed = { attempt: started.attempt, now: clock(), deadline };
    const retryAt = giveUp ? undefined : nextAttemptAt(PROVIDER_SCHEDULE, failed, random);
    const reason = error.message.slice(0, MAX_REASON_LENGTH) + (uncertain ? ' It may have gone out.' : '');
    const state = await attempts.recordFailure(claimed, { reason, retryAt, uncertain });
    if (state === 'failed') counters.countMessage('failed', started);
    const level = state === 'failed' ? 'error' : 'warn';
    logger[level]({ ...logFields(claimed.key, started), attempt: started.attempt, state, reason }, 'message not sent');
  }

  return CHANNELS.map((channel) => ({
    name: `messages.${channel}`,
    key: MESSAGE_KEY,
    statements: statements[channel],
    handle,
  }));
}
