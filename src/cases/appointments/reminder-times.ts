import type { Instant } from '../../kernel/time.ts';

/**
 * When a reminder of an appointment is due: some days before the start at the same wall time, or an hour before it
 * when that has passed. Undefined when both have: nothing is sent in place of a reminder.
 */
export function reminderTime(start: Instant, now: Instant, zone: string, leadDays: number): Instant | undefined {
  const daysBefore = start.toZonedDateTimeISO(zone).subtract({ days: leadDays }).toInstant();
  const hourBefore = start.subtract({ hours: 1 });
  return [daysBefore, hourBefore].find((time) => Temporal.Instant.compare(time, now) >= 0);
}

/** Whether the day on the company's calendar is the one before that of the start. */
export function isDayBefore(due: Instant, start: Instant, zone: string): boolean {
  const day = (time: Instant) => time.toZonedDateTimeISO(zone).toPlainDate();
  return day(due).equals(day(start).subtract({ days: 1 }));
}
