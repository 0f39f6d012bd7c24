import { addDays, wallTime } from '../../components/time.ts';

/** The times of a diary in the zone of the company, also on days on which the clocks change, and where things stand. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const ROW_MINUTES = 15;
export const ROW_MS = ROW_MINUTES * MINUTE_MS;
const ROWS_PER_DAY = (24 * 60) / ROW_MINUTES;

const isoOf = (at: number): string => new Date(at).toISOString();
const WALL = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;
// A field for a time may be empty, or have a year of five digits. Date.parse makes a time of ':00Z'.
const asUtc = (wall: string): number => (WALL.test(wall) ? Date.parse(`${wall}:00Z`) : Number.NaN);

/** The wall time of an instant: `2026-06-01T09:30`. */
export const wallOf = (at: number, timeZone: string): string => wallTime(isoOf(at), timeZone);
export const dayAt = (at: number, timeZone: string): string => wallOf(at, timeZone).slice(0, 10);

const offsetAt = (at: number, timeZone: string): number =>
  asUtc(wallOf(at, timeZone)) - Math.floor(at / MINUTE_MS) * MINUTE_MS;

/** Returns the instants of a wall time: none if the clocks skip it, two if they repeat it. */
export function instantsOf(wall: string, timeZone: string): number[] {
  const local = asUtc(wall);
  if (Number.isNaN(local)) return [];
  const found = [-DAY_MS, DAY_MS].map((shift) => local - offsetAt(local + shift, timeZone));
  return [...new Set(found)].filter((at) => wallOf(at, timeZone) === wall).sort((a, b) => a - b);
}

/** As the service reads it: a skipped time moves forward by the length of the gap, a repeated one is the first. */
export function instantOf(wall: string, timeZone: string): number {
  const local = asUtc(wall);
  if (Number.isNaN(local)) return Number.NaN;
  return instantsOf(wall, timeZone)[0] ?? local - offsetAt(local - DAY_MS, timeZone);
}

/** A quarter of an hour of the wall clock. `isSecond`: of those that the clocks repeat, the second one. */
export type Row = { minute: number; isSecond: boolean };

/** A day and the instant of each row. A row that the day does not have, such as the gap in spring, has none. */
export type Day = { day: string; slots: readonly (number | undefined)[] };

export type Axis = { rows: readonly Row[]; days: readonly Day[] };

/** Returns the rows that all days share. An hour that one of them has twice is there twice. */
export function axisOf(days: readonly string[], timeZone: string): Axis {
  const found = days.map((day) => quartersOf(day, timeZone));
  const rows: Row[] = [];
  const seconds = new Map<number, number[]>();
  for (const { repeated, repeatedAfter } of found) {
    if (repeatedAfter !== undefined) seconds.set(repeatedAfter, [...repeated.keys()]);
  }
  for (let row = 0; row < ROWS_PER_DAY; row++) {
    const minute = row * ROW_MINUTES;
    rows.push({ minute, isSecond: false });
    for (const second of seconds.get(minute) ?? []) rows.push({ minute: second, isSecond: true });
  }
  return {
    rows,
    days: found.map(({ day, first, repeated }) => ({
      day,
      slots: rows.map(({ minute, isSecond }) => (isSecond ? repeated : first).get(minute)),
    })),
  };
}

function quartersOf(day: string, timeZone: string) {
  const first = new Map<number, number>();
  const repeated = new Map<number, number>();
  let repeatedAfter: number | undefined;
  let before = 0;
  const end = instantOf(`${addDays(day, 1)}T00:00`, timeZone);
  for (let at = instantOf(`${day}T00:00`, timeZone); at < end; at += ROW_MS) {
    const wall = wallOf(at, timeZone);
    const minute = Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14));
    if (first.has(minute)) {
      repeatedAfter ??= before;
      repeated.set(minute, at);
    } else {
      first.set(minute, at);
    }
    before = minute;
  }
  return { day, first, repeated, repeatedAfter };
}

/** Returns where an instant is on a day, in rows from the top. An end stands before a gap and not after it. */
export function rowAt(at: number, { slots }: Day, { isEnd = false } = {}): number {
  let position = 0;
  for (const [row, slot] of slots.entries()) {
    if (slot === undefined || (isEnd ? slot >= at : slot > at)) continue;
    position = row + Math.min(1, (at - slot) / ROW_MS);
  }
  return position;
}

/** Returns the instant of a row, or of the next one that the day has. */
export function instantAtRow(row: number, { slots }: Day): number {
  const own = slots.slice(Math.max(0, row)).find((slot) => slot !== undefined);
  if (own !== undefined) return own;
  const last = slots.findLast((slot) => slot !== undefined);
  return (last ?? 0) + ROW_MS;
}

/** The rows that a day does not have, as stretches: the gap of its clock change, or the hour that another day has twice. */
export function missingRows({ slots }: Day): { top: number; bottom: number }[] {
  const missing: { top: number; bottom: number }[] = [];
  for (const [row, slot] of slots.entries()) {
    if (slot !== undefined) continue;
    const last = missing.at(-1);
    if (last?.bottom === row) last.bottom = row + 1;
    else missing.push({ top: row, bottom: row + 1 });
  }
  return missing;
}

/** Returns the same wall time on another day. */
export const onDay = (at: number, day: string, timeZone: string): number =>
  instantOf(`${day}T${wallOf(at, timeZone).slice(11)}`, timeZone);

export type Span = { start: number; end: number };

/** Where a span stands: its rows, and its lane among those that overlap it. */
export type Block<T> = { of: T; top: number; bottom: number; lane: number; lanes: number };

/** A short span is drawn this high, so that it can be read and pressed. */
const MIN_ROWS = 2;

/** Places the spans of a day beside one another where they overlap. A span of two days is on both. */
export function blocksOf<T extends Span>(spans: readonly T[], day: Day): Block<T>[] {
  const from = day.slots.find((slot) => slot !== undefined) ?? 0;
  const to = (day.slots.findLast((slot) => slot !== undefined) ?? 0) + ROW_MS;
  const blocks = spans
    .filter(({ start, end }) => start < to && end > from)
    .map((of) => {
      const top = Math.min(rowAt(of.start, day), day.slots.length - MIN_ROWS);
      return { of, top, bottom: Math.max(rowAt(of.end, day, { isEnd: true }), top + MIN_ROWS), lane: 0, lanes: 1 };
    })
    .sort((a, b) => a.top - b.top || b.bottom - a.bottom);
  let group: Block<T>[] = [];
  let groupBottom = 0;
  for (const block of blocks) {
    if (block.top >= groupBottom) group = [];
    group.push(block);
    groupBottom = Math.max(group.length === 1 ? 0 : groupBottom, block.bottom);
    const taken = new Set(group.filter((one) => one !== block && one.bottom > block.top).map(({ lane }) => lane));
    while (taken.has(block.lane)) block.lane++;
    const lanes = Math.max(...group.map(({ lane }) => lane)) + 1;
    for (const one of group) one.lanes = lanes;
  }
  return blocks;
}

/** The days of the week of a day, from Monday. */
export function weekOf(day: string): string[] {
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  return Array.from({ length: 7 }, (_, i) => addDays(day, i - weekday));
}
