import pino from 'pino';
import { jitsi } from '../../src/cases/appointments/meetings/jitsi.ts';
import { meetingQueue } from '../../src/cases/appointments/meetings/meeting-queue.ts';
import { zoom } from '../../src/cases/appointments/meetings/zoom.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { JobWorker } from '../../src/kernel/jobs/job-worker.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';

/** A worker process that does the jobs due at a given time, for tests that kill it. */

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
await new JobWorker({ db, connection, clock, logger, queues }).runOnce();
await db.close();
