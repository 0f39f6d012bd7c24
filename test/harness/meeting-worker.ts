import pino from 'pino';
import { Database } from '../../src/kernel/database.ts';
import { DueWorker } from '../../src/kernel/due-work.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { jitsi } from '../../src/video/jitsi.ts';
import { meetingQueue } from '../../src/video/meeting-queue.ts';
import { zoom } from '../../src/video/zoom.ts';

/** A worker process that works what is due at the time it is told, for tests that kill it. */

const { connection, apiUrl, oauthUrl, key, now } = JSON.parse(process.argv[2] ?? '');
const clock = () => Temporal.Instant.from(now);
const logger = pino({ level: 'fatal' });
const db = new Database({ connection, poolSize: 2 });
const providers = {
  jitsi: jitsi({ url: 'https://meet.firm.example', appId: undefined, appSecret: undefined }),
  zoom: zoom({ apiUrl, oauthUrl, clock }),
};
const secrets = new SecretBox([Buffer.from(key, 'base64')]);
const queues = [meetingQueue({ db, clock, logger, providers, secrets })];
await new DueWorker({ db, connection, clock, logger, queues }).runOnce();
await db.close();
