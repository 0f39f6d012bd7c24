import { addDays } from '../../components/time.ts';
import { instantOf, wallOf } from './axis.ts';

/**
 * What a change of an appointment will send, by the rules of docs/behaviour.md, from the appointment and the messages
 * that it has. The service decides; this tells the person before anything is saved.
 */

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What the service tells of a message. */
export type Message = {
  channel: Channel;
  kind: 'confirmation' | 'reminder' | 'cancellation';
  state: 'scheduled' | 'sent' | 'failed' | 'cancelled' | 'skipped';
  sent_at: string | null;
  sent_to: string | null;
};

/** What messages depend on. */
export type Plan = {
  start: number;
  end: number;
  location: string;
  isCancelled: boolean;
  recipient: Readonly<Record<Channel, string>>;
  reminder: Readonly<Record<Channel, boolean>>;
};

export type Notice =
  | {
      kind: 'confirmation' | 'again' | 'change' | 'waiting' | 'not_told' | 'cancellation';
      channel: Channel;
      to: string;
    }
  | { kind: 'reminder'; channel: Channel; to: string; due: number | undefined }
  | { kind: 'no_recipient' | 'over' | 'is_cancelled' | 'no_time' | 'reminder_off'; channel: Channel }
  | { kind: 'withdrawn'; count: number }
  | { kind: 'nothing' };

type Known = {
  messages: readonly Message[];
  now: number;
  timeZone: string;
  /** How many days before the start reminders are sent. A role that may not read it does not know. */
  leadDays: number | undefined;
};

/** Returns who knows of the appointment: the last message that reached a recipient decides. */
function toldOf(messages: readonly Message[], channel: Channel): string[] {
  const last = new Map<string, Message>();
  for (const message of messages) {
    if (message.state !== 'sent' || message.channel !== channel || !message.sent_to) continue;
    const key = addressOf(message.sent_to, channel);
    const known = last.get(key);
    if (!known || (message.sent_at ?? '') >= (known.sent_at ?? '')) last.set(key, message);
  }
  return [...last.values()].filter(({ kind }) => kind !== 'cancellation').map(({ sent_to }) => sent_to ?? '');
}

/** Returns what saving will send. `confirm`: the confirmations that the person has asked for. */
export function noticesOfSaving(
  after: Plan,
  before: Plan | undefined,
  confirm: Readonly<Record<Channel, boolean>>,
  known: Known,
): Notice[] {
  const notices = CHANNELS.flatMap((channel) => [
    ...confirmations(channel, after, before, confirm[channel], known),
    ...reminders(channel, after, before, known),
  ]);
  return notices.length > 0 ? notices : [{ kind: 'nothing' }];
}

function confirmations(
  channel: Channel,
  after: Plan,
  before: Plan | undefined,
  isAsked: boolean,
  { messages, now }: Known,
): Notice[] {
  const to = after.recipient[channel];
  const told = toldOf(messages, channel);
  const isChanged = before !== undefined && (before.start !== after.start || before.location !== after.location);
  const isOver = after.end <= now;
  const knows = told.some((one) => isSame(one, to, channel));
  const notices: Notice[] = [];
  if (isAsked) {
    if (!to) notices.push({ kind: 'no_recipient', channel });
    else if (after.isCancelled) notices.push({ kind: 'is_cancelled', channel });
    else if (isOver) notices.push({ kind: 'over', channel });
    else notices.push({ kind: knows ? (isChanged ? 'change' : 'again') : 'confirmation', channel, to });
  } else if (before && to && isWaiting(messages, channel, 'confirmation')) {
    notices.push({ kind: 'waiting', channel, to });
  }
  if (isChanged && !after.isCancelled && !isOver) {
    for (const one of told) {
      if (!isAsked || !isSame(one, to, channel)) notices.push({ kind: 'not_told', channel, to: one });
    }
  }
  return notices;
}

function reminders(channel: Channel, after: Plan, before: Plan | undefined, known: Known): Notice[] {
  const to = after.recipient[channel];
  if (before?.reminder[channel] && !after.reminder[channel]) {
    return isWaiting(known.messages, channel, 'reminder') ? [{ kind: 'reminder_off', channel }] : [];
  }
  const isNew = !before || before.start !== after.start || !before.reminder[channel] || !before.recipient[channel];
  if (!after.reminder[channel] || !isNew || after.isCancelled) return [];
  if (!to) return [{ kind: 'no_recipient', channel }];
  const due = reminderDue(after.start, known);
  return due === 'never' ? [{ kind: 'no_time', channel }] : [{ kind: 'reminder', channel, to, due }];
}

const HOUR_MS = 60 * 60_000;

function reminderDue(start: number, { now, timeZone, leadDays }: Known): number | undefined | 'never' {
  const hourBefore = start - HOUR_MS;
  if (hourBefore < now) return 'never';
  if (leadDays === undefined || Number.isNaN(start)) return undefined;
  const wall = wallOf(start, timeZone);
  const due = instantOf(`${addDays(wall.slice(0, 10), -leadDays)}${wall.slice(10)}`, timeZone);
  return due >= now && due < start ? due : hourBefore;
}

/** Returns what cancelling or deleting will send. */
export function noticesOfEnding({ end, isCancelled }: Plan, { messages, now }: Known): Notice[] {
  const told =
    end <= now || isCancelled
      ? []
      : CHANNELS.flatMap((channel) => toldOf(messages, channel).map((to) => ({ channel, to })));
  const waiting = messages.filter(({ state, kind }) => state === 'scheduled' && kind !== 'cancellation').length;
  const notices: Notice[] = told.map(({ channel, to }) => ({ kind: 'cancellation', channel, to }));
  if (waiting > 0) notices.push({ kind: 'withdrawn', count: waiting });
  return notices.length > 0 ? notices : [{ kind: 'nothing' }];
}

const isWaiting = (messages: readonly Message[], channel: Channel, kind: Message['kind']): boolean =>
  messages.some((one) => one.channel === channel && one.kind === kind && one.state === 'scheduled');

const PHONE_DIGITS = 9;

/** A number is compared by its last digits, because it goes out with its country code, however it was written. */
const addressOf = (to: string, channel: Channel): string =>
  channel === 'email' ? to.toLowerCase() : to.replaceAll(/\D/g, '').slice(-PHONE_DIGITS);

const isSame = (a: string, b: string, channel: Channel): boolean => addressOf(a, channel) === addressOf(b, channel);
