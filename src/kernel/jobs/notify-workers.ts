import type { Database, Executor } from '../database/database.ts';
import { statement } from '../sql/statement.ts';
import type { Instant } from '../time/time.ts';

export const CHANNEL = 'due_work';
const GATHER_MS = 50;
const SOON_MS = 60_000;

const notify = statement('due_work.notify', `SELECT pg_notify('${CHANNEL}', '')`);
const gathering = new WeakMap<Executor, { again: boolean }>();

/** Workers look by themselves often enough for what is due later than this. */
export const isImminent = (due: Instant, now: Instant): boolean =>
  due.epochMilliseconds - now.epochMilliseconds <= SOON_MS;

/**
 * Tells the workers that something is due, at once but not more often than every 50 ms. Not in the statement that
 * writes the work: NOTIFY makes commits wait for one another, and with 32 callers that statement ran at 0.22–0.43
 * of its pace. A notice that is lost costs time only, for the workers also look by themselves.
 */
export const notifyWorkers = (db: Executor): void => db.afterCommit(() => notice(db.database));

function notice(db: Database): void {
  const pending = gathering.get(db);
  if (pending) {
    pending.again = true;
    return;
  }
  const state = { again: false };
  gathering.set(db, state);
  db.queryRows(notify, []).catch(() => {});
  setTimeout(() => {
    gathering.delete(db);
    if (state.again) notice(db);
  }, GATHER_MS).unref();
}
