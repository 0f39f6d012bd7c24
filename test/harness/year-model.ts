/** What must go out, by the rules of the specification and the decisions; it shares no code with the service. */

export type Change = {
  start?: Temporal.Instant;
  minutes?: number;
  email?: string | null;
  sms?: string | null;
  emailConfirmation?: boolean;
  emailReminder?: boolean;
  smsConfirmation?: boolean;
  smsReminder?: boolean;
};

type Side = {
  recipient: string | null;
  /** A confirmation that has been asked for and has not gone out. */
  asked: Temporal.Instant | undefined;
  confirmed: boolean;
  wanted: boolean;
  reminder: Temporal.Instant | undefined;
  /** Starts that a reminder has gone out for. */
  reminded: Set<string>;
};
type Appointment = { room: number; start: Temporal.Instant; end: Temporal.Instant; email: Side; sms: Side };

const side = (): Side => ({
  recipient: null,
  asked: undefined,
  confirmed: false,
  wanted: false,
  reminder: undefined,
  reminded: new Set(),
});
const before = (a: Temporal.Instant, b: Temporal.Instant) => a.epochNanoseconds < b.epochNanoseconds;

export class YearModel {
  readonly expected: { what: string; at: Temporal.Instant }[] = [];
  withdrawn = 0;
  readonly #live = new Map<number, Appointment>();

  apply(room: number, now: Temporal.Instant, change: Change): void {
    const known = this.#live.get(room);
    const one: Appointment = known ?? { room, start: now, end: now, email: side(), sms: side() };
    this.#live.set(room, one);
    const moved = change.start !== undefined && (!known || !change.start.equals(one.start));
    if (change.start) {
      one.start = change.start;
      one.end = change.start.add({ minutes: change.minutes ?? 60 });
    }
    this.#applySide(one, one.email, now, moved, change.email, change.emailConfirmation, change.emailReminder, !known);
    this.#applySide(one, one.sms, now, moved, change.sms, change.smsConfirmation, change.smsReminder, !known);
  }

  #applySide(
    one: Appointment,
    its: Side,
    now: Temporal.Instant,
    moved: boolean,
    recipient: string | null | undefined,
    confirm: boolean | undefined,
    remind: boolean | undefined,
    isNew: boolean,
  ): void {
    const addressed = !isNew && recipient !== undefined && recipient !== null && its.recipient === null;
    if (recipient !== undefined) its.recipient = recipient;
    if (confirm === true && its.recipient && before(now, one.end)) its.asked ??= now;
    if (its.asked && (confirm === false || !its.recipient)) {
      its.asked = undefined;
      this.withdrawn++;
    }
    if (remind !== undefined) its.wanted = remind;
    if (moved && its.reminder) {
      its.reminder = undefined;
      this.withdrawn++;
    }
    if (its.reminder && (!its.wanted || !its.recipient)) {
      its.reminder = undefined;
      this.withdrawn++;
    }
    const again = moved || remind === true || addressed;
    if (its.wanted && its.recipient && again && !its.reminder && !its.reminded.has(one.start.toString())) {
      its.reminder = dueTime(one.start, now);
    }
  }

  remove(room: number, now: Temporal.Instant): void {
    const one = this.#live.get(room);
    if (!one) return;
    this.#live.delete(room);
    for (const its of [one.email, one.sms]) {
      if (its.asked) this.withdrawn++;
      if (its.reminder) this.withdrawn++;
    }
    if (one.email.confirmed && before(now, one.end))
      this.expected.push({ what: `${room} email cancellation`, at: now });
  }

  /** The workers come by. */
  due(now: Temporal.Instant): void {
    for (const one of this.#live.values()) {
      for (const [channel, its] of [
        ['email', one.email],
        ['sms', one.sms],
      ] as const) {
        if (its.asked) {
          if (before(now, one.end)) {
            this.expected.push({ what: `${one.room} ${channel} confirmation`, at: its.asked });
            its.confirmed = true;
          }
          its.asked = undefined;
        }
        if (its.reminder && !before(now, its.reminder)) {
          this.expected.push({ what: `${one.room} ${channel} reminder`, at: its.reminder });
          its.reminded.add(one.start.toString());
          its.reminder = undefined;
        }
      }
    }
  }

  nextDue(): Temporal.Instant | undefined {
    const times = [...this.#live.values()].flatMap(({ email, sms }) =>
      [email, sms].flatMap((its) => its.reminder ?? []),
    );
    return times.reduce<Temporal.Instant | undefined>(
      (least, at) => (least && before(least, at) ? least : at),
      undefined,
    );
  }
}

/** The same wall time of the day before in London, an hour before where that has passed, or none. */
function dueTime(start: Temporal.Instant, now: Temporal.Instant): Temporal.Instant | undefined {
  const wall = start.toZonedDateTimeISO('Europe/London').toPlainDateTime();
  const dayBefore = wall.subtract({ hours: 24 }).toZonedDateTime('Europe/London').toInstant();
  if (!before(dayBefore, now)) return dayBefore;
  const hourBefore = start.subtract({ minutes: 60 });
  return before(hourBefore, now) ? undefined : hourBefore;
}
