import type { Logger } from 'pino';
import { type EventStatements, eventStatements } from '../../events/statements.sql.ts';
import { eventJson } from '../../events/verbs.ts';
import type { AuditLog } from '../../kernel/audit/audit-log.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { DeliveryCounters } from '../../kernel/jobs/delivery-counters.ts';
import { leaseStatements } from '../../kernel/jobs/job-queue.sql.ts';
import type { JobKey, JobQueue, Lease } from '../../kernel/jobs/job-queue.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { stripNul } from '../../kernel/sql/statement.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { secretOwner, signatureHeader } from '../endpoints/secrets.ts';
import { type PostTimeouts, post } from '../outbound/http-post.ts';
import { NoResponseError, type OutboundPolicy } from '../outbound/public-connect.ts';
import * as sql from './delivery-queue.sql.ts';
import { type Attempt, type DeliveryResult, resultRecorder, type StartedDelivery } from './delivery-result.ts';
import { retryWhileLocked } from './retry-on-lock.ts';
import { nextAttemptAt, retryAfterSeconds } from './retry-times.ts';
import { deliveryEventId } from './verbs.ts';

export type DeliveryQueueOptions = {
  db: Database;
  clock: Clock;
  logger: Logger;
  counters: DeliveryCounters;
  secrets: SecretBox;
  auditLogs: readonly AuditLog[];
  outbound: OutboundPolicy & { timeouts?: PostTimeouts };
  random?: () => number;
};

type StartedDeliveryRow = StartedDelivery & {
  id: string;
  event_type: string;
  attempt: number;
  first: string;
  created: string;
  url: string;
  event_key: Buffer;
  sealed_secret: string | null;
  sealed_previous_secret: string | null;
};

const MAX_ANSWER_CHARACTERS = 1_000;
const LONGEST_REASON = 500;
const STATUS_GONE = 410;
const STATUSES_WITH_RETRY_AFTER = [429, 503];

/** Deliveries as due work: begin (read again), post, settle. The network is in none of the statements. */
export function deliveryQueue(options: DeliveryQueueOptions): JobQueue {
  const { db, clock, logger, counters: outcomes, secrets, outbound: reach, random = Math.random } = options;
  const { one }: EventStatements = eventStatements(options.auditLogs);
  const settle = resultRecorder({ db, clock, logger });

  async function handle(key: JobKey, claim: Lease): Promise<void> {
    const values = sql.KEY.map((column) => key[column]);
    const row = await retryWhileLocked(claim.signal, () =>
      db.queryFirst<StartedDeliveryRow>(sql.startDelivery, [...values, claim.id, toSql(clock())]),
    );
    if (!row) return;
    const body = await loadBody(key, row);
    const outcome: DeliveryResult =
      body === undefined
        ? { state: 'dropped', tried: { ...NO_RESPONSE, at: toSql(clock()), error: 'The event has been forgotten.' } }
        : await attempt(key, row, body, claim.signal);
    const state = await settle(values as string[], claim, row, outcome);
    // What has waited for this one, or for room, is taken at once.
    notifyWorkers(db);
    logResult(key, row, outcome, state);
  }

  /** Exactly what GET /events shows; undefined where the event is not kept any more. */
  async function loadBody(
    key: JobKey,
    { id, position, created, event_key }: StartedDeliveryRow,
  ): Promise<string | undefined> {
    if (position === null) return JSON.stringify({ id, type: 'ping', at: created, endpoint_id: key.endpoint_id });
    const event = await db.queryFirst<{ json: string }>(one, [key.company_id, position]);
    return event && eventJson(event_key, position, event.json);
  }

  async function attempt(
    key: JobKey,
    row: StartedDeliveryRow,
    body: string,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const at = toSql(clock());
    const began = performance.now();
    const tried = (about: Partial<Attempt>): Attempt => ({
      ...NO_RESPONSE,
      at,
      ms: Math.round(performance.now() - began),
      ...about,
    });
    try {
      const sent = { headers: signedHeaders(key, row, body), body };
      const { status, retryAfter, text } = await post(new URL(row.url), sent, reach, signal);
      const answered = tried({ status, answer: stripNul([...text].slice(0, MAX_ANSWER_CHARACTERS).join('')) });
      if (status >= 200 && status < 300) return { state: 'delivered', tried: answered };
      return failedResult(row, answered, STATUSES_WITH_RETRY_AFTER.includes(status) ? retryAfter : undefined);
    } catch (error) {
      // Nobody knows what would have become of it: it is left to whoever takes it next.
      signal.throwIfAborted();
      if (!(error instanceof NoResponseError)) throw error;
      return failedResult(row, tried({ error: stripNul(error.message.slice(0, LONGEST_REASON)) }), undefined);
    }
  }

  function signedHeaders(key: JobKey, row: StartedDeliveryRow, body: string): Record<string, string> {
    const owner = secretOwner(key.company_id, key.endpoint_id as string);
    const sealed = [row.sealed_secret, row.sealed_previous_secret].filter((one) => one !== null);
    const opened = sealed.map((one) => secrets.open(one, owner)).filter((one) => one !== undefined);
    if (opened.length === 0)
      throw new NoResponseError('Its secret cannot be opened: the setting SECRETS_KEY is another one.');
    return {
      'content-type': 'application/json',
      'user-agent': 'case-records',
      'webhook-id': deliveryEventId(row.event_key, row),
      'webhook-signature': signatureHeader(opened, Math.floor(clock().epochMilliseconds / 1000), body),
    };
  }

  function failedResult(
    { position, attempt, first }: StartedDeliveryRow,
    tried: Attempt,
    retryAfter: string | undefined,
  ): DeliveryResult {
    // A ping tells how things are now.
    if (position === null) return { state: 'failed', tried };
    if (tried.status === STATUS_GONE) return { state: 'gone', tried };
    const now = clock();
    const asked = retryAfterSeconds(retryAfter, now);
    const again = nextAttemptAt({ attempt, first: Temporal.Instant.from(first), asked }, now, random);
    return again ? { state: 'waiting', tried, again, pause: asked !== undefined } : { state: 'given up', tried };
  }

  function logResult(key: JobKey, row: StartedDeliveryRow, { tried }: DeliveryResult, state: string | undefined): void {
    const { status, error, ms } = tried;
    const about = { company: key.company_id, endpoint: key.endpoint_id, delivery: row.id, type: row.event_type };
    const told = { ...about, attempt: row.attempt, state, status, reason: error, ms };
    if (state === 'delivered') logger.info(told, 'webhook delivered');
    else logger[state === 'failed' ? 'error' : 'warn'](told, 'webhook not delivered');
    if (state === 'delivered' || state === 'failed') outcomes.countWebhook(state);
  }

  const due = leaseStatements({ table: 'webhook_deliveries', key: sql.KEY, open: sql.OPEN });
  const statements = { ...due, claim: sql.claim, nextDue: sql.nextDue };
  return { name: 'webhook_deliveries', key: sql.KEY, statements, handle };
}

const NO_RESPONSE: Omit<Attempt, 'at'> = { status: null, error: null, ms: 0, answer: null };
