import type { Answer } from '@case-records/client';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { background, type Service, service } from './client.ts';
import { type Change, onChanges } from './following.ts';

/** What a screen shows of the service. While `data` is reloaded the old one stays. */
export type Loaded<T> = { data: T | undefined; error: unknown; isLoading: boolean; reload: () => void };

const MAX_KEPT = 30;
/** The data of screens that were left, so that going back shows them immediately. */
const kept = new Map<string, unknown>();

export const clearLoaded = (): void => kept.clear();

function keep(key: string, data: unknown): void {
  // A form must not begin with an old version.
  if (key.endsWith('/edit')) return;
  kept.delete(key);
  kept.set(key, data);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
}

const RELOAD_DELAY_MS = 200;

/**
 * Loads data when the component appears, when `key` changes, and after each change that `concerns` it, made here or by
 * a colleague. `undefined` as `key` loads nothing. What a change reloads does not keep the session of a person who has
 * left.
 */
export function useLoaded<T>(
  key: string | undefined,
  load: (signal: AbortSignal, service: Service) => Promise<T>,
  concerns: (change: Change) => boolean = () => false,
): Loaded<T> {
  const [state, setState] = useState<{ key: string | undefined; data: T | undefined; error: unknown }>({
    key: undefined,
    data: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const latest = useRef({ load, concerns });
  latest.current = { load, concerns };
  const isUnasked = useRef(false);
  const reload = useCallback(() => setRound((one) => one + 1), []);

  // An effect after painting would send the request a frame later, on a slow computer a quarter of a second.
  useLayoutEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const client = isUnasked.current ? background : service;
    isUnasked.current = false;
    latest.current.load(controller.signal, client).then(
      (data) => {
        keep(key, data);
        if (!controller.signal.aborted) setState({ key, data, error: undefined });
      },
      (error) => {
        if (controller.signal.aborted) return;
        // What is shown stays, unless it is of another key.
        setState((old) => ({ key, data: old.key === key ? old.data : (kept.get(key) as T | undefined), error }));
      },
    );
    return () => controller.abort();
  }, [key, round]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onChanges((changes) => {
      if (!changes.some((change) => latest.current.concerns(change))) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        isUnasked.current = true;
        reload();
      }, RELOAD_DELAY_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [reload]);

  const isCurrent = state.key === key;
  const data = isCurrent ? state.data : key === undefined ? undefined : (kept.get(key) as T | undefined);
  const error = isCurrent ? state.error : undefined;
  return { data, error, isLoading: data === undefined && error === undefined, reload };
}

export type Entries<T> = {
  entries: T[] | undefined;
  error: unknown;
  /** Why the page that was asked for last has not come. */
  moreError: unknown;
  isLoading: boolean;
  /** Whether there are more entries than those that are shown. */
  hasMore: boolean;
  more: () => void;
  reload: () => void;
};

type Page = Record<string, string>;
type Pages<T> = { entries: T[]; next: Page | undefined; error?: unknown };

/** More pages than this are not reloaded together: after a change the list begins with fewer again. */
const MAX_PAGES = 20;

/** A page that is read later than the one before may repeat entries. */
const idOf = (entry: unknown): unknown => (entry as { id?: string }).id ?? entry;

/** Loads a list page by page: the first one, and one more each time that the person asks for it. */
export function useEntries<T>(
  key: string | undefined,
  loadPage: (page: Page, signal: AbortSignal, service: Service) => Promise<Answer<T[]>>,
  concerns?: (change: Change) => boolean,
): Entries<T> {
  const asked = useRef<{ key: string | undefined; pages: number; after?: Pages<T> | undefined }>({ key, pages: 1 });
  if (asked.current.key !== key) asked.current = { key, pages: 1 };
  const { data, error, isLoading, reload } = useLoaded<Pages<T>>(
    key,
    async (signal, client) => {
      const { pages, after } = asked.current;
      // Only the next page follows what is shown; a reload reads all of them.
      asked.current.after = undefined;
      const found = new Map(after?.entries.map((entry) => [idOf(entry), entry]));
      const known = found.size;
      const count = after ? 1 : Math.min(pages, MAX_PAGES);
      let next = after ? after.next : {};
      try {
        // A page can be empty although others follow it.
        for (let page = 0; next && (page < count || found.size === known) && page < MAX_PAGES; page++) {
          const answer: Answer<T[]> = await loadPage(next, signal, client);
          for (const entry of answer.data) found.set(idOf(entry), entry);
          next = answer.next;
        }
      } catch (failure) {
        if (!after) throw failure;
        return { ...after, error: failure };
      }
      return { entries: [...found.values()], next };
    },
    concerns,
  );
  const more = () => {
    asked.current = { key, pages: asked.current.pages + 1, after: data };
    reload();
  };
  const hasMore = data?.next !== undefined;
  return { entries: data?.entries, hasMore, error, moreError: data?.error, isLoading, more, reload };
}
