import { addDays, isDay } from '../../components/time.ts';
import { place } from '../../navigation/place.ts';
import { SERVICE_URL } from '../../service/client.ts';
import { text } from './texts.ts';

/** What the list shows, named in the address by `show`. The invoice that was due first leads while it can be paid. */
const FILTERS = {
  open: { open: true, sort: 'date_due' },
  overdue: { overdue: true, sort: 'date_due' },
  'not-paid': { status: 'Not Paid', sort: 'date_due' },
  'part-paid': { status: 'Part Paid', sort: 'date_due' },
  paid: { status: 'Paid', sort: '-date_due' },
  cancelled: { status: 'Cancelled', sort: '-date_due' },
  all: { sort: '-date_due' },
} as const;

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];
export const DEFAULT_FILTER: FilterName = 'open';

/** Returns the filters that the address names. What it says wrongly is ignored. */
export function readFilters() {
  const { query } = place.value;
  const day = (name: string) => [query.get(name)].find(isDay);
  const [from, to] = [day('from'), day('to')];
  const shown = FILTER_NAMES.find((name) => name === query.get('show')) ?? DEFAULT_FILTER;
  const due = {
    ...(from && { due_from: `${from} 00:00` }),
    // The last day belongs to the range; the service compares with the time at which it ends.
    ...(to && { due_to: `${addDays(to, 1)} 00:00` }),
  };
  return { shown, from, to, due, request: { ...FILTERS[shown], ...due } };
}

/** The same list as a file. The browser writes it while the service sends it, however long it is. */
export function csvAddress(request: ReturnType<typeof readFilters>['request']): string {
  const url = new URL('invoices.csv', SERVICE_URL);
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, String(value));
  return url.href;
}

export const emptyText = (shown: FilterName, isNarrowed: boolean): string =>
  !isNarrowed && (shown === 'open' || shown === 'overdue') ? text.none[shown] : text.none.other;
