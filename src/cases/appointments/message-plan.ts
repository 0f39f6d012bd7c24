import type { Company } from '../../kernel/context.ts';
import { newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/inputs.ts';
import { type Instant, toSql } from '../../kernel/time/time.ts';
import { CHANNELS, type Channel, type Kind, REQUESTABLE_KINDS } from './messages/message.ts';
import { ACTIVE_REMINDER_STATES } from './projection.sql.ts';
import { isDayBefore, reminderTime } from './reminder-time.ts';

/**
 * Decides which messages a change of an appointment schedules or withdraws. Pure: only the database knows whether a
 * message has been sent when the plan is carried out, and the statements leave such messages alone.
 */

/** What a request says about one channel; undefined if it does not mention it. */
export type ChannelRequest = { confirmation?: boolean | undefined; reminder?: boolean | undefined };

export type Appointment = {
  start: Instant;
  end: Instant;
  recipient: Record<Channel, string | null>;
  reminder: Record<Channel, boolean>;
  /** Confirmations of a cancelled appointment are skipped, and its reminders stay withdrawn. */
  cancelled: boolean;
};

type PlannedMessage = {
  channel: Channel;
  kind: Kind;
  state: 'scheduled' | 'cancelled' | 'skipped';
  due: Instant;
  dayBefore: boolean;
};
type Withdrawal = { channel: Channel; kind: Kind; state: 'cancelled' | 'skipped' };

/**
 * `insert`: messages to create. `withdraw`: which messages to withdraw if they have not been sent, and their new state.
 */
export type MessagePlan = { insert: PlannedMessage[]; withdraw: Withdrawal[] };

export function planMessages(
  after: Appointment,
  before: Appointment | undefined,
  requested: Record<Channel, ChannelRequest>,
  now: Instant,
  company: Company,
): MessagePlan {
  const plan: MessagePlan = { insert: [], withdraw: [] };
  const moved = !before || !after.start.equals(before.start);
  const due = reminderTime(after.start, now, company.timeZone, company.reminderLeadDays);
  const pointless = after.cancelled || Temporal.Instant.compare(after.end, now) <= 0;
  for (const channel of CHANNELS) {
    const { confirmation, reminder } = requested[channel];
    const recipient = after.recipient[channel];
    const recipientRemoved = recipient === null && before !== undefined && before.recipient[channel] !== null;

    const sendable = recipient !== null && !pointless;
    if (confirmation) {
      plan.insert.push({
        channel,
        kind: 'confirmation',
        state: sendable ? 'scheduled' : 'skipped',
        due: now,
        dayBefore: false,
      });
    }
    if (confirmation === false) {
      plan.withdraw.push({ channel, kind: 'confirmation', state: 'cancelled' });
    } else if (recipientRemoved || (confirmation && !sendable)) {
      plan.withdraw.push({ channel, kind: 'confirmation', state: 'skipped' });
    }

    const recipientAdded = before !== undefined && recipient !== null && before.recipient[channel] === null;
    if (reminder === false) {
      plan.withdraw.push({ channel, kind: 'reminder', state: 'cancelled' });
    } else if (recipientRemoved && before.reminder[channel] && !moved) {
      plan.withdraw.push({ channel, kind: 'reminder', state: 'skipped' });
    } else if (after.reminder[channel] && (moved || reminder || recipientAdded)) {
      const state = after.cancelled ? 'cancelled' : recipient && due ? 'scheduled' : 'skipped';
      const dayBefore = due !== undefined && isDayBefore(due, after.start, company.timeZone);
      plan.insert.push({ channel, kind: 'reminder', state, due: due ?? now, dayBefore });
    }
  }
  return plan;
}

/** For an appointment that is restored or reinstated: schedules the requested reminders, but no confirmation. */
export function planReminders(appointment: Appointment, now: Instant, company: Company): MessagePlan {
  const plan = planMessages(appointment, undefined, { email: {}, sms: {} }, now, company);
  if (!appointment.cancelled) plan.withdraw.push({ channel: 'email', kind: 'cancellation', state: 'cancelled' });
  return plan;
}

/** For an appointment that is cancelled. The statement finds out which calendars need a cancellation by email. */
export const planCancellation = (now: Instant): MessagePlan => ({
  insert: [{ channel: 'email', kind: 'cancellation', state: 'scheduled', due: now, dayBefore: false }],
  withdraw: CHANNELS.flatMap((channel) =>
    REQUESTABLE_KINDS.map((kind) => ({ channel, kind, state: 'cancelled' as const })),
  ),
});

export const NO_MESSAGES: MessagePlan = { insert: [], withdraw: [] };

/** The inputs of `newMessages`. */
export const newMessageInputs = (messages: PlannedMessage[]) => ({
  message_ids: pgArrayLiteral(messages.map(() => newId())),
  message_channels: pgArrayLiteral(messages.map(({ channel }) => channel)),
  message_kinds: pgArrayLiteral(messages.map(({ kind }) => kind)),
  message_states: pgArrayLiteral(messages.map(({ state }) => state)),
  message_due_at: pgArrayLiteral(messages.map(({ due }) => toSql(due))),
  message_day_before: pgArrayLiteral(messages.map(({ dayBefore }) => dayBefore)),
});

/** A message in the database, as `loadForUpdate` returns it. */
export type StoredMessage = {
  channel: Channel;
  kind: Kind;
  /** As an appointment shows them: see `shownState` and `shownDayBefore`. */
  state: string;
  day_before: boolean;
  /** Whether it is for the start that the appointment is to have. */
  for_new_start: boolean;
  resent: boolean;
};

/**
 * Returns the states of the messages that the appointment shows after the change. A planned message takes precedence
 * over the stored ones, which the database returns by precedence (`byPrecedence`). The states are those at the time of
 * the decision: a message that is sent before the change is written shows in the next answer.
 */
export function messageStates({ insert }: MessagePlan, stored: StoredMessage[] = []) {
  const shown = (channel: Channel, kind: Kind) => {
    const isSame = (message: { channel: Channel; kind: Kind }) => message.channel === channel && message.kind === kind;
    const planned = insert.find(isSame);
    if (!planned) return stored.find(isSame);
    return { state: planned.state, day_before: planned.dayBefore && ACTIVE_REMINDER_STATES.includes(planned.state) };
  };
  const [emailReminder, smsReminder] = [shown('email', 'reminder'), shown('sms', 'reminder')];
  return {
    email_confirmation: shown('email', 'confirmation')?.state,
    email_notification: emailReminder?.state,
    email_day_before: Number(emailReminder?.day_before ?? false),
    sms_confirmation: shown('sms', 'confirmation')?.state,
    sms_notification: smsReminder?.state,
    sms_day_before: Number(smsReminder?.day_before ?? false),
  };
}

/** Returns the side effects that carry out the plan, with their inputs; false for those that are not needed. */
export function sideEffectsOf(plan: MessagePlan, stored: StoredMessage[], hasMeeting: boolean) {
  const { insert, withdraw } = plan;
  const isPlanned = (kind: Kind) => insert.some((message) => message.kind === kind);
  const messages = newMessageInputs(insert);
  const reminderChannels = insert.filter(({ kind }) => kind === 'reminder').map(({ channel }) => channel);
  const reminders = { ...messages, reminder_channels: pgArrayLiteral(reminderChannels) };
  const hadReminder = stored.some(({ kind, for_new_start, resent }) => kind === 'reminder' && for_new_start && !resent);
  const renews = isPlanned('reminder') && hadReminder;
  // The result of these depends on which messages have been sent, which only the statement sees.
  const needsLookup = withdraw.length > 0 || isPlanned('confirmation') || renews;
  return {
    withdrawn: withdraw.length > 0 && {
      withdrawn_channels: pgArrayLiteral(withdraw.map(({ channel }) => channel)),
      withdrawn_kinds: pgArrayLiteral(withdraw.map(({ kind }) => kind)),
      withdrawn_states: pgArrayLiteral(withdraw.map(({ state }) => state)),
    },
    confirmations: isPlanned('confirmation') && messages,
    reminders: isPlanned('reminder') && !hadReminder && reminders,
    renewed: renews && reminders,
    cancellations: isPlanned('cancellation') && { cancellation_id: newId() },
    meeting: hasMeeting,
    states: !needsLookup && messageStates(plan, stored),
  };
}
