import pino from 'pino';
import { Database } from '../../src/kernel/database/database.ts';
import { DeliveryCounters } from '../../src/kernel/jobs/delivery-counters.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { AUDIT_LOGS } from '../../src/server/audit-logs.ts';
import { webhookQueues } from '../../src/webhooks/queues.ts';
import { ticking } from './ticking.ts';

/** A webhook worker process whose clock the parent sets: for each time it gets, it does the due jobs and answers. */

const { connection, key } = JSON.parse(process.argv[2] ?? '');
let now = Temporal.Instant.from('2000-01-01T00:00:00Z');
const clock = ticking(() => now);
const logger = pino({ level: 'fatal' });
const db = new Database({ connection, poolSize: 4 });
const queues = webhookQueues({
  db,
  clock,
  logger,
  counters: new DeliveryCounters(),
  secrets: new SecretBox([Buffer.from(key, 'base64')]),
  auditLogs: AUDIT_LOGS,
  outbound: { allowPrivateAddresses: true, timeouts: { headersMs: 1_000, totalMs: 2_000 } },
  sendMail: async () => {},
});
const worker = new JobWorker({ db, connection, clock, logger, queues, slots: 16, slotsPerCompany: 8 });

process.on('message', async (message: { now: string }) => {
  now = Temporal.Instant.from(message.now);
  const handled = await worker.runOnce();
  process.send?.({ handled });
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
