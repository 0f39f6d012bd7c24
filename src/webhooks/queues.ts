import type { Queue } from '../kernel/due-queue.ts';
import { fanOutQueue } from './fan-out.ts';
import { noticeQueue, type Tell } from './notices.ts';
import { type SendingOptions, sendingQueue } from './sending.ts';

/** From the log of events to the receivers: what is to be delivered, its delivery, and who is told when that fails. */
export const webhookQueues = (options: SendingOptions & { tell: Tell }): Queue[] => [
  fanOutQueue(options),
  sendingQueue(options),
  noticeQueue(options),
];
