import type { Database, Executor } from '../kernel/database.ts';
import type { Claim } from '../kernel/due-queue.ts';
import { newId } from '../kernel/ids.ts';
import { WORKER_ORIGIN } from '../kernel/record-log.ts';
import { type Clock, type Instant, toSql } from '../kernel/time.ts';
import { holdEndpoint } from './deliveries.sql.ts';
import { disableEndpoint, markFailing } from './endpoints.sql.ts';
import { insertNotice, type NoticeKind } from './notices.sql.ts';
import * as sql from './sending.sql.ts';

/** One attempt, as the log of the delivery keeps it. */
export type Try = {
  at: string;
  status: number | null;
  error: string | null;
  ms: number;
  answer: string | null;
};

/** What became of an attempt. `gone`: the receiver wants nothing more. `given up`: it was the last one. */
export type Outcome =
  | { state: 'delivered' | 'failed' | 'dropped' | 'gone' | 'given up'; tried: Try; again?: undefined }
  | { state: 'waiting'; tried: Try; again: Instant };

type Settle = (key: string[], claim: Claim, first: string, outcome: Outcome) => Promise<string | undefined>;

/**
 * Writes down what became of a delivery, and of its endpoint. First the endpoint is held or shared, then the statement
 * that looks for the next of the record is begun: it sees all that was queued.
 */
export function settler({ db, clock }: { db: Database; clock: Clock }): Settle {
  return (key, claim, first, outcome) => {
    const { state } = outcome;
    return db.transaction(async (held) => {
      if (state === 'gone' || state === 'given up') return stop(held, key, claim, first, outcome);
      await held.rows(sql.shareEndpoint, key.slice(0, 2));
      return write(held, key, claim, outcome, state, true);
    });
  };

  async function stop(held: Executor, key: string[], claim: Claim, first: string, outcome: Outcome) {
    const endpoint = key.slice(0, 2);
    const found = await held.first<{ state: string }>(holdEndpoint, endpoint);
    // It waits for the endpoint that somebody has stopped meanwhile to be resumed.
    if (found?.state !== 'active') return write(held, key, claim, outcome, 'waiting', false);
    const gone = outcome.state === 'gone';
    const written = await write(held, key, claim, outcome, gone ? 'waiting' : 'failed', false);
    if (written === undefined) return undefined;
    const now = toSql(clock());
    const about = [...endpoint, now, WORKER_ORIGIN];
    if (gone) {
      await held.rows(disableEndpoint, [...about, 'It answered 410 Gone.']);
      await tell(held, endpoint, 'gone', now);
    } else if (await held.first(sql.deliveredSince, [...endpoint, first])) {
      await tell(held, endpoint, 'delivery_failed', now);
    } else {
      await held.rows(markFailing, [...about, 'Nothing could be delivered for three days.']);
      await tell(held, endpoint, 'failing', now);
    }
    return written;
  }

  /** Gives the state that it is in now, or undefined where somebody else has it. */
  async function write(
    held: Executor,
    key: string[],
    claim: Claim,
    { state, tried, again }: Outcome,
    as: string,
    ready: boolean,
  ) {
    const holder = state === 'delivered' ? null : claim.id;
    const values = [...key, holder, toSql(clock()), as, JSON.stringify([tried]), again ? toSql(again) : null, ready];
    return (await held.first<{ state: string }>(sql.settleDelivery, values))?.state;
  }
}

const tell = (held: Executor, endpoint: string[], kind: NoticeKind, now: string) =>
  held.rows(insertNotice, [...endpoint, newId(), kind, now]);
