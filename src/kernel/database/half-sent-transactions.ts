import type { Logger } from 'pino';
import { periodically } from '../periodic.ts';
import { statement } from '../sql/statement.ts';
import type { Database } from './database.ts';

/**
 * A line that breaks between a statement and the end of its transaction leaves the server waiting for the rest, with
 * every lock held. It calls that state active, so neither its limit for statements nor that for idle transactions
 * applies. A transaction of ours is sent in one write: one that waits for its rest this long has lost its sender.
 */
const MAX_WAIT_SECONDS = 10;

/**
 * $1: seconds. Ends only connections of its own role and name. They are picked before any is ended: conditions side by
 * side are tried in the server's own order.
 */
const endHalfSent = statement(
  'database.end_half_sent',
  `WITH half_sent AS MATERIALIZED (
     SELECT a.pid FROM pg_stat_activity a
      WHERE a.datname = current_database() AND a.usename = current_user
        AND a.application_name = current_setting('application_name') AND a.pid <> pg_backend_pid()
        AND a.state = 'active' AND a.wait_event = 'ClientRead'
        AND a.state_change < clock_timestamp() - make_interval(secs => $1)
   )
   SELECT pg_terminate_backend(pid) FROM half_sent`,
);

/** Ends the half-sent transactions of this service, also those of a process that is gone. Returns how many. */
export async function endHalfSentTransactions(db: Database, maxWaitSeconds = MAX_WAIT_SECONDS): Promise<number> {
  return (await db.queryRows(endHalfSent, [maxWaitSeconds])).length;
}

const CHECK_INTERVAL_MS = 5_000;

/** Ends half-sent transactions from now on. Returns the function that stops it. */
export const watchHalfSentTransactions = (db: Database, logger: Logger): (() => Promise<void>) =>
  periodically({
    intervalMs: CHECK_INTERVAL_MS,
    work: async () => {
      const ended = await endHalfSentTransactions(db);
      if (ended > 0) logger.warn({ ended }, 'half-sent transactions were ended: the line to the database broke');
    },
    logger,
    failureMessage: 'half-sent transactions could not be looked for',
  });
