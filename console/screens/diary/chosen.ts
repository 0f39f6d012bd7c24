import { addDays } from '../../components/time.ts';
import { dayAt, onDay, ROW_MS, type Span } from './axis.ts';

/** A time that is being chosen, with the adviser whose it is. */
export type ChosenSpan = Span & { adviser: string | undefined };

const ROWS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };
const COLUMNS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
const PAGES: Readonly<Record<string, number>> = { PageUp: -1, PageDown: 1 };

/** Returns the time that a key leads to, or undefined if the key means nothing. */
export function afterKey<Chosen extends ChosenSpan>(
  chosen: Chosen,
  { key, shiftKey }: { key: string; shiftKey: boolean },
  { advisers, pageDays, timeZone }: { advisers: readonly string[] | undefined; pageDays: number; timeZone: string },
): Chosen | undefined {
  const { start, end, adviser } = chosen;
  const rows = ROWS[key];
  if (rows !== undefined) {
    const by = rows * ROW_MS;
    if (shiftKey) return end + by > start ? { ...chosen, end: end + by } : chosen;
    return { ...chosen, start: start + by, end: end + by };
  }
  const columns = COLUMNS[key];
  if (columns !== undefined && advisers) {
    const next = advisers[advisers.indexOf(adviser ?? '') + columns];
    return next === undefined ? chosen : { ...chosen, adviser: next };
  }
  const days = columns ?? (PAGES[key] ?? 0) * pageDays;
  if (days === 0) return undefined;
  const moved = onDay(start, addDays(dayAt(start, timeZone), days), timeZone);
  return { ...chosen, start: moved, end: moved + (end - start) };
}
