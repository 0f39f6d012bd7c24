import { DAY } from '../../kernel/time/civil-time.ts';
import type { Instant } from '../../kernel/time/time.ts';
import { zoneOf } from '../../kernel/time/zone-offsets.ts';

/**
 * When a reminder of an appointment is due: some days before the start at the same wall time, or an hour before it
 * when that has passed. Undefined when both have: nothing is sent in place of a reminder.
 */
export function reminderTime(start: Instant, now: Instant, zone: string, leadDays: number): Instant | undefined {
  const before = daysBefore(start, zone, leadDays);
  if (Temporal.Instant.compare(before, now) >= 0) return before;
  const hourBefore = start.subtract({ hours: 1 });
  return Temporal.Instant.compare(hourBefore, now) >= 0 ? hourBefore : undefined;
}

/** By the offsets that are known, and by Temporal where these do not tell. */
function daysBefore(start: Instant, zone: string, days: number): Instant {
  const from = epochSeconds(start);
  const clock = zoneOf(zone);
  const second = clock.toEpoch(clock.toWall(from) - days * DAY);
  return second === undefined
    ? start.toZonedDateTimeISO(zone).subtract({ days }).toInstant()
    : Temporal.Instant.fromEpochNanoseconds(start.epochNanoseconds - BigInt(from - second) * 1_000_000_000n);
}

/** Whether the day on the company's calendar is the one before that of the start. */
export function isDayBefore(due: Instant, start: Instant, zone: string): boolean {
  const day = (time: Instant) => Math.floor(zoneOf(zone).toWall(epochSeconds(time)) / DAY);
  return day(due) === day(start) - 1;
}

const epochSeconds = (time: Instant): number => Math.floor(time.epochMilliseconds / 1000);
