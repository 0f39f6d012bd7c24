import { DAY } from './civil-time.ts';

/** Seconds from one change of a zone's clock to the next, and what the clock is ahead of UTC in between. */
type OffsetPeriod = { from: number; to: number; offset: number };

const MOST_SPANS = 500;
/** More than there is between any two offsets of a zone, which are up to a day apart where it changed its date. */
const TRANSITION_MARGIN = 2 * DAY;

/** Temporal takes microseconds for a time, a known span next to nothing. Most times lie in one or two of them. */
export class Zone {
  readonly #name: string;
  #spans: OffsetPeriod[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  offsetAt(seconds: number): number {
    return (this.#known(seconds) ?? this.#learn(seconds)).offset;
  }

  /** What it would be in UTC if the clock there showed the same. */
  toWall(seconds: number): number {
    return seconds + this.offsetAt(seconds);
  }

  /**
   * Which second is called so, where `wall` is what it would be in UTC. Undefined close to a change of the clock, and where
   * too much is known already: whoever asks for a time of every century does not push out what is shown.
   */
  toEpoch(wall: number): number | undefined {
    const span = this.#known(wall) ?? (this.#spans.length < MOST_SPANS ? this.#learn(wall) : undefined);
    if (span === undefined) return undefined;
    const second = wall - span.offset;
    return span.from + TRANSITION_MARGIN <= second && second < span.to - TRANSITION_MARGIN ? second : undefined;
  }

  /** What is asked for often comes to stand in front. */
  #known(seconds: number): OffsetPeriod | undefined {
    const spans = this.#spans;
    for (let i = 0; i < spans.length; i++) {
      const span = spans[i] as OffsetPeriod;
      if (seconds < span.from || seconds >= span.to) continue;
      if (i > 0) [spans[i - 1], spans[i]] = [span, spans[i - 1] as OffsetPeriod];
      return span;
    }
    return undefined;
  }

  #learn(seconds: number): OffsetPeriod {
    const span = spanAt(seconds, this.#name);
    this.#spans = [span, ...this.#spans].slice(0, MOST_SPANS);
    return span;
  }
}

const zones = new Map<string, Zone>();

export function zoneOf(name: string): Zone {
  const zone = zones.get(name) ?? new Zone(name);
  zones.set(name, zone);
  return zone;
}

function spanAt(seconds: number, zone: string): OffsetPeriod {
  const time = Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
  const edge = (change: Temporal.ZonedDateTime | null) => change && change.epochMilliseconds / 1000;
  // 'previous' looks before the time itself, which may be the very second of the change.
  const from = edge(time.add({ seconds: 1 }).getTimeZoneTransition('previous')) ?? -Infinity;
  const to = edge(time.getTimeZoneTransition('next')) ?? Infinity;
  return { from, to, offset: time.offsetNanoseconds / 1e9 };
}
