import type { PlainMail } from '../../../kernel/plain-mail.ts';
import type { Instant } from '../../../kernel/time/time.ts';

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

export const REQUESTABLE_KINDS = ['confirmation', 'reminder'] as const;
/** A cancellation cannot be requested: the service sends one to each recipient that knows of the appointment. */
export type Kind = (typeof REQUESTABLE_KINDS)[number] | 'cancellation';

export type Customer = { title: string | null; first_names: string | null; last_name: string | null };

/** The texts of a message in the company's own words, as templates; null for the text of the service. */
export type OwnTexts = { subject: string | null; email_text: string | null; sms_text: string | null };

/** A message with everything its text mentions, read when the attempt to send it started. */
export type OutgoingMessage = {
  id: string;
  appointmentId: string;
  channel: Channel;
  kind: Kind;
  due: Instant;
  /** Of a cancellation: the time and place that the recipient was told. */
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
  /** Null if the recipient is not known as a customer of the case. */
  customer: Customer | null;
  /** What the recipient was told last; null if the recipient does not know of the appointment. */
  earlier: { start: Instant; end: Instant | null; location: string | null } | null;
  /** The organizer of the calendar entry that the mail has; null if it has none. */
  organizer: { name: string; address: string } | null;
  /** Whom clients can turn to. `line` is null for a sentence made of the others, and empty for none. */
  contact: { email: string | null; phone: string | null; line: string | null };
  /** Null for the default. */
  signature: string | null;
  /** A confirmation of a change has words of its own. Null if the company has none for this message. */
  ownTexts: Readonly<Partial<Record<Kind | 'change', OwnTexts>>> | null;
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
