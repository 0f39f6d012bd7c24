import type { Logger } from 'pino';
import { periodically } from '../periodic.ts';
import { write } from '../sql/statement.ts';
import type { Database } from './database.ts';

/**
 * If a connection breaks between a statement and the end of its transaction, the server waits for the rest and keeps
 * every lock. It reports that state as active, so neither statement_timeout nor idle_in_transaction_session_timeout
 * applies. The service sends a transaction in one write, so a transaction that is incomplete for this long has lost its
 * sender.
 */
const MAX_WAIT_SECONDS = 10;

/**
 * Ends only connections of the same role and application name. They are selected before any is ended, because the
 * server evaluates the conditions of one WHERE clause in any order.
 */
const endHalfSent = write('database.end_half_sent', {
  inputs: { max_wait_seconds: 'int' },
  sql: (input) => `
    WITH half_sent AS MATERIALIZED (
      SELECT a.pid FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.usename = current_user
         AND a.application_name = current_setting('application_name') AND a.pid <> pg_backend_pid()
         AND a.state = 'active' AND a.wait_event = 'ClientRead'
         AND a.state_change < clock_timestamp() - make_interval(secs => ${input.max_wait_seconds})
    )
    SELECT pg_terminate_backend(pid) FROM half_sent`,
});

/** Ends half-sent transactions of this service, including those of a process that has died. Returns their number. */
export async function endHalfSentTransactions(db: Database, maxWaitSeconds = MAX_WAIT_SECONDS): Promise<number> {
  return (await db.queryRows(endHalfSent({ max_wait_seconds: maxWaitSeconds }))).length;
}

const CHECK_INTERVAL_MS = 5_000;

/** Ends half-sent transactions periodically. Returns the stop function. */
export const watchHalfSentTransactions = (db: Database, logger: Logger): (() => Promise<void>) =>
  periodically({
    intervalMs: CHECK_INTERVAL_MS,
    work: async () => {
      const ended = await endHalfSentTransactions(db);
      if (ended > 0) logger.warn({ ended }, 'ended half-sent transactions: their connection to the database broke');
    },
    logger,
    failureMessage: 'failed to look for half-sent transactions; retrying',
  });
