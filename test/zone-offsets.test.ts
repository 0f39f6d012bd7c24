import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isDayBefore, reminderTime } from '../src/cases/appointments/reminder-time.ts';
import { InvalidValue } from '../src/kernel/errors.ts';
import { parseTime, toSql } from '../src/kernel/time/time.ts';
import { EPOCH_SHIFT, renderWallTimes, zonePlaceholder } from '../src/kernel/time/wall-time-placeholders.ts';
import { Zone } from '../src/kernel/time/zone-offsets.ts';

/** The service's own calculations agree with Temporal: in every zone, in any year, close to any clock change. */

const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
const THREE_DAYS = 3 * 86_400;
const [FIRST, LAST] = ['1000-01-02T00:00:00Z', '9999-12-30T23:59:59Z'].map((text) => Date.parse(text) / 1000) as [
  number,
  number,
];

const fromSeconds = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000);

/** A zone and seconds since 1970: anywhere, in years with clock changes, or up to three days from a clock change. */
const moments = fc
  .tuple(
    fc.constantFrom(...ZONES),
    fc.oneof(fc.integer({ min: FIRST, max: LAST }), fc.integer({ min: -4_200_000_000, max: 4_500_000_000 })),
    fc.option(fc.integer({ min: -THREE_DAYS, max: THREE_DAYS })),
  )
  .map(([zone, seconds, apart]) => {
    const change =
      apart === null ? undefined : fromSeconds(seconds).toZonedDateTimeISO(zone).getTimeZoneTransition('next');
    const near = change ? change.epochMilliseconds / 1000 + (apart ?? 0) : seconds;
    return { zone, seconds: Math.min(Math.max(near, FIRST), LAST) };
  });

const RUNS = { numRuns: 20_000 };

test('a wall time means what Temporal calls compatible', () => {
  fc.assert(
    fc.property(moments, fc.boolean(), ({ zone, seconds }, short) => {
      const wall = Temporal.PlainDateTime.from(
        fromSeconds(seconds)
          .toString()
          .slice(0, short ? 16 : 19),
      );
      const expected = wall.toZonedDateTime(zone, { disambiguation: 'compatible' }).toInstant();
      const at = expected.epochMilliseconds / 1000;
      if (at < FIRST || at > LAST) return;
      const text = wall.toString({ smallestUnit: short ? 'minute' : 'second' }).replace('T', ' ');
      assert.equal(parseTime(text, zone).toString(), expected.toString(), `${text} ${zone}`);
    }),
    RUNS,
  );
});

test('an instant is shown as the wall time that Temporal gives it', () => {
  fc.assert(
    fc.property(moments, ({ zone, seconds }) => {
      const expected = fromSeconds(seconds).toZonedDateTimeISO(zone).toPlainDateTime();
      const shown = renderWallTimes(`"${zonePlaceholder(zone)}${seconds + EPOCH_SHIFT}"`);
      assert.equal(shown, `"${expected.toString({ smallestUnit: 'second' }).replace('T', ' ')}"`, zone);
    }),
    RUNS,
  );
});

test('a day or a time of day that does not exist is no wall time, and every other one is', () => {
  const two = (most: number) => fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, '0'));
  const years = fc.oneof(fc.integer({ min: 1001, max: 9998 }), fc.constantFrom(1900, 2000, 2023, 2024, 2100, 2400));
  fc.assert(
    fc.property(years, two(13), two(32), two(25), two(61), two(61), (year, month, day, hour, minute, second) => {
      const text = `${year}-${month}-${day} ${hour}:${minute}:${second}`;
      const real = () => Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime('UTC').toInstant();
      let expected: string | undefined;
      try {
        // Temporal takes second 60 for 59.
        expected = second === '60' ? undefined : real().toString();
      } catch {}
      if (expected === undefined) assert.throws(() => parseTime(text, 'UTC'), InvalidValue, text);
      else assert.equal(parseTime(text, 'UTC').toString(), expected);
    }),
    RUNS,
  );
});

test('an instant goes to the database as Temporal writes it in microseconds, whatever it has beyond them', () => {
  const years = [BigInt(FIRST) - 100_000_000_000n, BigInt(LAST) + 100_000_000_000n].map((s) => s * 1_000_000_000n);
  const [min, max] = years as [bigint, bigint];
  fc.assert(
    fc.property(fc.oneof(fc.bigInt({ min, max }), fc.bigInt({ min: -3_000_000n, max: 3_000_000n })), (nanoseconds) => {
      const instant = Temporal.Instant.fromEpochNanoseconds(nanoseconds);
      assert.equal(toSql(instant), instant.toString({ fractionalSecondDigits: 6 }));
    }),
    RUNS,
  );
});

test('of an instant that was sent, what lies beyond microseconds is left out', () => {
  fc.assert(
    fc.property(fc.integer({ min: FIRST, max: LAST }), fc.stringMatching(/^\d{0,9}$/), (seconds, digits) => {
      const whole = fromSeconds(seconds).toString().slice(0, 19);
      const text = `${whole}${digits === '' ? '' : `.${digits}`}Z`;
      assert.equal(toSql(parseTime(text, 'UTC')), `${whole}.${digits.slice(0, 6).padEnd(6, '0')}Z`);
    }),
    RUNS,
  );
});

test('a reminder is due at the wall time that Temporal finds some days before, fractions included', () => {
  const long = fromSeconds(FIRST - 400 * 86_400);
  fc.assert(
    fc.property(
      moments,
      fc.integer({ min: 1, max: 365 }),
      fc.integer({ min: 0, max: 999_999 }),
      ({ zone, seconds }, days, micros) => {
        const start = fromSeconds(seconds).add({ microseconds: micros });
        const found = start.toZonedDateTimeISO(zone).subtract({ days }).toInstant();
        // A zone that skips a whole day moves a time on that day to the start.
        const expected = found.equals(start) ? start.subtract({ hours: 1 }) : found;
        assert.equal(
          reminderTime(start, long, zone, days)?.toString(),
          expected.toString(),
          `${start} ${zone} ${days}`,
        );
      },
    ),
    RUNS,
  );
});

test('the day before is that of the calendar there', () => {
  fc.assert(
    fc.property(moments, fc.integer({ min: 0, max: 3 * THREE_DAYS }), ({ zone, seconds }, apart) => {
      const [due, start] = [fromSeconds(seconds - apart), fromSeconds(seconds)];
      const day = (time: Temporal.Instant) => time.toZonedDateTimeISO(zone).toPlainDate();
      const expected = day(due).equals(day(start).subtract({ days: 1 }));
      assert.equal(isDayBefore(due, start, zone), expected, `${due} ${start} ${zone}`);
    }),
    RUNS,
  );
});

/** Midsummer of a year, far from any change of the clock, in the zone and in UTC. */
const midsummer = (year: number) => Date.UTC(year, 6, 1) / 1000;

test('a process remembers 500 spans of a zone: those that were asked for last', () => {
  const zone = new Zone('Europe/London');
  for (let year = 2000; year < 2600; year++) zone.offsetAt(midsummer(year));
  assert.equal(zone.toEpoch(midsummer(2599)), midsummer(2599) - 3_600);
  // It has been evicted, and reading does not evict what is shown.
  assert.equal(zone.toEpoch(midsummer(2000)), undefined);
  assert.equal(zone.toEpoch(midsummer(2101)), midsummer(2101) - 3_600);
  assert.equal(zone.offsetAt(midsummer(2000)), 3_600);
});
