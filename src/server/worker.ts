import { join } from 'node:path';
import type { Logger } from 'pino';
import { jitsi } from '../cases/appointments/meetings/jitsi.ts';
import { meetingQueue } from '../cases/appointments/meetings/meeting-queue.ts';
import type { MeetingProvider, ProviderName } from '../cases/appointments/meetings/provider.ts';
import { zoom } from '../cases/appointments/meetings/zoom.ts';
import { emailSender } from '../cases/appointments/messages/email.ts';
import type { EmailSender, SmsSender } from '../cases/appointments/messages/message.ts';
import { messageQueues } from '../cases/appointments/messages/message-queue.ts';
import { smsOutboxSender, smsSender } from '../cases/appointments/messages/sms.ts';
import { gateway } from '../cases/appointments/messages/sms-gateway.ts';
import { twilio } from '../cases/appointments/messages/sms-twilio.ts';
import { purgeTestMessages, testMessageQueue } from '../cases/appointments/messages/test-messages/queue.ts';
import { keepInvoiceSumsContinuously } from '../cases/invoices/sums/keeping.ts';
import { linkQueue } from '../company/credentials/links/queue.ts';
import { purgeLinks } from '../company/credentials/links/verbs.ts';
import { purgeSessions } from '../company/credentials/sessions/verbs.ts';
import { type Config, siteUrl } from '../config.ts';
import { closeFullEventPartition } from '../events/partitions.ts';
import { purgeOldEvents } from '../events/retention.ts';
import { purgeExpiredResponses } from '../http/operation/response-retention.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { databaseClock } from '../kernel/database/database-clock.ts';
import { watchHalfSentTransactions } from '../kernel/database/half-sent-transactions.ts';
import type { DeliveryCounters } from '../kernel/jobs/delivery-counters.ts';
import { JobWorker } from '../kernel/jobs/job-worker.ts';
import { HOUR_MS, periodically } from '../kernel/periodic.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import type { Clock } from '../kernel/time/time.ts';
import { indexContinuously } from '../search/indexer.ts';
import { webhookQueues } from '../webhooks/queues.ts';
import { purgeEnded } from '../webhooks/retention.ts';
import { AUDIT_LOGS } from './audit-logs.ts';
import { mailSettings } from './mail-settings.ts';

type WorkerOptions = {
  config: Config;
  connection: Connection;
  clock: Clock;
  logger: Logger;
  counters: DeliveryCounters;
};

// Separate from the pool of the requests, so that a busy worker never keeps a request waiting for a connection.
const WORKER_POOL_SIZE = 4;

