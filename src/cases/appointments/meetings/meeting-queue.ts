import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { nextAttemptAt, PROVIDER_SCHEDULE } from '../../../kernel/jobs/backoff.ts';
import { MAX_REASON_LENGTH } from '../../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { stripNul } from '../../../kernel/sql/inputs.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import { forgetUnusedSecrets } from './accounts/statements.sql.ts';
import * as sql from './meeting-queue.sql.ts';
import { MeetingError, type ProviderMeeting } from './provider.ts';
import { type ReconcileResult, type ReconcileServices, type ReconcileStep, reconcile } from './reconcile.ts';

type MeetingQueueOptions = ReconcileServices & {
  db: Database;
  clock: Clock;
  logger: Logger;
  random?: () => number;
};

const MIN_RETRY_DELAY = { seconds: 1 };
const MAX_ATTEMPTS_AT_OLD_ACCOUNT = 3;

/** The result to record. If `retryAt` is undefined, a step that is still due follows immediately. */
type RecordedResult = ReconcileResult & { error: string | null; retryAt: Instant | undefined };

/**
 * The job queue of meetings. Each job takes one step: start (read everything again, record the intent), send one
 * request to the provider, record the result. The row stays due until the actual state matches the desired one.
 */
export function meetingQueue(options: MeetingQueueOptions): JobQueue {
  const { db, clock, logger, random = Math.random } = options;

  async function handle(jobKey: JobKey, lease: Lease): Promise<void> {
    const key = jobKey as sql.MeetingKey;
    const inputs = { ...keyInputs(key), lease: lease.id, now: toSql(clock()) };
    const step = await db.queryFirst<ReconcileStep>(sql.startReconcile(inputs));
    if (!step) return;
    const result = await reconcile(options, step, key, lease.signal).then(
      (done): RecordedResult => ({ ...done, error: errorAfter(done, step), retryAt: undefined }),
      (error: unknown): RecordedResult => failedResult(step, toMeetingError(error, key)),
    );
    const state = await recordResult(key, lease, step, result);
    if (state === undefined && result.created) await discard(key, step, result.created, lease.signal);
    // A replaced account's secret is kept only as long as a meeting has to be removed with it.
    if (step.step !== 'update') await db.queryRows(forgetUnusedSecrets({ company_id: key.company_id }));
    logResult(key, step, result, state);
  }

  function toMeetingError(error: unknown, key: sql.MeetingKey): MeetingError {
    if (error instanceof MeetingError) return error;
    logger.error({ err: error, ...key }, 'unexpected error while reconciling a meeting');
    return new MeetingError('An unexpected error occurred; see the log.', {
      permanent: false,
      uncertain: true,
      cause: error,
    });
  }

  function failedResult(step: ReconcileStep, failure: MeetingError): RecordedResult {
    const error = failure.message.slice(0, MAX_REASON_LENGTH);
    const { external_id: externalId, join_url: joinUrl, uncertain } = step;
    // The adviser's previous account may be unusable for good, which must not delay the meeting at the new account.
    const abandonOldAccount =
      step.changing_account && (failure.permanent || step.attempt >= MAX_ATTEMPTS_AT_OLD_ACCOUNT);
    if (abandonOldAccount && step.step === 'lookup')
      return { state: 'pending', externalId, joinUrl, uncertain: false, error, retryAt: undefined };
    if (abandonOldAccount && step.step === 'remove')
      return { state: 'pending', externalId: null, joinUrl: null, uncertain, error, retryAt: undefined };
    const retryAt = failure.permanent ? undefined : nextRetry(step, failure);
    return {
      state: retryAt ? 'pending' : 'failed',
      externalId,
      joinUrl,
      uncertain: uncertain || (step.step === 'create' && failure.uncertain),
      error,
      retryAt,
    };
  }

  /** Returns the end of the back-off, or the time the provider asked for; undefined if that is past the deadline. */
  function nextRetry({ attempt, deadline }: ReconcileStep, { retryAfter }: MeetingError): Instant | undefined {
    const now = clock();
    const end = Temporal.Instant.from(deadline);
    if (!retryAfter) return nextAttemptAt(PROVIDER_SCHEDULE, { attempt, now, deadline: end }, random);
    const earliest = now.add(MIN_RETRY_DELAY);
    const retryAt = Temporal.Instant.compare(retryAfter, earliest) < 0 ? earliest : retryAfter;
    return Temporal.Instant.compare(retryAt, end) < 0 ? retryAt : undefined;
  }

  /** Returns the new state of the meeting, or undefined if another worker has claimed it in the meantime. */
  async function recordResult(
    key: sql.MeetingKey,
    lease: Lease,
    step: ReconcileStep,
    { state, externalId, joinUrl, uncertain, error, retryAt }: RecordedResult,
  ): Promise<string | undefined> {
    const newState = await db.transaction(async (transaction) => {
      const recorded = await transaction.queryFirst<{ state: string }>(
        sql.recordResult({
          ...keyInputs(key),
          lease: lease.id,
          generation: step.generation,
          state,
          external_id: stripNul(externalId),
          join_url: stripNul(joinUrl),
          uncertain,
          last_error: stripNul(error),
          retry_at: retryAt && toSql(retryAt),
          now: toSql(clock()),
          origin: WORKER_ORIGIN,
        }),
      );
      if (recorded && ['ready', 'none'].includes(recorded.state)) {
        await transaction.queryRows(sql.releaseConfirmations(keyInputs(key)));
      }
      return recorded?.state;
    });
    notifyWorkers(db);
    return newState;
  }

  /**
   * This worker lost its lease while it created a meeting, and another worker may have created or found one too. Marks
   * the row uncertain so that a lookup removes one of them, or removes the new one if the row uses another account now.
   */
  async function discard(
    key: sql.MeetingKey,
    step: ReconcileStep,
    created: ProviderMeeting,
    signal: AbortSignal,
  ): Promise<void> {
    const inputs = { ...keyInputs(key), account_id: step.video_account_id, now: toSql(clock()) };
    const marked = await db.queryFirst(sql.markUncertain(inputs));
    if (marked) return notifyWorkers(db);
    await reconcile(options, { ...step, step: 'remove', external_id: created.id }, key, signal);
  }

  function logResult(
    key: sql.MeetingKey,
    row: ReconcileStep,
    { error }: RecordedResult,
    state: string | undefined,
  ): void {
    const { provider, step, attempt } = row;
    const fields = { company: key.company_id, appointment: key.appointment_id, provider, step, attempt, state };
    if (error === null) logger.info(fields, 'meeting reconciled');
    else logger[state === 'failed' ? 'error' : 'warn']({ ...fields, reason: error }, 'meeting not reconciled');
  }

  return { name: 'meetings', key: sql.MEETING_KEY, statements: sql.statements, handle };
}

const keyInputs = ({ company_id, case_id, appointment_id }: sql.MeetingKey) => ({
  company_id,
  case_id,
  id: appointment_id,
});

/** While a meeting is pending or after it failed, the last error stays visible: it says why. */
function errorAfter({ state }: ReconcileResult, { last_error }: ReconcileStep): string | null {
  if (state === 'failed') return last_error ?? 'The appointment ended before the meeting could be created.';
  return state === 'pending' ? last_error : null;
}
