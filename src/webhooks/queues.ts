import type { JobQueue } from '../kernel/jobs/job-queue.ts';
import { type SendingOptions, sendingQueue } from './deliveries/delivery-queue.ts';
import { noticeQueue, type Tell } from './endpoints/alerts.ts';
import { fanOutQueue } from './fan-out.ts';

/** From the log of events to the receivers: what is to be delivered, its delivery, and who is told when that fails. */
export const webhookQueues = (options: SendingOptions & { tell: Tell }): JobQueue[] => [
  fanOutQueue(options),
  sendingQueue(options),
  noticeQueue(options),
];
