import type { Logger } from 'pino';
import { WORKER_ORIGIN } from '../../kernel/audit/audit-log.ts';
import type { Database, Executor } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import type { Lease } from '../../kernel/jobs/job-queue.ts';
import { retryUntilRecorded } from '../../kernel/jobs/retry-write.ts';
import { type Clock, type Instant, toSql } from '../../kernel/time/time.ts';
import { type AlertKind, insertAlert } from '../endpoints/alerts.sql.ts';
import { disableEndpoint, markFailing } from '../endpoints/statements.sql.ts';
import * as sql from './delivery-queue.sql.ts';
import { retryWhileLocked } from './retry-on-lock.ts';

/** One attempt, as the delivery's `tries` store it. */
export type Attempt = {
  at: string;
  status: number | null;
  error: string | null;
  ms: number;
  answer: string | null;
};

/**
 * The result of an attempt. `gone`: the receiver answered 410. `abandoned`: this was the last attempt.
 * `pausesEndpoint`: the receiver accepts no events at all before `retryAt`.
 */
export type DeliveryResult =
  | {
      state: 'delivered' | 'failed' | 'dropped' | 'gone' | 'abandoned';
      attempt: Attempt;
      retryAt?: undefined;
      pausesEndpoint?: undefined;
    }
  | { state: 'waiting'; attempt: Attempt; retryAt: Instant; pausesEndpoint: boolean };

/** The delivery when its attempt began. A ping has no position. */
export type StartedDelivery = { position: string | null; epoch: number };

export type DeliveryKey = Record<(typeof sql.KEY)[number], string>;

type RecordResult = (
  key: DeliveryKey,
  lease: Lease,
  started: StartedDelivery,
  result: DeliveryResult,
) => Promise<string | undefined>;
type LockedEndpoint = { state: string; epoch: number; unhealthy: boolean };

// When an event is abandoned, an endpoint that accepted no other event in this time is failing as a whole.
const HEALTH_WINDOW = { hours: 12 };

/** Returns a function that records the result of an attempt, and what it means for the endpoint. */
export function resultRecorder({ db, clock, logger }: { db: Database; clock: Clock; logger: Logger }): RecordResult {
  return (key, lease, started, result) =>
    retryUntilRecorded(
      { signal: lease.signal, logger, subject: 'webhook result', giveUpOnError: result.state !== 'delivered' },
      () =>
        retryWhileLocked(lease.signal, () =>
          db.transaction((tx) => recordResult(tx, { key, lease, started, result, now: clock() })),
        ),
    );
}

type FinishedDelivery = {
  key: DeliveryKey;
  lease: Lease;
  started: StartedDelivery;
  result: DeliveryResult;
  now: Instant;
};

/**
 * Locks the endpoint row first (exclusive or shared), so the statement that finds the record's next delivery sees
 * everything that was queued. Returns the new state, or undefined if another worker has the delivery.
 */
async function recordResult(tx: Executor, delivery: FinishedDelivery): Promise<string | undefined> {
  const { key, started, result } = delivery;
  const { state, retryAt, pausesEndpoint } = result;
  const endpointKey = { company_id: key.company_id, endpoint_id: key.endpoint_id };
  const mayStopEndpoint = state === 'gone' || state === 'abandoned';
  const lock = mayStopEndpoint ? sql.lockEndpointExclusive : sql.lockEndpointShared;
  const endpoint = await tx.queryFirst<LockedEndpoint>(lock(endpointKey));
  // Pings and dropped deliveries do not change the endpoint's health.
  const keepsHealth = started.position === null || state === 'dropped';
  const unhealthy = keepsHealth ? endpoint?.unhealthy : state !== 'delivered';
  if (endpoint && unhealthy !== undefined && (pausesEndpoint || unhealthy !== endpoint.unhealthy)) {
    await tx.queryRows(sql.lockEndpointExclusive(endpointKey));
    const pausedUntil = pausesEndpoint ? toSql(retryAt) : null;
    await tx.queryRows(sql.recordEndpointHealth({ ...endpointKey, unhealthy, paused_until: pausedUntil }));
  }
  // After a resumption every waiting delivery is due immediately, with its attempts counted from zero.
  const resumed = endpoint !== undefined && endpoint.epoch > started.epoch;
  if (!mayStopEndpoint) return writeResult(tx, delivery, state, resumed ? undefined : retryAt);
  // The endpoint was resumed or stopped during the attempt, so the delivery waits for it.
  if (resumed || endpoint?.state !== 'active') return writeResult(tx, delivery, 'waiting');
  return stopEndpoint(tx, delivery);
}

/** Stops the endpoint and alerts the company. If the endpoint accepts other events, only the delivery has failed. */
async function stopEndpoint(tx: Executor, delivery: FinishedDelivery): Promise<string | undefined> {
  const { key, result, now } = delivery;
  const { company_id, endpoint_id } = key;
  const gone = result.state === 'gone';
  const since = toSql(now.subtract(HEALTH_WINDOW));
  const isHealthy =
    !gone && (await tx.queryFirst(sql.findDeliveredSince({ company_id, endpoint_id, since }))) !== undefined;
  const written = await writeResult(tx, delivery, isHealthy ? 'failed' : 'waiting');
  if (written === undefined) return undefined;
  const change = { company_id, id: endpoint_id, now: toSql(now), origin: WORKER_ORIGIN };
  if (gone) await tx.queryRows(disableEndpoint({ ...change, reason: 'The endpoint answered 410 Gone.' }));
  else if (!isHealthy) await tx.queryRows(markFailing({ ...change, reason: FAILING_REASON }));
  const kind: AlertKind = gone ? 'gone' : isHealthy ? 'delivery_failed' : 'failing';
  await tx.queryRows(insertAlert({ company_id, endpoint_id, id: newId(), kind, now: toSql(now) }));
  return written;
}

const FAILING_REASON = 'The endpoint rejected an event for three days and accepted no other in the last twelve hours.';

/** Returns the new state, or undefined if the lease was lost. A success is recorded even then. */
async function writeResult(
  tx: Executor,
  { key, lease, result, now }: FinishedDelivery,
  state: string,
  retryAt?: Instant,
) {
  const row = await tx.queryFirst<{ state: string }>(
    sql.recordDeliveryResult({
      ...key,
      lease: result.state === 'delivered' ? null : lease.id,
      now: toSql(now),
      state,
      tries: JSON.stringify([result.attempt]),
      retry_at: retryAt && toSql(retryAt),
    }),
  );
  return row?.state;
}
