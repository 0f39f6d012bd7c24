import { SECONDS_PER_DAY } from '../../kernel/time/civil-time.ts';
import type { Instant } from '../../kernel/time/time.ts';
import { zoneOf } from '../../kernel/time/zone-offsets.ts';

/**
 * Returns when a reminder is due: `leadDays` before the start at the same wall time or, if that has passed, one hour
 * before the start. Returns undefined if both have passed; then no reminder is sent. A zone that skips a whole day, as
 * Apia did in 2011, moves a time on that day to the start itself: it counts as passed.
 */
export function reminderTime(start: Instant, now: Instant, zone: string, leadDays: number): Instant | undefined {
  const leadTime = daysBefore(start, zone, leadDays);
  const isBeforeStart = Temporal.Instant.compare(leadTime, start) < 0;
  if (isBeforeStart && Temporal.Instant.compare(leadTime, now) >= 0) return leadTime;
  const hourBefore = start.subtract({ hours: 1 });
  return Temporal.Instant.compare(hourBefore, now) >= 0 ? hourBefore : undefined;
}

/** Uses the cached zone offsets, which are much faster, and Temporal near a clock change, which they do not cover. */
function daysBefore(start: Instant, zone: string, days: number): Instant {
  const startSeconds = epochSeconds(start);
  const offsets = zoneOf(zone);
  const seconds = offsets.toEpoch(offsets.toWall(startSeconds) - days * SECONDS_PER_DAY);
  return seconds === undefined
    ? start.toZonedDateTimeISO(zone).subtract({ days }).toInstant()
    : Temporal.Instant.fromEpochNanoseconds(start.epochNanoseconds - BigInt(startSeconds - seconds) * 1_000_000_000n);
}

/** Whether `due` falls on the calendar day before the start, in the company's zone. */
export function isDayBefore(due: Instant, start: Instant, zone: string): boolean {
  const day = (time: Instant) => Math.floor(zoneOf(zone).toWall(epochSeconds(time)) / SECONDS_PER_DAY);
  return day(due) === day(start) - 1;
}

const epochSeconds = (time: Instant): number => Math.floor(time.epochMilliseconds / 1000);
