import type { Logger } from 'pino';
import { eventStatements } from '../../events/statements.sql.ts';
import { eventJson } from '../../events/verbs.ts';
import type { AuditLog } from '../../kernel/audit/audit-log.ts';
import type { Database } from '../../kernel/database/database.ts';
import { nextAttemptAt, retryAfterSeconds } from '../../kernel/jobs/backoff.ts';
import type { DeliveryCounters } from '../../kernel/jobs/delivery-counters.ts';
import { MAX_REASON_LENGTH } from '../../kernel/jobs/failure-reason.ts';
import type { JobKey, JobQueue, Lease } from '../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { stripNul } from '../../kernel/sql/inputs.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { secretOwner, signatureHeader } from '../endpoints/secrets.ts';
import { type PostOptions, post } from '../outbound/http-post.ts';
import { NoResponseError } from '../outbound/public-connect.ts';
import * as sql from './delivery-queue.sql.ts';
import {
  type Attempt,
  type DeliveryKey,
  type DeliveryResult,
  resultRecorder,
  type StartedDelivery,
} from './delivery-result.ts';
import { DELIVERY_SCHEDULE, deliveryDeadline } from './delivery-schedule.ts';
import { retryWhileLocked } from './retry-on-lock.ts';
import { deliveryEventId } from './verbs.ts';

export type DeliveryQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  counters: DeliveryCounters;
  secrets: SecretBox;
  auditLogs: readonly AuditLog[];
  outbound: PostOptions;
  random?: () => number;
};

type StartedDeliveryRow = StartedDelivery & {
  id: string;
  event_type: string;
  attempt_number: number;
  first_attempt_at: string;
  created_at: string;
  url: string;
  event_key: Buffer;
  sealed_secret: string | null;
  sealed_previous_secret: string | null;
};

const MAX_ANSWER_CHARACTERS = 1_000;
const STATUS_GONE = 410;
const STATUSES_WITH_RETRY_AFTER = [429, 503];

/** Sends deliveries: start the attempt, post, record the result. No transaction is open during the request. */
export function deliveryQueue(options: DeliveryQueueOptions): JobQueue {
  const { db, clock, logger, counters, secrets, outbound, random = Math.random } = options;
  const { one: findEvent } = eventStatements(options.auditLogs);
  const recordResult = resultRecorder({ db, clock, logger });

  async function handle(jobKey: JobKey, lease: Lease): Promise<void> {
    const key = jobKey as DeliveryKey;
    const row = await retryWhileLocked(lease.signal, () =>
      db.queryFirst<StartedDeliveryRow>(sql.startDelivery({ ...key, lease: lease.id, now: toSql(clock()) })),
    );
    if (!row) return;
    const body = await loadBody(key, row);
    const result: DeliveryResult =
      body === undefined
        ? { state: 'dropped', attempt: { ...NO_RESPONSE, at: toSql(clock()), error: 'The event is no longer stored.' } }
        : await send(key, row, body, lease.signal);
    const state = await recordResult(key, lease, row, result);
    // The record's next delivery, or one that waited for a free slot of the endpoint, may be due now.
    notifyWorkers(db);
    logResult(key, row, result, state);
  }

  /** Returns the event exactly as GET /events shows it, or undefined if its retention is over. */
  async function loadBody(
    key: DeliveryKey,
    { id, position, created_at, event_key }: StartedDeliveryRow,
  ): Promise<string | undefined> {
    if (position === null) return JSON.stringify({ id, type: 'ping', at: created_at, endpoint_id: key.endpoint_id });
    const event = await db.queryFirst<{ json: string }>(findEvent({ company_id: key.company_id, position }));
    return event && eventJson(event_key, position, event.json);
  }

  async function send(
    key: DeliveryKey,
    row: StartedDeliveryRow,
    body: string,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const at = toSql(clock());
    const startedAt = performance.now();
    const attempt = (outcome: Partial<Attempt>): Attempt => ({
      ...NO_RESPONSE,
      at,
      ms: Math.round(performance.now() - startedAt),
      ...outcome,
    });
    try {
      const request = { headers: signedHeaders(key, row, body), body };
      const { status, retryAfter, text } = await post(new URL(row.url), request, outbound, signal);
      const answered = attempt({ status, answer: stripNul([...text].slice(0, MAX_ANSWER_CHARACTERS).join('')) });
      if (status >= 200 && status < 300) return { state: 'delivered', attempt: answered };
      return failedResult(row, answered, STATUSES_WITH_RETRY_AFTER.includes(status) ? retryAfter : undefined);
    } catch (error) {
      // The worker is stopping and the response is unknown. The lease expires, and another worker repeats the attempt.
      signal.throwIfAborted();
      if (!(error instanceof NoResponseError)) throw error;
      return failedResult(row, attempt({ error: stripNul(error.message.slice(0, MAX_REASON_LENGTH)) }), undefined);
    }
  }

  function signedHeaders(key: DeliveryKey, row: StartedDeliveryRow, body: string): Record<string, string> {
    const owner = secretOwner(key.company_id, key.endpoint_id);
    const sealed = [row.sealed_secret, row.sealed_previous_secret].filter((secret) => secret !== null);
    const opened = sealed.map((secret) => secrets.open(secret, owner)).filter((secret) => secret !== undefined);
    if (opened.length === 0) throw new NoResponseError(UNDECRYPTABLE_SECRET);
    return {
      'content-type': 'application/json',
      'user-agent': 'case-records',
      'webhook-id': deliveryEventId(row.event_key, row),
      'webhook-signature': signatureHeader(opened, Math.floor(clock().epochMilliseconds / 1000), body),
    };
  }

  function failedResult(
    { position, attempt_number: attemptNumber, first_attempt_at }: StartedDeliveryRow,
    attempt: Attempt,
    retryAfter: string | undefined,
  ): DeliveryResult {
    // A ping tests the endpoint as it is now, so it is not retried.
    if (position === null) return { state: 'failed', attempt };
    if (attempt.status === STATUS_GONE) return { state: 'gone', attempt };
    const now = clock();
    const requestedSeconds = retryAfterSeconds(retryAfter, now);
    const deadline = deliveryDeadline(Temporal.Instant.from(first_attempt_at));
    const failed = { attempt: attemptNumber, now, deadline, requestedSeconds };
    const retryAt = nextAttemptAt(DELIVERY_SCHEDULE, failed, random);
    return retryAt
      ? { state: 'waiting', attempt, retryAt, pausesEndpoint: requestedSeconds !== undefined }
      : { state: 'abandoned', attempt };
  }

  function logResult(
    key: DeliveryKey,
    row: StartedDeliveryRow,
    { attempt }: DeliveryResult,
    state: string | undefined,
  ): void {
    const { status, error, ms } = attempt;
    const delivery = { company: key.company_id, endpoint: key.endpoint_id, delivery: row.id, type: row.event_type };
    const fields = { ...delivery, attempt: row.attempt_number, state, status, reason: error, ms };
    if (state === 'delivered') logger.info(fields, 'webhook delivered');
    else logger[state === 'failed' ? 'error' : 'warn'](fields, 'webhook not delivered');
    if (state === 'delivered' || state === 'failed') counters.countWebhook(state);
  }

  return { name: 'webhook_deliveries', key: sql.KEY, statements: sql.statements, handle };
}

const NO_RESPONSE: Omit<Attempt, 'at'> = { status: null, error: null, ms: 0, answer: null };
const UNDECRYPTABLE_SECRET =
  'The signing secret cannot be decrypted: SECRETS_KEY has changed. ' +
  'Restore the old key as a second one, or rotate the secret.';
