import { randomBytes } from 'node:crypto';
import { type DestinationStream, pino } from 'pino';
import { DeliveryCounters } from '../../src/kernel/jobs/delivery-counters.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';
import type { PlainMail } from '../../src/kernel/plain-mail.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { AUDIT_LOGS } from '../../src/server/audit-logs.ts';
import type { PostTimeouts } from '../../src/webhooks/outbound/http-post.ts';
import type { OutboundPolicy } from '../../src/webhooks/outbound/public-connect.ts';
import { webhookQueues } from '../../src/webhooks/queues.ts';
import type { TestApp } from './app.ts';
import { ticking } from './ticking.ts';

export const KEY = randomBytes(32);
export const secrets = new SecretBox([KEY]);

export type WebhookWorker = JobWorker & { mails: PlainMail[]; outcomes: string[] };

type Options = {
  outbound?: OutboundPolicy & { timeouts?: PostTimeouts };
  tell?: (mail: PlainMail) => Promise<void>;
  slots?: number;
  pollMs?: number;
  log?: DestinationStream;
};

/** Longer than a loaded machine needs for an answer, so that no attempt fails that the receiver answers. */
const PATIENT_MS = 60_000;
/** For a receiver that hangs, which a worker would otherwise wait for as long as for one on a loaded machine. */
export const IMPATIENT = { allowPrivateAddresses: true, timeouts: { headersMs: 300, totalMs: 600 } };

type WorkerApp = Pick<TestApp, 'db' | 'connection'> & { clock: Pick<TestApp['clock'], 'read'> };

/** A webhook worker on the app's database and clock, driven step by step with `runOnce`. */
export function webhookWorker({ db, connection, clock: { read } }: WorkerApp, options: Options = {}): WebhookWorker {
  const {
    outbound: reach = { allowPrivateAddresses: true, timeouts: { headersMs: PATIENT_MS, totalMs: PATIENT_MS } },
    tell,
    slots = 32,
    pollMs = 20_000,
  } = options;
  const logger = options.log ? pino({ level: 'trace' }, options.log) : pino({ level: 'silent' });
  const clock = ticking(read);
  const mails: PlainMail[] = [];
  const outcomes = new DeliveryCounters();
  const counted: string[] = [];
  outcomes.onWebhook = (outcome) => counted.push(outcome);
  const queues = webhookQueues({
    db,
    clock,
    logger,
    counters: outcomes,
    secrets,
    auditLogs: AUDIT_LOGS,
    outbound: reach,
    random: () => 0.5,
    sendMail: async (mail) => {
      await tell?.(mail);
      mails.push(mail);
    },
  });
  const worker = new JobWorker({
    db,
    connection,
    clock,
    logger,
    queues,
    slots,
    slotsPerCompany: slots / 4,
    pollMs,
  });
  return Object.assign(worker, { mails, outcomes: counted });
}
