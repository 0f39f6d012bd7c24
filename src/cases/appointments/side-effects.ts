import { newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/inputs.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { MessagePlan, PlannedMessage } from './message-plan.ts';
import type { Channel, Kind } from './messages/message.ts';
import { ACTIVE_REMINDER_STATES } from './projection.sql.ts';

/** Turns the plan of a change into the inputs of its statement (`side-effects.sql.ts`). */

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
