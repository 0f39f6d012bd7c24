/** Predicts what must be sent by the rules of the specification and the decisions. Shares no code with the service. */

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
  /** A requested confirmation that has not been sent. */
  asked: Temporal.Instant | undefined;
  wanted: boolean;
  reminder: Temporal.Instant | undefined;
  /** Starts whose reminder has been sent. */
  reminded: Set<string>;
};

type Appointment = {
  room: number;
  start: Temporal.Instant;
  end: Temporal.Instant;
  email: Side;
  sms: Side;
  deleted: boolean;
  cancelled: boolean;
  /** Whether the client's calendar has the appointment, and since when it must be removed from there. */
  inCalendar: boolean;
  off: Temporal.Instant | undefined;
};

const side = (): Side => ({
  recipient: null,
  asked: undefined,
  wanted: false,
  reminder: undefined,
  reminded: new Set(),
});
const before = (a: Temporal.Instant, b: Temporal.Instant) => a.epochNanoseconds < b.epochNanoseconds;

export class YearModel {
  readonly expected: { what: string; at: Temporal.Instant }[] = [];
  withdrawn = 0;
  /** Reminders with a clock change before the start: 23 or 25 hours earlier. */
  overClockChange = 0;
  readonly #all = new Map<number, Appointment>();

  apply(room: number, now: Temporal.Instant, change: Change): void {
    const known = this.#all.get(room);
    const one: Appointment = known ?? {
      room,
      start: now,
      end: now,
      email: side(),
      sms: side(),
      deleted: false,
      cancelled: false,
      inCalendar: false,
      off: undefined,
    };
    this.#all.set(room, one);
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
    if (confirm === true && its.recipient && before(now, one.end) && !one.cancelled) its.asked ??= now;
    if (confirm === false || !its.recipient) this.#withdraw(its, 'asked');
    if (remind !== undefined) its.wanted = remind;
    if (moved || !its.wanted || !its.recipient) this.#withdraw(its, 'reminder');
    if (moved || remind === true || addressed) this.#place(one, its, now);
  }

  #withdraw(its: Side, what: 'asked' | 'reminder'): void {
    if (its[what]) this.withdrawn++;
    its[what] = undefined;
  }

  #place(one: Appointment, its: Side, now: Temporal.Instant): void {
    if (!its.wanted || !its.recipient || one.cancelled || its.reminder) return;
    if (!its.reminded.has(one.start.toString())) its.reminder = dueTime(one.start, now);
  }

  /** The appointment was deleted, restored, cancelled or reinstated. */
  turn(room: number, now: Temporal.Instant, change: { deleted: boolean } | { cancelled: boolean }): void {
    const one = this.#all.get(room);
    if (!one) return;
    Object.assign(one, change);
    const sides = [one.email, one.sms];
    if (one.deleted || one.cancelled) {
      for (const its of sides) {
        this.#withdraw(its, 'asked');
        this.#withdraw(its, 'reminder');
      }
      if (one.inCalendar && before(now, one.end)) one.off ??= now;
    } else {
      if (one.off) this.withdrawn++;
      one.off = undefined;
      for (const its of sides) this.#place(one, its, now);
    }
  }

  /** The workers run. */
  due(now: Temporal.Instant): void {
    for (const one of this.#all.values()) {
      for (const channel of ['email', 'sms'] as const) {
        const its = one[channel];
        if (its.asked && before(now, one.end)) {
          this.#expect(one, `${channel} confirmation`, its.asked);
          if (channel === 'email') one.inCalendar = true;
        }
        its.asked = undefined;
        if (its.reminder && !before(now, its.reminder)) {
          this.#expect(one, `${channel} reminder`, its.reminder);
          its.reminded.add(one.start.toString());
          if ([23, 25].includes(its.reminder.until(one.start).total('hours'))) this.overClockChange++;
          its.reminder = undefined;
        }
      }
      if (one.off && before(now, one.end)) {
        this.#expect(one, 'email cancellation', one.off);
        one.inCalendar = false;
      }
      one.off = undefined;
    }
  }

  #expect({ room }: Appointment, what: string, at: Temporal.Instant): void {
    this.expected.push({ what: `${room} ${what}`, at });
  }

  nextDue(): Temporal.Instant | undefined {
    let least: Temporal.Instant | undefined;
    for (const { email, sms } of this.#all.values()) {
      for (const { reminder } of [email, sms]) {
        if (reminder && (!least || before(reminder, least))) least = reminder;
      }
    }
    return least;
  }
}

/** The same wall time on the day before in London; an hour before the start if that has passed; otherwise none. */
function dueTime(start: Temporal.Instant, now: Temporal.Instant): Temporal.Instant | undefined {
  const wall = start.toZonedDateTimeISO('Europe/London').toPlainDateTime();
  const dayBefore = wall.subtract({ hours: 24 }).toZonedDateTime('Europe/London').toInstant();
  if (!before(dayBefore, now)) return dayBefore;
  const hourBefore = start.subtract({ minutes: 60 });
  return before(hourBefore, now) ? undefined : hourBefore;
}
