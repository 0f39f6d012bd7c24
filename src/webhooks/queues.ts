import type { JobQueue } from '../kernel/jobs/job-queue.ts';
import { type DeliveryQueueOptions, deliveryQueue } from './deliveries/delivery-queue.ts';
import { alertQueue, type SendMail } from './endpoints/alerts.ts';
import { fanOutQueue } from './fan-out.ts';

/** From the log of events to the receivers: what is to be delivered, its delivery, and who is told when that fails. */
export const webhookQueues = (options: DeliveryQueueOptions & { sendMail: SendMail }): JobQueue[] => [
  fanOutQueue(options),
  deliveryQueue(options),
  alertQueue(options),
];
