import { after } from 'node:test';
import pino from 'pino';
import { emailSender, type MailSettings } from '../../src/cases/appointments/messages/email.ts';
import type { OutgoingMessage, Receipt, Sender } from '../../src/cases/appointments/messages/message.ts';
import { messageQueues } from '../../src/cases/appointments/messages/message-queue.ts';
import { DeliveryCounters } from '../../src/kernel/jobs/delivery-counters.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';
import type { TestApp } from './app.ts';

/** A worker on the app's database and clock, driven step by step with `runOnce`. */
export function messageWorker(
  { db, connection, clock }: TestApp,
  { mail = {}, sms, email, slots = 32 }: { mail?: Partial<MailSettings>; sms?: Sender; email?: Sender; slots?: number },
): JobWorker {
  const settings = {
    smtpUrl: undefined,
    from: 'no-reply@service.example',
    domain: 'service.example',
    outbox: '/nowhere',
  };
  const logger = pino({ level: 'silent' });
  const outcomes = new DeliveryCounters();
  const senders = { email: email ?? emailSender({ ...settings, ...mail }), sms: sms ?? NO_SMS };
  after(() => senders.email.close());
  const queues = messageQueues({
    db,
    clock: clock.read,
    logger,
    senders,
    counters: outcomes,
    mailFrom: mail.from ?? settings.from,
    random: () => 0.5,
    recordDelaysMs: [1, 10],
  });
  return new JobWorker({
    db,
    connection,
    clock: clock.read,
    logger,
    queues,
    slots,
    slotsPerCompany: slots / 4,
  });
}

const NO_SMS: Sender = {
  send: () => Promise.reject(new Error('This test sends no SMS.')),
  close() {},
};

/** A sender that records the messages it is given; `during` runs while a message is being sent. */
export class Recorder implements Sender {
  readonly sent: OutgoingMessage[] = [];
  providerId: string | null = null;
  /** The address or number that the message went to. */
  receiptFor: (message: OutgoingMessage) => string = ({ recipient }) => recipient;
  during: (message: OutgoingMessage) => Promise<void> | void = () => {};

  async send(message: OutgoingMessage): Promise<Receipt> {
    await this.during(message);
    this.sent.push(message);
    return { to: this.receiptFor(message), providerId: this.providerId };
  }

  close(): void {}
}
