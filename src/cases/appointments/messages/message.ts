import type { PlainMail } from '../../../kernel/plain-mail.ts';
import type { Instant } from '../../../kernel/time/time.ts';

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

export const REQUESTABLE_KINDS = ['confirmation', 'reminder'] as const;
/**
 * A cancellation cannot be requested: the service sends one to remove an appointment from the client's calendar, if a
 * confirmation has put it there.
 */
export type Kind = (typeof REQUESTABLE_KINDS)[number] | 'cancellation';

/** A message with everything its text mentions, read when the attempt to send it started. */
export type OutgoingMessage = {
  id: string;
  appointmentId: string;
  channel: Channel;
  kind: Kind;
  due: Instant;
  start: Instant;
  end: Instant;
  recipient: string;
  location: string | null;
  joinUrl: string | null;
  /** Increases with every change of the appointment. */
  version: number;
  company: string;
  timeZone: string;
  phoneRegion: string;
  senderName: string | null;
  senderAddress: string | null;
  adviser: string;
  customer: string | null;
};

/** The address or number in the form that was used, and the provider's identifier of the message. */
export type Receipt = { to: string; providerId: string | null };

export type Sender = {
  send(message: OutgoingMessage, now: Instant, signal: AbortSignal): Promise<Receipt>;
  close(): void;
};

export type EmailSender = Sender & {
  sendPlain(mail: PlainMail, now: Instant, signal: AbortSignal): Promise<Receipt>;
};

export type SmsSender = Sender & {
  /** `recipient` is in E.164 form. */
  sendText(sms: TextMessage, signal: AbortSignal): Promise<Receipt>;
};

/** An SMS as it is sent. */
export type TextMessage = { id: string; due: Instant; recipient: string; text: string };

/** Why a message was not sent. The company's staff can read the text, so it holds no secrets. */
export class DeliveryError extends Error {
  /** The same message would be rejected again. */
  readonly permanent: boolean;
  /** The message was handed over and no response came, so it may have been sent. */
  readonly uncertain: boolean;

  constructor(message: string, options: { permanent: boolean; uncertain?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.permanent = options.permanent;
    this.uncertain = options.uncertain ?? false;
  }
}
