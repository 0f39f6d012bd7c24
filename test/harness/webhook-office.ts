import { randomBytes } from 'node:crypto';
import { type DestinationStream, pino } from 'pino';
import { DueWorker } from '../../src/kernel/jobs/job-worker.ts';
import { Outcomes } from '../../src/kernel/jobs/delivery-counters.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { RECORD_LOGS } from '../../src/server/audit-logs.ts';
import type { Reach } from '../../src/webhooks/outbound/public-connect.ts';
import type { Mail } from '../../src/webhooks/endpoints/alerts.ts';
import type { Times } from '../../src/webhooks/outbound/http-post.ts';
import { webhookQueues } from '../../src/webhooks/queues.ts';
import { ticking } from './ticking.ts';
import type { World } from './app.ts';

export const KEY = randomBytes(32);
export const secrets = new SecretBox([KEY]);

export type Office = DueWorker & { mails: Mail[]; outcomes: string[] };

type Options = {
  reach?: Reach & { times?: Times };
  tell?: (mail: Mail) => Promise<void>;
  slots?: number;
  pollMs?: number;
  log?: DestinationStream;
};

type OfficeWorld = Pick<World, 'db' | 'connection'> & { clock: Pick<World['clock'], 'read'> };

/** A worker of webhooks on the world's database and clock, driven step by step with `runOnce`. */
export function webhookOffice({ db, connection, clock: { read } }: OfficeWorld, options: Options = {}): Office {
  const {
    reach = { privateAddresses: true, times: { headersMs: 300, totalMs: 600 } },
    tell,
    slots = 32,
    pollMs = 20_000,
  } = options;
  const logger = options.log ? pino({ level: 'trace' }, options.log) : pino({ level: 'silent' });
  const clock = ticking(read);
  const mails: Mail[] = [];
  const outcomes = new Outcomes();
  const counted: string[] = [];
  outcomes.onWebhook = (outcome) => counted.push(outcome);
  const queues = webhookQueues({
    db,
    clock,
    logger,
    outcomes,
    secrets,
    logs: RECORD_LOGS,
    reach,
    random: () => 0.5,
    tell: async (mail) => {
      await tell?.(mail);
      mails.push(mail);
    },
  });
  const worker = new DueWorker({
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
