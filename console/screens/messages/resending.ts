import type { Appointment, Message } from '@case-records/client';
import { wallTime } from '../../components/time.ts';
import { text } from './texts.ts';

/** An appointment and its messages. The service shows none of a deleted appointment. */
export type Background = { appointment: Appointment; messages: readonly Message[] };

const UNCERTAIN = /It may have gone out\.$/;

export const mayHaveArrived = ({ last_error }: Message): boolean => UNCERTAIN.test(last_error ?? '');

export const recipientOf = ({ channel }: Message, { email_recipient, sms_recipient }: Appointment): string =>
  (channel === 'email' ? email_recipient : sms_recipient) ?? '';

/** Returns why the message cannot be sent again, by the rules of the service; undefined if it can. */
export function refusalOf(message: Message, background: Background | undefined, timeZone: string): string | undefined {
  const { kind, state, channel } = message;
  const { refused } = text;
  if (state === 'scheduled') return message.attempts > 0 ? refused.retrying : refused.waiting;
  if (state === 'cancelled') return refused.withdrawn;
  if (state === 'skipped') return refused.skipped;
  if (kind === 'cancellation') return refused.cancellation;
  if (!background) return refused.deleted;
  const { appointment, messages } = background;
  const now = new Date().toISOString();
  if (appointment.cancelled === 1) return refused.appointmentCancelled;
  if (kind === 'reminder' && Date.parse(appointment.start_time) <= Date.parse(now)) return refused.started;
  // The end is a wall time of the company. In the hour that a clock change repeats the service decides.
  if (appointment.end_time.slice(0, 16).replace(' ', 'T') <= wallTime(now, timeZone)) return refused.over;
  const isWaiting = (other: Message) => other.state === 'scheduled' && other.kind === kind && other.channel === channel;
  if (messages.some(isWaiting)) return refused.another;
  if (recipientOf(message, appointment) === '') return channel === 'email' ? refused.noEmail : refused.noNumber;
  return undefined;
}
