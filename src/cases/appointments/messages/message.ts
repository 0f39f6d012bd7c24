import type { Instant } from '../../../kernel/time/time.ts';

export const CHANNELS = ['email', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];
export type Kind = 'confirmation' | 'reminder' | 'cancellation';

/** One message with everything that it speaks of, as it stood when its sending began. */
export type Outgoing = {
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
  /** Rises with every change of the appointment. */
  version: number;
  company: string;
  timeZone: string;
  phoneRegion: string;
  senderName: string | null;
  senderAddress: string | null;
  adviser: string;
  customer: string | null;
};

/** Where it went, in the form that was used, and what the provider calls it. */
export type Receipt = { to: string; providerId: string | null };

export type Sender = {
  send(message: Outgoing, now: Instant, signal: AbortSignal): Promise<Receipt>;
  close(): void;
};

/** A plain mail of the service itself, to people of a firm. */
export type Notice = { id: string; due: Instant; recipient: string; subject: string; text: string };

export type EmailSender = Sender & {
  tell(notice: Notice, now: Instant, signal: AbortSignal): Promise<Receipt>;
};

/** Why a message did not go out; the text is for the firm's people and holds no secrets. */
export class DeliveryFault extends Error {
  /** The same message would be refused again. */
  readonly permanent: boolean;
  /** It was handed over and no answer came: it may have gone out all the same. */
  readonly unsure: boolean;

  constructor(message: string, options: { permanent: boolean; unsure?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.permanent = options.permanent;
    this.unsure = options.unsure ?? false;
  }
}
