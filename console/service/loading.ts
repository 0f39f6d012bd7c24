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
  isLoading: boolean;
  /** Whether there are more entries than those that are shown. */
  hasMore: boolean;
  more: () => void;
  reload: () => void;
};

type Page = Record<string, string>;

/** More pages than this are not reloaded at once: the list begins with fewer again. */
const MAX_PAGES = 20;

/** Loads a list page by page: the first one, and one more each time that the person asks for it. */
export function useEntries<T>(
  key: string | undefined,
  loadPage: (page: Page, signal: AbortSignal, service: Service) => Promise<Answer<T[]>>,
  concerns?: (change: Change) => boolean,
): Entries<T> {
  const [asked, setAsked] = useState<{ key: string | undefined; pages: number }>({ key, pages: 1 });
  const pages = asked.key === key ? asked.pages : 1;
  const found = useLoaded(
    key,
    async (signal, client) => {
      const entries: T[] = [];
      let next: Page | undefined = {};
      // A page can be empty although others follow it.
      for (let page = 0; next && (page < pages || entries.length === 0) && page < MAX_PAGES; page++) {
        const answer: Answer<T[]> = await loadPage(next, signal, client);
        entries.push(...answer.data);
        next = answer.next;
      }
      return { entries, hasMore: next !== undefined };
    },
    concerns,
  );
  const { data, error, isLoading, reload } = found;
  const more = () => {
    setAsked({ key, pages: Math.min(pages + 1, MAX_PAGES) });
    reload();
  };
  return { entries: data?.entries, hasMore: data?.hasMore === true, error, isLoading, more, reload };
}
