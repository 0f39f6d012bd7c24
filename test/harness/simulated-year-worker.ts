import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { emailSender } from '../../src/cases/appointments/messages/email.ts';
import { messageQueues } from '../../src/cases/appointments/messages/message-queue.ts';
import { smsSender } from '../../src/cases/appointments/messages/sms.ts';
import { gateway } from '../../src/cases/appointments/messages/sms-gateway.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { DeliveryCounters } from '../../src/kernel/jobs/delivery-counters.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';

/** A worker process whose clock the parent sets: for each time it gets, it does the jobs that are due and answers. */

const { name, connection, smtpUrl, gatewayUrl } = JSON.parse(process.argv[2] ?? '');
const MAIL_FROM = 'no-reply@service.example';
let now = Temporal.Instant.from('2000-01-01T00:00:00Z');
const clock = () => now;
const logger = pino({ level: 'fatal' });
const db = new Database({ connection, poolSize: 2 });
const senders = {
  email: emailSender({ smtpUrl, from: MAIL_FROM, domain: 'service.example', outbox: '/nowhere' }),
  sms: smsSender(
    gateway({
      url: gatewayUrl,
      headers: { 'x-worker': name },
      body: '{"to":"{{to}}","text":"{{text}}","id":"{{id}}"}',
      from: randomUUID(),
    }),
  ),
};
const queues = messageQueues({ db, clock, logger, senders, counters: new DeliveryCounters(), mailFrom: MAIL_FROM });
const worker = new JobWorker({ db, connection, clock, logger, queues, slots: 4, slotsPerCompany: 2 });

process.on('message', async (message: { now: string }) => {
  now = Temporal.Instant.from(message.now);
  const handled = await worker.runOnce();
  process.send?.({ handled });
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
