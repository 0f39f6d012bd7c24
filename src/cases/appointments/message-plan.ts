import type { Company } from '../../kernel/context.ts';
import type { Instant } from '../../kernel/time/time.ts';
import { CHANNELS, type Channel, type Kind, REQUESTABLE_KINDS } from './messages/message.ts';
import { isDayBefore, reminderTime } from './reminder-time.ts';

/**
 * Decides which messages a change of an appointment schedules or withdraws. Pure: only the database knows whether a
 * message has been sent when the plan is carried out, and the statements leave such messages alone.
 */

/** What a request says about one channel; undefined if it does not mention it. */
export type ChannelRequest = { confirmation?: boolean | undefined; reminder?: boolean | undefined };

export type PlannedAppointment = {
  start: Instant;
  end: Instant;
  recipient: Record<Channel, string | null>;
  reminder: Record<Channel, boolean>;
  /** Confirmations of a cancelled appointment are skipped, and its reminders stay withdrawn. */
  cancelled: boolean;
};

export type PlannedMessage = {
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
  after: PlannedAppointment,
  before: PlannedAppointment | undefined,
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
export function planReminders(appointment: PlannedAppointment, now: Instant, company: Company): MessagePlan {
  const plan = planMessages(appointment, undefined, { email: {}, sms: {} }, now, company);
  if (!appointment.cancelled) {
    plan.withdraw.push(...CHANNELS.map((channel) => ({ channel, kind: 'cancellation', state: 'cancelled' }) as const));
  }
  return plan;
}

/** For an appointment that is cancelled. The statement finds out which recipients need a cancellation. */
export const planCancellation = (now: Instant): MessagePlan => ({
  insert: CHANNELS.map((channel) => ({
    channel,
    kind: 'cancellation',
    state: 'scheduled',
    due: now,
    dayBefore: false,
  })),
  withdraw: CHANNELS.flatMap((channel) =>
    REQUESTABLE_KINDS.map((kind) => ({ channel, kind, state: 'cancelled' as const })),
  ),
});

export const NO_MESSAGES: MessagePlan = { insert: [], withdraw: [] };
