import type { BackoffSchedule } from '../../kernel/jobs/backoff.ts';
import type { Instant } from '../../kernel/time/time.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const RETRY_PERIOD = { hours: 72 };

/** Delivery is abandoned after three days, but never before ten attempts, even if no worker ran for three days. */
export const DELIVERY_SCHEDULE: BackoffSchedule = {
  delaysSeconds: [30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR],
  minDelaySeconds: 30,
  maxDelaySeconds: 6 * HOUR,
  jitter: 0.1,
  nearDeadline: 'last-attempt',
  minAttempts: 10,
};

export const deliveryDeadline = (firstAttemptAt: Instant): Instant => firstAttemptAt.add(RETRY_PERIOD);
