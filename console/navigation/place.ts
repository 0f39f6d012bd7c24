import { signal } from '@preact/signals';
import { CONSOLE_URL } from '../service/client.ts';

/** Where the person is: the segments of the address below the console, and its query. */
export type Place = { path: readonly string[]; query: URLSearchParams };

export const place = signal<Place>(readPlace());

function readPlace(): Place {
  const below = location.pathname.slice(CONSOLE_URL.pathname.length);
  return {
    path: below.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(location.search),
  };
}

/** Returns the address of a place. An undefined value of the query is left out. */
export function to(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]));
  return `${CONSOLE_URL.pathname}${path}${search.size > 0 ? `?${search}` : ''}`;
}

/** Returns the address of the same screen with other values in the query. */
export const withQuery = (changes: Readonly<Record<string, string | undefined>>): string =>
  to(place.value.path.map(encodeURIComponent).join('/'), { ...Object.fromEntries(place.value.query), ...changes });

export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  place.value = readPlace();
}

/** Opens links of the console without loading the page again. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    place.value = readPlace();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]');
    if (!link || link.target || link.download || !link.href.startsWith(CONSOLE_URL.href)) return;
    event.preventDefault();
    go(link.href);
  });
}
