import type { Daemon } from '../cli/command.ts';
import { runCommandLine } from '../cli/command-line.ts';
import { toFailure } from '../cli/failure.ts';
import { openTerminal } from '../cli/terminal.ts';

/** The entry point of the process: arguments, signals and exit codes. */

const PARENT_CHECK_MS = 500;

const terminal = openTerminal(process.env);

let onSignal = async (signal: string): Promise<void> => {
  const { stopStartedServers } = await import('../cli/database.ts');
  terminal.close();
  await stopStartedServers();
  console.error(`case-records: ended by ${signal}`);
  process.exit(1);
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => onSignal(signal));

try {
  const result = await runCommandLine(process.argv.slice(2), process.env, terminal);
  terminal.close();
  if ('daemon' in result) {
    await runDaemon(result.daemon);
  } else {
    const { text, note, failed } = result.output;
    console.log(text);
    if (note) console.error(terminal.fold(note));
    if (failed) process.exitCode = 1;
  }
} catch (error) {
  terminal.close();
  const { lines, exitCode } = toFailure(error);
  for (const line of lines) console.error(terminal.fold(`case-records: ${line}`));
  process.exit(exitCode);
}

/** Runs the daemon until a signal, the end of the parent process, or a fatal error. */
async function runDaemon({ config, start }: Daemon): Promise<void> {
  const { openLog } = await import('./log.ts');
  const logger = openLog(config);
  const starting = start(logger);
  let isEnding = false;

  async function end(reason: string, code: number): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    logger.info({ reason }, 'stopping');
    // A signal during the start waits until the start has finished, so that the database is not left half set up.
    await starting.then((running) => running.stop()).catch((error) => logger.error({ err: error }, 'stop failed'));
    logger.info('stopped');
    process.exit(code);
  }

  onSignal = (signal) => end(`received ${signal}`, 0);
  const { onUncaughtError } = await import('./uncaught-errors.ts');
  onUncaughtError(logger, (reason) => void end(reason, 1));

  // A service whose parent was killed would keep running unnoticed, with its port and its data directory.
  const parentPid = process.ppid;
  setInterval(() => process.ppid !== parentPid && end('parent process ended', 0), PARENT_CHECK_MS).unref();

  const reason = await (await starting).failed;
  await end(reason.message, 1);
}
