import pino from 'pino';
import { type Config, ConfigError, readConfig } from './config.ts';
import { type Service, startService } from './service.ts';

/** The process: settings, signals and exit codes. */

const PARENT_CHECK_MS = 500;

const config = settings();
const logger = pino({ level: config.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime });
const starting = startService(config, logger);
let ending = false;

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(`received ${signal}`, 0));

// A service whose parent was killed would go on unseen, holding its port and its data.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && end('lost its parent process', 0), PARENT_CHECK_MS).unref();

try {
  const service = await starting;
  announce(service);
  const reason = await service.failed;
  await end(reason.message, 1);
} catch (error) {
  console.error(`case-records: ${(error as Error).message}`);
  logger.debug({ err: error }, 'start failed');
  process.exit(1);
}

async function end(reason: string, code: number): Promise<void> {
  if (ending) return;
  ending = true;
  logger.info({ reason }, 'stopping');
  // A signal during the start waits for the start: the database is never left half way.
  await starting.then((service) => service.stop()).catch((error) => logger.error({ err: error }, 'stop failed'));
  logger.info('stopped');
  process.exit(code);
}

function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) console.error(`case-records: ${fault}`);
    process.exit(2);
  }
}

function announce({ url, demo }: Service): void {
  console.log(`Case Records listens on ${url} (API pages: ${url}/docs)`);
  if (!demo) return;
  console.log(`
A demonstration company was made; ${config.DATA_DIR}/demo.json holds its token and identifiers. Try:

curl -s -X POST ${url}/cases/${demo.case_id}/interactions \\
  -H 'Authorization: Bearer ${demo.token}' -H 'Content-Type: application/json' \\
  -d '{"type": "phone", "notes": "First call"}'
`);
}
