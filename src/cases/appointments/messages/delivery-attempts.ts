import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { newId } from '../../../kernel/ids.ts';
import { batchCalls } from '../../../kernel/jobs/call-batcher.ts';
import type { JobKey, Lease } from '../../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../../kernel/jobs/retry-write.ts';
import { type Statement, stripNul } from '../../../kernel/sql/statement.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import type { Channel, Kind, OutgoingMessage, Receipt } from './message.ts';
import * as sql from './message-queue.sql.ts';
import { MESSAGE_KEY } from './statements.sql.ts';

/** Records the attempts to send a message: the intent before the attempt, and its result afterwards. */
export type DeliveryAttempts = {
  /** Returns undefined if another worker has claimed the message in the meantime. */
  start(message: ClaimedMessage): Promise<StartedMessage | undefined>;
  recordSent(message: ClaimedMessage, started: StartedMessage, receipt: Receipt): Promise<void>;
  /** Returns the new state of the message, or undefined if another worker has claimed it in the meantime. */
  recordFailure(message: ClaimedMessage, failure: DeliveryFailure): Promise<string | undefined>;
};

export type ClaimedMessage = { key: JobKey; lease: Lease };
/** `retryAt` is undefined if there is no further attempt. */
export type DeliveryFailure = { reason: string; retryAt: Instant | undefined; uncertain: boolean };
type SentMessage = { key: JobKey; receipt: Receipt };

export type StartedMessage = {
  id: string;
  decision: 'sending' | 'wait' | 'behind' | 'cancelled' | 'skipped' | 'failed';
  channel: Channel;
  kind: Kind;
  attempt: number;
  /** The number of earlier attempts that may have sent the message. */
  uncertain_attempts: number;
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

export const toOutgoingMessage = (key: JobKey, row: StartedMessage): OutgoingMessage => ({
  id: row.id,
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

/** How long a message waits before it checks again whether an earlier confirmation is still being sent. */
const BEHIND_DELAY = { seconds: 5 };

export type DeliveryAttemptsOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  recordDelaysMs?: readonly number[];
};

export function deliveryAttempts({ db, clock, logger, recordDelaysMs }: DeliveryAttemptsOptions): DeliveryAttempts {
  const startAll = (statement: Statement, messages: ClaimedMessage[]) => {
    const now = clock();
    const leases = messages.map(({ lease }) => lease.id);
    return db.queryRows<StartedMessage>(statement, [
      ...keyColumns(messages),
      leases,
      toSql(now),
      toSql(now.add(BEHIND_DELAY)),
      WORKER_ORIGIN,
    ]);
  };
  const recordAllSent = (statement: Statement, messages: SentMessage[]) => {
    const to = messages.map(({ receipt }) => receipt.to);
    const providerIds = messages.map(({ receipt }) => stripNul(receipt.providerId));
    const values = [...keyColumns(messages), to, providerIds, toSql(clock()), WORKER_ORIGIN];
    return db.queryRows<{ id: string }>(statement, values);
  };
  const recordSent = batchCalls<SentMessage, unknown>(
    async (messages) => inOrderOf(messages, await recordAllSent(sql.recordMessagesSent, messages)),
    (message) => recordAllSent(sql.recordMessageSent, [message]),
  );
  const recordConfirmationSent = ({ key, receipt }: SentMessage) =>
    db.queryRows(sql.recordConfirmationSent, [
      ...keyValues(key),
      receipt.to,
      stripNul(receipt.providerId),
      toSql(clock()),
      newId(),
      WORKER_ORIGIN,
    ]);

  const recording = { logger, subject: 'message result', delaysMs: recordDelaysMs };

  return {
    start: batchCalls<ClaimedMessage, StartedMessage | undefined>(
      async (messages) => inOrderOf(messages, await startAll(sql.startMessages, messages)),
      async (message) => (await startAll(sql.startMessage, [message]))[0],
    ),
    async recordSent({ key, lease }, { channel, kind }, receipt) {
      const putInCalendar = channel === 'email' && kind === 'confirmation';
      const write = () => (putInCalendar ? recordConfirmationSent : recordSent)({ key, receipt });
      // Never gives up, whatever the database answers: an unrecorded message would be sent again.
      await retryUntilRecorded({ ...recording, signal: lease.signal, giveUpOnError: false }, write);
    },
    async recordFailure({ key, lease }, { reason, retryAt, uncertain }) {
      const result = [stripNul(reason), retryAt ? toSql(retryAt) : null, Number(uncertain), WORKER_ORIGIN];
      const write = () => {
        // Built for each try: while the database was down the lease may have expired and been renewed under a new id.
        const values = [...keyValues(key), lease.id, toSql(clock()), ...result];
        return db.queryFirst<{ state: string }>(sql.recordMessageFailure, values);
      };
      return (await retryUntilRecorded({ ...recording, signal: lease.signal, giveUpOnError: true }, write))?.state;
    },
  };
}

const keyValues = (key: JobKey) => MESSAGE_KEY.map((column) => key[column]);
const keyColumns = (messages: { key: JobKey }[]) => MESSAGE_KEY.map((column) => messages.map(({ key }) => key[column]));

function inOrderOf<Row extends { id: string }>(messages: { key: JobKey }[], rows: Row[]): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return messages.map(({ key }) => byId.get(key.id as string));
}
