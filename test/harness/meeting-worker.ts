import { after } from 'node:test';
import pino from 'pino';
import { type JitsiSettings, jitsi } from '../../src/cases/appointments/meetings/jitsi.ts';
import { meetingQueue } from '../../src/cases/appointments/meetings/meeting-queue.ts';
import { zoom } from '../../src/cases/appointments/meetings/zoom.ts';
import type { Sender } from '../../src/cases/appointments/messages/message.ts';
import { messageQueues } from '../../src/cases/appointments/messages/message-queue.ts';
import { DeliveryCounters } from '../../src/kernel/jobs/delivery-counters.ts';
import type { JobQueue } from '../../src/kernel/jobs/job-queue.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import type { TestApp } from './app.ts';
import { type Zoom, zoomServer } from './zoom.ts';

export const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
export const secrets = new SecretBox([KEYS[0]]);

export async function openZoom(): Promise<Zoom> {
  const server = await zoomServer();
  after(() => server.close());
  return server;
}

type Options = {
  jitsi?: Partial<JitsiSettings>;
  secrets?: SecretBox;
  timeoutMs?: number;
  /** A worker with one slot claims nothing else, and not its own job again, while that job is held up. */
  slots?: number;
  /** If given, the same worker also sends messages. */
  sender?: Sender;
};

const logger = pino({ level: 'silent' });

export function meetingSteps({ db, clock }: TestApp, server: Zoom, options: Options = {}): JobQueue {
  const { timeoutMs = 10_000 } = options;
  const { apiUrl, oauthUrl } = server;
  const providers = {
    jitsi: jitsi({ url: 'https://meet.firm.example/rooms', appId: undefined, appSecret: undefined, ...options.jitsi }),
    zoom: zoom({ apiUrl, oauthUrl, clock: clock.read, timeoutMs }),
  };
  const box = options.secrets ?? secrets;
  return meetingQueue({ db, clock: clock.read, logger, random: () => 0.5, providers, secrets: box });
}

/** A worker on the app's database and clock, driven step by step with `runOnce`. */
export function meetingWorker(app: TestApp, server: Zoom, options: Options = {}): JobWorker {
  const { db, connection, clock } = app;
  const { sender, slots = 32 } = options;
  const common = { db, clock: clock.read, logger, random: () => 0.5 };
  const meetings = meetingSteps(app, server, options);
  const messages =
    sender &&
    messageQueues({
      ...common,
      senders: { email: sender, sms: sender },
      counters: new DeliveryCounters(),
      mailFrom: 'no-reply@service.example',
    });
  const queues = [meetings, ...(messages ?? [])];
  return new JobWorker({ db, connection, clock: clock.read, logger, queues, slots });
}
