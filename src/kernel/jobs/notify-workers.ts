import type { Database, Executor } from '../database/database.ts';
import { write } from '../sql/statement.ts';
import type { Instant } from '../time/time.ts';

export const CHANNEL = 'due_work';
const MIN_INTERVAL_MS = 50;
const MAX_LEAD_MS = 60_000;

const notify = write('due_work.notify', { inputs: {}, sql: () => `SELECT pg_notify('${CHANNEL}', '')` });
const pendingByDatabase = new WeakMap<Executor, { again: boolean }>();

/** Whether workers should be notified of a job. A job that is due later is found in time by polling. */
export const isImminent = (due: Instant, now: Instant): boolean =>
  due.epochMilliseconds - now.epochMilliseconds <= MAX_LEAD_MS;

/**
 * Notifies the workers of due jobs, immediately but at most every 50 ms. The statement that writes the job does not
 * notify, because NOTIFY serializes commits: with 32 callers that statement ran at 0.22–0.43 of its speed. A lost
 * notification only costs time, because the workers also poll.
 */
export const notifyWorkers = (db: Executor): void => db.afterCommit(() => sendNotification(db.database));

function sendNotification(db: Database): void {
  const pending = pendingByDatabase.get(db);
  if (pending) {
    pending.again = true;
    return;
  }
  const state = { again: false };
  pendingByDatabase.set(db, state);
  // Sent once more, because an idle connection may have broken unnoticed.
  const send = () => db.queryRows(notify({}));
  send()
    .catch(send)
    .catch(() => {});
  setTimeout(() => {
    pendingByDatabase.delete(db);
    if (state.again) sendNotification(db);
  }, MIN_INTERVAL_MS).unref();
}
