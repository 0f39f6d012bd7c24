import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../kernel/jobs/backoff.ts';
import { queueStatements } from '../../../kernel/jobs/job-queue.sql.ts';
import type { JobKey, JobQueue, Lease } from '../../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { stripNul } from '../../../kernel/sql/statement.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import { forgetAccounts } from './accounts/statements.sql.ts';
import * as sql from './meeting-queue.sql.ts';
import { type Made, MeetingFault } from './provider.ts';
import { type Done, type MeetingSteps, type StepRow, takeStep } from './reconcile.ts';

export type MeetingQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  providers: MeetingSteps['providers'];
  secrets: SecretBox;
  random?: () => number;
};

const LONGEST_REASON = 500;
const SOONEST = { seconds: 1 };
const MOST_TRIES_TO_LEAVE = 3;

type Settled = Done & { error: string | null; again: Instant | undefined };

/**
 * Meetings as due work: begin (read again, note the intent), one request to the provider, settle. What a step leaves to
 * be done is the next step's: the row stays due until what is wished and what is there are the same.
 */
export function meetingQueue(options: MeetingQueueOptions): JobQueue {
  const { db, clock, logger, random = Math.random } = options;
  const values = (key: JobKey) => sql.KEY.map((column) => key[column]);

  async function handle(key: JobKey, claim: Lease): Promise<void> {
    const row = await db.queryFirst<StepRow>(sql.beginStep, [...values(key), claim.id, toSql(clock())]);
    if (!row) return;
    let made: Made | undefined;
    const outcome = await takeStep(options, row, key, claim.signal).then(
      (done): Settled => {
        made = done.made;
        return { ...done, error: reasonOf(done, row), again: undefined };
      },
      (error: unknown): Settled => notDone(row, faultOf(error, key)),
    );
    const state = await settle(key, claim, row, outcome);
    if (state === undefined && made) await stray(key, row, made, claim.signal);
    // An account that was kept for what had to be removed with it.
    if (row.step !== 'update') await db.queryRows(forgetAccounts, [key.company_id]);
    report(key, row, outcome, state);
  }

  function faultOf(error: unknown, key: JobKey): MeetingFault {
    if (error instanceof MeetingFault) return error;
    logger.error({ err: error, ...key }, 'a step of a meeting could not be taken');
    return new MeetingFault('It could not be done; the log says why.', {
      permanent: false,
      unsure: true,
      cause: error,
    });
  }

  function notDone(row: StepRow, fault: MeetingFault): Settled {
    const error = fault.message.slice(0, LONGEST_REASON);
    const { external_id: externalId, join_url: joinUrl, doubtful } = row;
    // The account that an adviser has left may be dead: that must not keep the new one waiting.
    const leftBehind = row.moving && (fault.permanent || row.attempt >= MOST_TRIES_TO_LEAVE);
    if (leftBehind && row.step === 'look')
      return { state: 'pending', externalId, joinUrl, doubtful: false, error, again: undefined };
    if (leftBehind && row.step === 'remove')
      return { state: 'pending', externalId: null, joinUrl: null, doubtful, error, again: undefined };
    const again = fault.permanent ? undefined : nextTry(row, fault);
    return {
      state: again ? 'pending' : 'failed',
      externalId,
      joinUrl,
      doubtful: row.step === 'create' ? fault.unsure : doubtful,
      error,
      again,
    };
  }

  /** After a growing pause, or when the provider says; undefined when that is too late. */
  function nextTry({ attempt, deadline }: StepRow, { retryAfter }: MeetingFault): Instant | undefined {
    const now = clock();
    const end = Temporal.Instant.from(deadline);
    if (!retryAfter) return nextAttemptAt(PROVIDER_SCHEDULE, { attempt, now, deadline: end }, random);
    const soonest = now.add(SOONEST);
    const again = Temporal.Instant.compare(retryAfter, soonest) < 0 ? soonest : retryAfter;
    return Temporal.Instant.compare(again, end) < 0 ? again : undefined;
  }

  /** Gives the state it is in now, or undefined where somebody else has the row by now. */
  async function settle(key: JobKey, claim: Lease, row: StepRow, outcome: Settled): Promise<string | undefined> {
    const { state, externalId, joinUrl, doubtful, error, again } = outcome;
    const settled = await db.transaction(async (transaction) => {
      const written = await transaction.queryFirst<{ state: string }>(sql.settleStep, [
        ...values(key),
        claim.id,
        toSql(clock()),
        row.wanted,
        state,
        stripNul(externalId),
        stripNul(joinUrl),
        doubtful,
        stripNul(error),
        again ? toSql(again) : null,
        WORKER_ORIGIN,
      ]);
      if (written && ['ready', 'none'].includes(written.state)) {
        await transaction.queryRows(sql.releaseConfirmations, values(key));
      }
      return written?.state;
    });
    notifyWorkers(db);
    return settled;
  }

  /** Made without a claim: another worker has gone on, and may have made or found one. */
  async function stray(key: JobKey, row: StepRow, made: Made, signal: AbortSignal): Promise<void> {
    const doubted = await db.queryFirst(sql.doubtMeeting, [...values(key), toSql(clock()), row.video_account_id]);
    if (doubted) return notifyWorkers(db);
    await takeStep(options, { ...row, step: 'remove', external_id: made.id }, key, signal);
  }

  function report(key: JobKey, row: StepRow, { error }: Settled, state: string | undefined): void {
    const { provider, step, attempt } = row;
    const about = { company: key.company_id, appointment: key.appointment_id, provider, step, attempt, state };
    if (error === null) logger.info(about, 'meeting step');
    else logger[state === 'failed' ? 'error' : 'warn']({ ...about, reason: error }, 'meeting step not done');
  }

  return {
    name: 'meetings',
    key: sql.KEY,
    statements: queueStatements({ tenantTable: 'companies', table: 'meetings', ...DUE }),
    handle,
  };
}

const DUE = { key: sql.KEY, open: sql.OPEN };

/** On the way to the end the last fault is kept: it tells why the end took long, or why it is none. */
function reasonOf({ state }: Done, { last_error }: StepRow): string | null {
  if (state === 'failed') return last_error ?? 'Its time passed before it could be made.';
  return state === 'pending' ? last_error : null;
}
