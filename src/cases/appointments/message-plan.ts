import type { Company } from '../../kernel/context.ts';
import { newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/statement.ts';
import { type Instant, toSql } from '../../kernel/time/time.ts';
import { isDayBefore, reminderTime } from './reminder-time.ts';
import type { Part } from './side-effects.sql.ts';

/**
 * What a create or an update means for the messages of an appointment. Pure: how far a message is when it is written, only
 * the database knows, and the statements leave alone what has gone out.
 */

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What a request says about one channel. Undefined: it does not speak of it. */
export type Asked = { confirmation?: boolean | undefined; reminder?: boolean | undefined };

export type Appointment = {
  start: Instant;
  end: Instant;
  recipient: Record<Channel, string | null>;
  reminder: Record<Channel, boolean>;
  /** Nobody is told of it: confirmations are skipped and reminders stand withdrawn until it takes place again. */
  cancelled: boolean;
};

const ASKED_KINDS = ['confirmation', 'reminder'] as const;
/** Nobody asks for a cancellation: it takes an appointment out of the client's calendar, where a confirmation put it. */
type Kind = (typeof ASKED_KINDS)[number] | 'cancellation';

type Message = {
  channel: Channel;
  kind: Kind;
  state: 'scheduled' | 'cancelled' | 'skipped';
  due: Instant;
  dayBefore: boolean;
};
type Withdrawal = { channel: Channel; kind: Kind; state: 'cancelled' | 'skipped' };

export type MessagePlan = { place: Message[]; withdraw: Withdrawal[] };

export function planMessages(
  after: Appointment,
  before: Appointment | undefined,
  asked: Record<Channel, Asked>,
  now: Instant,
  company: Company,
): MessagePlan {
  const plan: MessagePlan = { place: [], withdraw: [] };
  const moved = !before || !after.start.equals(before.start);
  const due = reminderTime(after.start, now, company.timeZone, company.reminderLeadDays);
  const pointless = after.cancelled || Temporal.Instant.compare(after.end, now) <= 0;
  for (const channel of CHANNELS) {
    const { confirmation, reminder } = asked[channel];
    const recipient = after.recipient[channel];
    const unaddressed = recipient === null && before !== undefined && before.recipient[channel] !== null;

    const sendable = recipient !== null && !pointless;
    if (confirmation) {
      plan.place.push({
        channel,
        kind: 'confirmation',
        state: sendable ? 'scheduled' : 'skipped',
        due: now,
        dayBefore: false,
      });
    }
    if (confirmation === false) {
      plan.withdraw.push({ channel, kind: 'confirmation', state: 'cancelled' });
    } else if (unaddressed || (confirmation && !sendable)) {
      plan.withdraw.push({ channel, kind: 'confirmation', state: 'skipped' });
    }

    const addressed = before !== undefined && recipient !== null && before.recipient[channel] === null;
    if (reminder === false) {
      plan.withdraw.push({ channel, kind: 'reminder', state: 'cancelled' });
    } else if (unaddressed && before.reminder[channel] && !moved) {
      plan.withdraw.push({ channel, kind: 'reminder', state: 'skipped' });
    } else if (after.reminder[channel] && (moved || reminder || addressed)) {
      const state = after.cancelled ? 'cancelled' : recipient && due ? 'scheduled' : 'skipped';
      const dayBefore = due !== undefined && isDayBefore(due, after.start, company.timeZone);
      plan.place.push({ channel, kind: 'reminder', state, due: due ?? now, dayBefore });
    }
  }
  return plan;
}

/** The appointment takes place after all: the reminders that are wanted, and no confirmation. */
export function planReminders(appointment: Appointment, now: Instant, company: Company): MessagePlan {
  const plan = planMessages(appointment, undefined, { email: {}, sms: {} }, now, company);
  if (!appointment.cancelled) plan.withdraw.push({ channel: 'email', kind: 'cancellation', state: 'cancelled' });
  return plan;
}

/** The appointment does not take place. Whether there is anybody to be told by email, the statement finds out. */
export const planCancellation = (now: Instant): MessagePlan => ({
  place: [{ channel: 'email', kind: 'cancellation', state: 'scheduled', due: now, dayBefore: false }],
  withdraw: CHANNELS.flatMap((channel) => ASKED_KINDS.map((kind) => ({ channel, kind, state: 'cancelled' as const }))),
});

export const NO_MESSAGES: MessagePlan = { place: [], withdraw: [] };

/** What is placed, in the order of the parameters of a booking. */
export const messageColumns = ({ place }: MessagePlan): unknown[] => {
  const [ids, channels, ...rest] = placedColumns(place);
  return [ids, channels, pgArrayLiteral(place.map(({ kind }) => kind)), ...rest];
};

const placedColumns = (place: Message[]): unknown[] => [
  pgArrayLiteral(place.map(() => newId())),
  pgArrayLiteral(place.map(({ channel }) => channel)),
  pgArrayLiteral(place.map(({ state }) => state)),
  pgArrayLiteral(place.map(({ due }) => toSql(due))),
  pgArrayLiteral(place.map(({ dayBefore }) => dayBefore)),
];

/** Channel, kind, state, whether it is for the day before, whether for the start that is to be, whether it was sent again by hand. */
export type StoredMessage = string;

/**
 * What an appointment says of its messages: of each channel the two words, and whether the reminder is for the day before.
 * Those that are planned are the latest; `stored` are from the oldest to the newest, and a reminder of the present start
 * comes before those of others. The database has the same rule for what it reads (`storedWords`). They are as they stood when
 * the change was decided on: what is sent between that and the writing shows in the next answer.
 */
export function wordsOf({ place }: MessagePlan, stored: StoredMessage[] = []): unknown[] {
  return CHANNELS.flatMap((channel) => {
    const [confirmation, reminder] = ASKED_KINDS.map(
      (kind) =>
        place.find((message) => message.channel === channel && message.kind === kind) ??
        latestOf(stored, `${channel} ${kind} `),
    );
    const dayBefore = reminder?.dayBefore && STANDING.has(reminder.state);
    return [confirmation?.state, reminder?.state, Number(dayBefore ?? false)];
  });
}

function latestOf(stored: StoredMessage[], kind: string): { state: string; dayBefore: boolean } | undefined {
  const ofKind = stored.filter((message) => message.startsWith(kind));
  const latest = ofKind.findLast((message) => OF_PRESENT_START.test(message)) ?? ofKind.at(-1);
  if (latest === undefined) return undefined;
  const [state = '', dayBefore] = latest.slice(kind.length).split(' ');
  return { state: state === 'sending' ? 'scheduled' : state, dayBefore: dayBefore === 'true' };
}

const OF_PRESENT_START = /^\w+ reminder \w+ \w+ true/;
const FIRST_OF_START = /^\w+ reminder \w+ \w+ true false$/;
/** What will remind, has done so, or failed to. */
const STANDING = new Set(['scheduled', 'sent', 'failed']);

/** The parts that a change needs for the plan, each with its parameters. */
export function partsOf(plan: MessagePlan, stored: StoredMessage[]): Map<Part, unknown[]> {
  const { place, withdraw } = plan;
  const parts = new Map<Part, unknown[]>();
  if (withdraw.length > 0) {
    const columns = (['channel', 'kind', 'state'] as const).map((field) =>
      pgArrayLiteral(withdraw.map((one) => one[field])),
    );
    parts.set('withdrawn', columns);
  }
  const ofKind = (kind: Kind) => place.filter((message) => message.kind === kind);
  const confirmations = ofKind('confirmation');
  if (confirmations.length > 0) parts.set('confirmations', placedColumns(confirmations));
  const reminders = ofKind('reminder');
  // Whether any were ever placed for the start that it is to have.
  const renewed = stored.some((message) => FIRST_OF_START.test(message));
  if (reminders.length > 0) parts.set(renewed ? 'renewed' : 'reminders', placedColumns(reminders));
  // What else is to be done depends on how far the messages are, which the statement alone sees.
  if ([...parts.keys()].every((part) => part === 'reminders')) parts.set('words', wordsOf(plan, stored));
  if (ofKind('cancellation').length > 0) parts.set('cancellations', [newId()]);
  return parts;
}
