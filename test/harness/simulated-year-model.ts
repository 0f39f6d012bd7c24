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

type Period = { start: Temporal.Instant; end: Temporal.Instant };

type Side = {
  recipient: string | null;
  /** The time that each recipient knows of. */
  told: Map<string, Period>;
  /** The time of the entry in each recipient's calendar. */
  entries: Map<string, Period>;
  /** The recipients that have to hear that the appointment is off, and since when. */
  off: Map<string, Temporal.Instant>;
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
};

const side = (): Side => ({
  recipient: null,
  told: new Map(),
  entries: new Map(),
  off: new Map(),
  asked: undefined,
  wanted: false,
  reminder: undefined,
  reminded: new Set(),
});
const before = (a: Temporal.Instant, b: Temporal.Instant) => a.epochNanoseconds < b.epochNanoseconds;
const same = (a: Period, b: Period) => a.start.equals(b.start) && a.end.equals(b.end);

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
        if (!before(now, one.end)) continue;
        for (const recipient of its.told.keys()) if (!its.off.has(recipient)) its.off.set(recipient, now);
      }
    } else {
      for (const its of sides) {
        this.withdrawn += its.off.size;
        its.off.clear();
        this.#place(one, its, now);
      }
    }
  }

  /** The workers run. */
  due(now: Temporal.Instant): void {
    for (const one of this.#all.values()) {
      for (const channel of ['email', 'sms'] as const) {
        const its = one[channel];
        if (its.asked && before(now, one.end)) {
          const told = its.told.get(its.recipient ?? '');
          const isChange = told !== undefined && !same(told, one);
          this.#tell(one, channel, isChange ? 'change' : 'confirmation', its.asked, channel === 'email');
        }
        its.asked = undefined;
        if (its.reminder && !before(now, its.reminder)) {
          const entry = its.entries.get(its.recipient ?? '');
          this.#tell(one, channel, 'reminder', its.reminder, entry !== undefined && !same(entry, one));
          its.reminded.add(one.start.toString());
          if ([23, 25].includes(its.reminder.until(one.start).total('hours'))) this.overClockChange++;
          its.reminder = undefined;
        }
        for (const [recipient, since] of its.off) {
          if (!before(now, one.end)) continue;
          const told = its.told.get(recipient) ?? one;
          this.#expect(one.room, channel, 'cancellation', told.start, since, its.entries.has(recipient));
          its.told.delete(recipient);
          its.entries.delete(recipient);
        }
        its.off.clear();
      }
    }
  }

  /** The recipient is told the time of the appointment, in the mail's calendar file too if it has one. */
  #tell(one: Appointment, channel: 'email' | 'sms', kind: string, at: Temporal.Instant, hasFile: boolean): void {
    const its = one[channel];
    this.#expect(one.room, channel, kind, one.start, at, hasFile);
    const { start, end } = one;
    its.told.set(its.recipient ?? '', { start, end });
    if (hasFile) its.entries.set(its.recipient ?? '', { start, end });
  }

  #expect(
    room: number,
    channel: string,
    kind: string,
    start: Temporal.Instant,
    at: Temporal.Instant,
    hasFile: boolean,
  ): void {
    const { day, month, hour, minute } = start.toZonedDateTimeISO('Europe/London');
    const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
    const said = `${day} ${MONTHS[month - 1]}, ${time}${hasFile ? ' with calendar file' : ''}`;
    this.expected.push({ what: `${room} ${channel} ${kind} of ${said}`, at });
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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The same wall time on the day before in London; an hour before the start if that has passed; otherwise none. */
function dueTime(start: Temporal.Instant, now: Temporal.Instant): Temporal.Instant | undefined {
  const wall = start.toZonedDateTimeISO('Europe/London').toPlainDateTime();
  const dayBefore = wall.subtract({ hours: 24 }).toZonedDateTime('Europe/London').toInstant();
  if (!before(dayBefore, now)) return dayBefore;
  const hourBefore = start.subtract({ minutes: 60 });
  return before(hourBefore, now) ? undefined : hourBefore;
}
