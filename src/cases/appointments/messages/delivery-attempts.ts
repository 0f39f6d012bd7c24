import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { newId } from '../../../kernel/ids.ts';
import { batchCalls } from '../../../kernel/jobs/call-batcher.ts';
import type { JobKey, Lease } from '../../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../../kernel/jobs/retry-write.ts';
import { type Statement, stripNul } from '../../../kernel/sql/statement.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import type { Channel, Kind, Outgoing, Receipt } from './message.ts';
import * as sql from './message-queue.sql.ts';

/** What is written down of a message on its way: the intent to send it, and what became of that. */
export type Ledger = {
  /** Undefined where somebody else has the message by now. */
  begin(taken: Taken): Promise<BegunRow | undefined>;
  sent(taken: Taken, row: BegunRow, receipt: Receipt): Promise<void>;
  /** Gives the state that the message has now. */
  notSent(taken: Taken, failure: Failure): Promise<string | undefined>;
};

export type Taken = { key: JobKey; claim: Lease };
export type Failure = { reason: string; again: Instant | undefined; unsure: boolean };
type Gone = { key: JobKey; receipt: Receipt };

export type BegunRow = {
  id: string;
  verdict: 'sending' | 'wait' | 'behind' | 'cancelled' | 'skipped' | 'failed';
  channel: Channel;
  kind: Kind;
  attempt: number;
  /** Of the attempts before, how many may have sent it. */
  doubts: number;
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

export const outgoing = (key: JobKey, row: BegunRow): Outgoing => ({
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

// For a confirmation or a cancellation, while an earlier confirmation is still on its way.
const ASK_AGAIN = { seconds: 5 };

export type LedgerOptions = { db: Database; clock: Clock; logger: Logger; pausesMs?: readonly number[] };

export function ledger({ db, clock, logger, pausesMs }: LedgerOptions): Ledger {
  const beginAll = (statement: Statement, all: Taken[]) => {
    const now = clock();
    const claims = all.map(({ claim }) => claim.id);
    return db.queryRows<BegunRow>(statement, [
      ...columns(all),
      claims,
      toSql(now),
      toSql(now.add(ASK_AGAIN)),
      WORKER_ORIGIN,
    ]);
  };
  const sentAll = (statement: Statement, all: Gone[]) => {
    const to = all.map(({ receipt }) => receipt.to);
    const providerIds = all.map(({ receipt }) => stripNul(receipt.providerId));
    return db.queryRows<{ id: string }>(statement, [...columns(all), to, providerIds, toSql(clock()), WORKER_ORIGIN]);
  };
  const begin = batchCalls<Taken, BegunRow | undefined>(
    async (all) => inOrder(all, await beginAll(sql.beginMessages, all)),
    async (one) => (await beginAll(sql.beginMessage, [one]))[0],
  );
  const sent = batchCalls<Gone, unknown>(
    async (all) => inOrder(all, await sentAll(sql.messagesSent, all)),
    (one) => sentAll(sql.messageSent, [one]),
  );
  const confirmationSent = ({ key, receipt }: Gone) =>
    db.queryRows(sql.confirmationSent, [
      ...values(key),
      receipt.to,
      stripNul(receipt.providerId),
      toSql(clock()),
      newId(),
      WORKER_ORIGIN,
    ]);

  const insisting = { logger, subject: 'message result', delaysMs: pausesMs };

  return {
    begin,
    async sent({ key, claim }, { channel, kind }, receipt) {
      const invited = channel === 'email' && kind === 'confirmation';
      // Whatever the database says: given up, it would be sent again.
      const write = () => (invited ? confirmationSent : sent)({ key, receipt });
      await retryUntilRecorded({ ...insisting, signal: claim.signal, giveUpOnError: false }, write);
    },
    async notSent({ key, claim }, { reason, again, unsure }) {
      const outcome = [stripNul(reason), again ? toSql(again) : null, Number(unsure), WORKER_ORIGIN];
      // Asked for anew each time: the lease may have run out, and been taken again, while the database was away.
      const parameters = () => [...values(key), claim.id, toSql(clock()), ...outcome];
      const write = () => db.queryFirst<{ state: string }>(sql.messageNotSent, parameters());
      return (await retryUntilRecorded({ ...insisting, signal: claim.signal, giveUpOnError: true }, write))?.state;
    },
  };
}

const values = (key: JobKey) => sql.KEY.map((column) => key[column]);
const columns = (all: { key: JobKey }[]) => sql.KEY.map((column) => all.map(({ key }) => key[column]));

function inOrder<Row extends { id: string }>(all: { key: JobKey }[], rows: Row[]): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return all.map(({ key }) => byId.get(key.id as string));
}
