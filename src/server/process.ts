import type { Starter } from '../cli/command.ts';
import { runCommandLine } from '../cli/command-line.ts';
import { failureOf } from '../cli/failure.ts';

/** The process: its arguments, signals and exit codes. */

const PARENT_CHECK_MS = 500;

let onSignal = async (signal: string): Promise<void> => {
  const { stopStarted } = await import('../cli/database.ts');
  await stopStarted();
  console.error(`case-records: ended by ${signal}`);
  process.exit(1);
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => onSignal(signal));

try {
  const result = await runCommandLine(process.argv.slice(2), process.env);
  if ('starter' in result) {
    await stay(result.starter);
  } else {
    const { text, note, failed } = result.output;
    console.log(text);
    if (note) console.error(note);
    if (failed) process.exitCode = 1;
  }
} catch (error) {
  const { lines, exitCode } = failureOf(error);
  for (const line of lines) console.error(`case-records: ${line}`);
  process.exit(exitCode);
}

/** Until a signal, the end of the parent, or a fault that it cannot live with. */
async function stay({ config, start }: Starter): Promise<void> {
  const { openLog } = await import('./log.ts');
  const logger = openLog(config);
  const starting = start(logger);
  let ending = false;

  async function end(reason: string, code: number): Promise<void> {
    if (ending) return;
    ending = true;
    logger.info({ reason }, 'stopping');
    // A signal during the start waits for the start: the database is never left half way.
    await starting.then((running) => running.stop()).catch((error) => logger.error({ err: error }, 'stop failed'));
    logger.info('stopped');
    process.exit(code);
  }

  onSignal = (signal) => end(`received ${signal}`, 0);
  const { onUncaughtError } = await import('./uncaught-errors.ts');
  onUncaughtError(logger, (reason) => void end(reason, 1));

  // A service whose parent was killed would go on unseen, holding its port and its data.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end('lost its parent process', 0), PARENT_CHECK_MS).unref();

  const reason = await (await starting).failed;
  await end(reason.message, 1);
}
