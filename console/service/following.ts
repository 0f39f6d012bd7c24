import type { ListEventsEntry } from '@case-records/client';
import { background } from './client.ts';

/** That a record has changed: by this page, which knows it immediately, or by anybody, as the event log tells. */
export type Change = { record: string; caseId: string | null };

type Listener = (changes: readonly Change[]) => void;

const listeners = new Set<Listener>();

export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells the screens of a change that this page has made, before the event log does. */
export function announce(...changes: Change[]): void {
  for (const listener of listeners) listener(changes);
}

/** Whether a change is of the case or of a record in it. */
export const ofCase =
  (id: string) =>
  ({ caseId }: Change): boolean =>
    caseId === id;

/** Whether a change is of one of the kinds of record. */
export const ofRecords =
  (...records: string[]) =>
  ({ record }: Change): boolean =>
    records.includes(record);

const POLL_INTERVAL_MS = 4_000;
const MAX_INTERVAL_MS = 60_000;
const PAGE_LIMIT = 200;
/** A page that nobody has used for longer than this waits for the next press. */
const MAX_IDLE_MS = 15 * 60_000;

let isFollowing = false;

/** Follows the event log from the first call on, while the page is shown and somebody uses it. */
export function followEvents(): void {
  if (isFollowing) return;
  isFollowing = true;
  let next: Record<string, string> = { after: 'latest' };
  let interval = POLL_INTERVAL_MS;
  let usedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPolling = false;
  const isIdle = () => document.hidden || performance.now() - usedAt > MAX_IDLE_MS;

  const poll = async () => {
    if (isPolling || isIdle()) return;
    isPolling = true;
    clearTimeout(timer);
    try {
      const answer = await background.listEvents({ ...next, limit: PAGE_LIMIT });
      next = answer.next ?? next;
      interval = answer.data.length === PAGE_LIMIT ? 0 : POLL_INTERVAL_MS;
      if (answer.data.length > 0) announce(...answer.data.map(toChange));
    } catch (error) {
      // The log was restored from a backup, so the position is lost.
      if ((error as { status?: number }).status === 400) next = { after: 'latest' };
      interval = Math.min(MAX_INTERVAL_MS, Math.max(POLL_INTERVAL_MS, interval * 2));
    }
    isPolling = false;
    timer = setTimeout(poll, interval);
  };
  const onUse = () => {
    const wasIdle = isIdle();
    usedAt = performance.now();
    if (wasIdle) poll();
  };
  for (const type of ['keydown', 'pointerdown', 'wheel']) addEventListener(type, onUse, { passive: true });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) onUse();
    poll();
  });
  addEventListener('online', poll);
  poll();
}

const toChange = ({ record, case_id }: ListEventsEntry): Change => ({ record: record.type, caseId: case_id });
