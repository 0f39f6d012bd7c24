import type { JobQueue } from '../kernel/jobs/job-queue.ts';
import { type DeliveryQueueOptions, deliveryQueue } from './deliveries/delivery-queue.ts';
import { alertQueue, type SendMail } from './endpoints/alerts.ts';
import { fanOutQueue } from './fan-out.ts';

/** The jobs of webhooks: turn events into deliveries, send them, and mail the company when an endpoint fails. */
export const webhookQueues = (options: DeliveryQueueOptions & { sendMail: SendMail }): JobQueue[] => [
  fanOutQueue(options),
  deliveryQueue(options),
  alertQueue(options),
];
