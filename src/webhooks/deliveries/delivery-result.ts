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

/** One attempt, as the log of the delivery keeps it. */
export type Attempt = {
  at: string;
  status: number | null;
  error: string | null;
  ms: number;
  answer: string | null;
};

/**
 * What became of an attempt. `gone`: the receiver wants nothing more. `given up`: it was the last one. `pause`: the
 * receiver wants nothing at all before `again`.
 */
export type DeliveryResult =
  | {
      state: 'delivered' | 'failed' | 'dropped' | 'gone' | 'given up';
      tried: Attempt;
      again?: undefined;
      pause?: undefined;
    }
  | { state: 'waiting'; tried: Attempt; again: Instant; pause: boolean };

export type StartedDelivery = { position: string | null; epoch: number };
type RecordResult = (
  key: string[],
  claim: Lease,
  begun: StartedDelivery,
  outcome: DeliveryResult,
) => Promise<string | undefined>;
type LockedEndpoint = { state: string; epoch: number; faltering: boolean };

// Before an event is given up: an endpoint that has taken none for so long is failing as a whole.
const HEALTH_WINDOW = { hours: 12 };

/**
 * Writes down what became of a delivery, and of its endpoint. First the endpoint is held or shared, then the statement
 * that looks for the next of the record is begun: it sees all that was queued.
 */
export function resultRecorder({ db, clock, logger }: { db: Database; clock: Clock; logger: Logger }): RecordResult {
  return (key, claim, begun, outcome) =>
    retryUntilRecorded(
      { signal: claim.signal, logger, what: 'a webhook', mayGiveUp: outcome.state !== 'delivered' },
      () =>
        retryWhileLocked(claim.signal, () =>
          db.transaction((held) => recordResult(held, { key, claim, begun, outcome, now: clock() })),
        ),
    );
}

type FinishedDelivery = { key: string[]; claim: Lease; begun: StartedDelivery; outcome: DeliveryResult; now: Instant };

async function recordResult(held: Executor, settling: FinishedDelivery): Promise<string | undefined> {
  const { key, begun, outcome } = settling;
  const { state, again, pause } = outcome;
  const endpoint = key.slice(0, 2);
  const stops = state === 'gone' || state === 'given up';
  const found = await held.queryFirst<LockedEndpoint>(
    stops ? sql.lockEndpointExclusive : sql.lockEndpointShared,
    endpoint,
  );
  // A ping tells how things are now, and what was dropped was not sent.
  const failed = begun.position === null || state === 'dropped' ? found?.faltering : state !== 'delivered';
  if (found && (pause || failed !== found.faltering)) {
    await held.queryRows(sql.lockEndpointExclusive, endpoint);
    await held.queryRows(sql.recordEndpointHealth, [...endpoint, failed, pause ? toSql(again) : null]);
  }
  // Resumed since it was begun: all that waits is tried at once.
  const anew = found !== undefined && found.epoch > begun.epoch;
  if (!stops) return writeResult(held, settling, state, anew ? undefined : again);
  // It waits for the endpoint that somebody has stopped meanwhile to be resumed.
  if (anew || found?.state !== 'active') return writeResult(held, settling, 'waiting');
  return stopEndpoint(held, settling);
}

async function stopEndpoint(held: Executor, settling: FinishedDelivery): Promise<string | undefined> {
  const { key, outcome, now } = settling;
  const endpoint = key.slice(0, 2);
  const gone = outcome.state === 'gone';
  const since = toSql(now.subtract(HEALTH_WINDOW));
  const single = !gone && (await held.queryFirst(sql.findDeliveredSince, [...endpoint, since])) !== undefined;
  const written = await writeResult(held, settling, single ? 'failed' : 'waiting');
  if (written === undefined) return undefined;
  const about = [...endpoint, toSql(now), WORKER_ORIGIN];
  if (gone) await held.queryRows(disableEndpoint, [...about, 'It answered 410 Gone.']);
  else if (!single)
    await held.queryRows(markFailing, [...about, 'An event was refused for three days, and no other taken.']);
  const kind: AlertKind = gone ? 'gone' : single ? 'delivery_failed' : 'failing';
  await held.queryRows(insertAlert, [...endpoint, newId(), kind, toSql(now)]);
  return written;
}

/** Gives the state that it is in now, or undefined where somebody else has it. */
async function writeResult(
  held: Executor,
  { key, claim, outcome, now }: FinishedDelivery,
  state: string,
  again?: Instant,
) {
  const holder = outcome.state === 'delivered' ? null : claim.id;
  const values = [...key, holder, toSql(now), state, JSON.stringify([outcome.tried]), again ? toSql(again) : null];
  return (await held.queryFirst<{ state: string }>(sql.recordDeliveryResult, values))?.state;
}
