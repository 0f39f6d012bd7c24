import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { newId } from '../../../kernel/ids.ts';
import { batchCalls } from '../../../kernel/jobs/call-batcher.ts';
import type { Lease } from '../../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../../kernel/jobs/retry-write.ts';
import { stripNul } from '../../../kernel/sql/inputs.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import type { Channel, Customer, Kind, OutgoingMessage, OwnTexts, Receipt } from './message.ts';
import type { MessageKey } from './message-queue.sql.ts';
import * as sql from './message-queue.sql.ts';

/** Records the attempts to send a message: the intent before the attempt, and its result afterwards. */
type DeliveryAttempts = {
  /** Returns undefined if another worker has claimed the message in the meantime. */
  start(message: ClaimedMessage): Promise<StartedMessage | undefined>;
  recordSent(message: ClaimedMessage, receipt: Receipt): Promise<void>;
  /** Returns the new state of the message, or undefined if another worker has claimed it in the meantime. */
  recordFailure(message: ClaimedMessage, failure: DeliveryFailure): Promise<string | undefined>;
};

export type ClaimedMessage = { key: MessageKey; lease: Lease };
/** `retryAt` is undefined if there is no further attempt. */
type DeliveryFailure = { reason: string; retryAt: Instant | undefined; uncertain: boolean };
type SentMessage = { key: MessageKey; receipt: Receipt };

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
  /** What the recipient was told before; null if the recipient does not know of the appointment. */
  earlier_start: string | null;
  earlier_end: string | null;
  earlier_location: string | null;
  version: number;
  recipient: string;
  organizer_name: string | null;
  organizer_address: string | null;
  company: string;
  time_zone: string;
  phone_region: string;
  sender_name: string | null;
  sender_address: string | null;
  client_contact_email: string | null;
  client_contact_phone: string | null;
  contact_line: string | null;
  message_signature: string | null;
  adviser: string;
  customer: Customer | null;
  own_texts: Partial<Record<Kind | 'change', OwnTexts>> | null;
};

export const toOutgoingMessage = (key: MessageKey, row: StartedMessage): OutgoingMessage => ({
  id: row.id,
  appointmentId: key.appointment_id,
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
  earlier: row.earlier_start === null ? null : earlierOf(row, row.earlier_start),
  organizer:
    row.organizer_name !== null && row.organizer_address !== null
      ? { name: row.organizer_name, address: row.organizer_address }
      : null,
  contact: { email: row.client_contact_email, phone: row.client_contact_phone, line: row.contact_line },
  signature: row.message_signature,
  ownTexts: row.own_texts,
});

const earlierOf = (row: StartedMessage, start: string): OutgoingMessage['earlier'] => ({
  start: Temporal.Instant.from(start),
  end: row.earlier_end === null ? null : Temporal.Instant.from(row.earlier_end),
  location: row.earlier_location,
});

/** How long a message waits before it checks again whether an earlier confirmation is still being sent. */
const BEHIND_DELAY = { seconds: 5 };

type DeliveryAttemptsOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Sender address of companies without one of their own. */
  mailFrom: string;
  recordDelaysMs?: readonly number[];
};

export function deliveryAttempts({
  db,
  clock,
  logger,
  mailFrom,
  recordDelaysMs,
}: DeliveryAttemptsOptions): DeliveryAttempts {
  const startInputs = () => {
    const now = clock();
    return { mail_from: mailFrom, now: toSql(now), behind_until: toSql(now.add(BEHIND_DELAY)), origin: WORKER_ORIGIN };
  };
  const startAll = (messages: ClaimedMessage[]) => {
    const leases = messages.map(({ lease }) => lease.id);
    return db.queryRows<StartedMessage>(sql.startMessages({ ...keyArrays(messages), leases, ...startInputs() }));
  };
  const startOne = ({ key, lease }: ClaimedMessage) =>
    db.queryFirst<StartedMessage>(sql.startMessage({ ...keyInputs(key), lease: lease.id, ...startInputs() }));

  const sentInputs = ({ key, receipt }: SentMessage) => ({
    ...keyInputs(key),
    sent_to: receipt.to,
    provider_id: stripNul(receipt.providerId),
    cancellation_id: newId(),
    now: toSql(clock()),
    origin: WORKER_ORIGIN,
  });
  const recordAllSent = (messages: SentMessage[]) =>
    db.queryRows<{ id: string }>(
      sql.recordMessagesSent({
        ...keyArrays(messages),
        sent_to: messages.map(({ receipt }) => receipt.to),
        provider_ids: messages.map(({ receipt }) => stripNul(receipt.providerId)),
        cancellation_ids: messages.map(() => newId()),
        now: toSql(clock()),
        origin: WORKER_ORIGIN,
      }),
    );
  const recordSent = batchCalls<SentMessage, unknown>(
    async (messages) => inOrderOf(messages, await recordAllSent(messages)),
    (message) => db.queryRows(sql.recordMessageSent(sentInputs(message))),
  );

  const recording = { logger, subject: 'message result', delaysMs: recordDelaysMs };

  return {
    start: batchCalls<ClaimedMessage, StartedMessage | undefined>(
      async (messages) => inOrderOf(messages, await startAll(messages)),
      startOne,
    ),
    async recordSent({ key, lease }, receipt) {
      // Never gives up, whatever the database answers: an unrecorded message would be sent again.
      const options = { ...recording, signal: lease.signal, giveUpOnError: false };
      await retryUntilRecorded(options, () => recordSent({ key, receipt }));
    },
    async recordFailure({ key, lease }, { reason, retryAt, uncertain }) {
      const result = {
        last_error: stripNul(reason),
        retry_at: retryAt && toSql(retryAt),
        uncertain_attempts: Number(uncertain),
      };
      // Built for each try: while the database was down the lease may have expired and been renewed under a new id.
      const inputs = () => ({
        ...keyInputs(key),
        lease: lease.id,
        ...result,
        now: toSql(clock()),
        origin: WORKER_ORIGIN,
      });
      const write = () => db.queryFirst<{ state: string }>(sql.recordMessageFailure(inputs()));
      return (await retryUntilRecorded({ ...recording, signal: lease.signal, giveUpOnError: true }, write))?.state;
    },
  };
}

const keyInputs = ({ company_id, case_id, appointment_id, id }: MessageKey) => ({
  company_id,
  case_id,
  id: appointment_id,
  message_id: id,
});
const keyArrays = (messages: { key: MessageKey }[]) => ({
  company_ids: messages.map(({ key }) => key.company_id),
  case_ids: messages.map(({ key }) => key.case_id),
  appointment_ids: messages.map(({ key }) => key.appointment_id),
  message_ids: messages.map(({ key }) => key.id),
});

function inOrderOf<Row extends { id: string }>(messages: { key: MessageKey }[], rows: Row[]): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return messages.map(({ key }) => byId.get(key.id));
}