/** Starts a worker on all queues. Returns a function that stops it. */
export async function runWorker(options: WorkerOptions): Promise<() => Promise<void>> {
  const { config, connection, logger } = options;
  const onError = (error: Error) => logger.warn({ reason: error.message }, 'database connection of the worker lost');
  const db = new Database({ connection, poolSize: WORKER_POOL_SIZE, onError });
  // Webhooks have their own pool, so that slow receivers and long backlogs never delay meetings and messages.
  const webhooksDb = new Database({ connection, poolSize: WORKER_POOL_SIZE, onError });
  const { clock, stop: stopClock } = await databaseClock(db, options.clock, logger).catch(async (error: unknown) => {
    await Promise.all([db.close(), webhooksDb.close()]);
    throw error;
  });
  const senders = createSenders(config);
  const providers = createProviders(config, clock);
  const secrets = new SecretBox(config.SECRETS_KEY ?? []);
  const slots = config.WORKER_CONCURRENCY;
  const limits = { connection, clock, logger, slots, slotsPerCompany: Math.ceil(slots / 4) };
  const { counters } = options;
  const queues = [
    meetingQueue({ db, clock, logger, providers, secrets }),
    ...messageQueues({ db, clock, logger, senders, counters, mailFrom: config.MAIL_FROM }),
    testMessageQueue({ db, clock, logger, senders }),
    linkQueue({ db, clock, logger, sendMail: senders.email.sendPlain, siteUrl: siteUrl(config) }),
  ];
  const webhooks = webhookQueues({
    db: webhooksDb,
    clock,
    logger,
    counters,
    secrets,
    auditLogs: AUDIT_LOGS,
    outbound: { allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE_ADDRESSES },
    sendMail: senders.email.sendPlain,
  });
  const workers = [
    new JobWorker({ ...limits, db, queues }),
    new JobWorker({ ...limits, db: webhooksDb, queues: webhooks }),
  ];
  await Promise.all(workers.map((worker) => worker.start()));
  const stopTransactionWatch = watchHalfSentTransactions(db, logger);
  const stopIndexing = indexContinuously({ db, clock, logger });
  const stopKeepingSums = keepInvoiceSumsContinuously({ db, clock, logger });
  const stopEventPartitions = periodically({
    intervalMs: HOUR_MS,
    work: () => closeFullEventPartition(db),
    logger,
    failureMessage: 'failed to begin a partition of the event log; the full one is used for another hour',
  });
  const stopEventRetention = periodically({
    intervalMs: HOUR_MS,
    work: (signal) => purgeOldEvents(db, signal),
    logger,
    failureMessage: 'failed to purge old events; retrying in an hour',
  });
  const stopWebhookRetention = periodically({
    intervalMs: HOUR_MS,
    work: (signal) => purgeEnded({ db: webhooksDb, clock, signal }),
    logger,
    failureMessage: 'failed to purge ended webhook deliveries; retrying in an hour',
  });
  const stopTestRetention = periodically({
    intervalMs: HOUR_MS,
    work: () => purgeTestMessages(db, clock),
    logger,
    failureMessage: 'failed to purge old test messages; retrying in an hour',
  });
  const stopLinkRetention = periodically({
    intervalMs: HOUR_MS,
    work: () => purgeLinks(db, clock),
    logger,
    failureMessage: 'failed to purge old links; retrying in an hour',
  });
  const stopSessionRetention = periodically({
    intervalMs: HOUR_MS,
    work: () => purgeSessions(db, clock),
    logger,
    failureMessage: 'failed to purge old sessions; retrying in an hour',
  });
  const stopKeyRetention = periodically({
    intervalMs: HOUR_MS,
    work: (signal) => purgeExpiredResponses(db, clock, signal),
    logger,
    failureMessage: 'failed to purge expired idempotency keys; retrying in an hour',
  });
  return async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await stopTransactionWatch();
    await stopIndexing();
    await stopKeepingSums();
    await stopEventPartitions();
    await stopEventRetention();
    await stopWebhookRetention();
    await stopTestRetention();
    await stopLinkRetention();
    await stopSessionRetention();
    await stopKeyRetention();
    stopClock();
    for (const sender of Object.values(senders)) sender.close();
    await Promise.all([db.close(), webhooksDb.close()]);
  };
}

function createSenders(config: Config): { email: EmailSender; sms: SmsSender } {
  const outbox = join(config.DATA_DIR, 'outbox');
  return {
    email: emailSender(mailSettings(config)),
    sms: createSmsSender(config, outbox),
  };
}

const createProviders = (config: Config, clock: Clock): Record<ProviderName, MeetingProvider> => ({
  jitsi: jitsi({ url: config.JITSI_URL, appId: config.JITSI_APP_ID, appSecret: config.JITSI_APP_SECRET }),
  zoom: zoom({ apiUrl: config.ZOOM_API_URL, oauthUrl: config.ZOOM_OAUTH_URL, clock }),
});

function createSmsSender(config: Config, outbox: string): SmsSender {
  switch (config.SMS_PROVIDER) {
    case 'twilio':
      return smsSender(
        twilio({
          accountSid: config.TWILIO_ACCOUNT_SID ?? '',
          authToken: config.TWILIO_AUTH_TOKEN ?? '',
          from: config.TWILIO_FROM ?? '',
          baseUrl: config.TWILIO_BASE_URL,
        }),
      );
    case 'gateway':
      return smsSender(
        gateway({
          url: config.SMS_GATEWAY_URL ?? '',
          headers: config.SMS_GATEWAY_HEADERS,
          body: config.SMS_GATEWAY_BODY,
          from: config.SMS_GATEWAY_FROM ?? '',
        }),
      );
    default:
      return smsOutboxSender(outbox);
  }
}
