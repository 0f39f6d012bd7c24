import { SECONDS_PER_DAY } from './civil-time.ts';

/** The seconds from one transition of a zone to the next, and the offset from UTC in between. */
type OffsetPeriod = { from: number; to: number; offset: number };

const MAX_PERIODS = 500;
/** Larger than the difference of any two offsets of a zone, which is up to a day if the zone changed its date. */
const TRANSITION_MARGIN = 2 * SECONDS_PER_DAY;

/** Caches the offsets of a zone. Temporal takes microseconds for a time, and most times lie in one or two periods. */
export class Zone {
  readonly #name: string;
  #periods: OffsetPeriod[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  offsetAt(seconds: number): number {
    return (this.#cached(seconds) ?? this.#add(seconds)).offset;
  }

  /** Converts epoch seconds to wall-clock seconds: the epoch seconds at which UTC shows the same date and time. */
  toWall(seconds: number): number {
    return seconds + this.offsetAt(seconds);
  }

  /**
   * Converts wall-clock seconds to epoch seconds. Returns undefined near a transition or if the cache is full, so that
   * requests with times of every century do not evict the periods that responses need. The caller then uses Temporal.
   */
  toEpoch(wall: number): number | undefined {
    const period = this.#cached(wall) ?? (this.#periods.length < MAX_PERIODS ? this.#add(wall) : undefined);
    if (period === undefined) return undefined;
    const second = wall - period.offset;
    return period.from + TRANSITION_MARGIN <= second && second < period.to - TRANSITION_MARGIN ? second : undefined;
  }

  /** Moves a period that it finds one place forward, so that frequent ones are found first. */
  #cached(seconds: number): OffsetPeriod | undefined {
    const periods = this.#periods;
    for (let i = 0; i < periods.length; i++) {
      const period = periods[i] as OffsetPeriod;
      if (seconds < period.from || seconds >= period.to) continue;
      if (i > 0) [periods[i - 1], periods[i]] = [period, periods[i - 1] as OffsetPeriod];
      return period;
    }
    return undefined;
  }

  #add(seconds: number): OffsetPeriod {
    const period = periodAt(seconds, this.#name);
    this.#periods = [period, ...this.#periods].slice(0, MAX_PERIODS);
    return period;
  }
}

const zones = new Map<string, Zone>();

export function zoneOf(name: string): Zone {
  const zone = zones.get(name) ?? new Zone(name);
  zones.set(name, zone);
  return zone;
}

function periodAt(seconds: number, zone: string): OffsetPeriod {
  const time = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
  const secondsOf = (transition: Temporal.ZonedDateTime | null) => transition && transition.epochMilliseconds / 1000;
  // 'previous' excludes the time itself, which may be the second of a transition.
  const from = secondsOf(time.add({ seconds: 1 }).getTimeZoneTransition('previous')) ?? -Infinity;
  const to = secondsOf(time.getTimeZoneTransition('next')) ?? Infinity;
  return { from, to, offset: time.offsetNanoseconds / 1e9 };
}
