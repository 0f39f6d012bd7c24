import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { archiveWaiting, failureOf } from '../backup/archive-waiting.ts';
import { backupNames, backupTime, walArchiveFolder } from '../backup/backup-folder.ts';
import { assertNewestTimeline, claimFolder, FolderOfAnother } from '../backup/claim.ts';
import { hasGap } from '../backup/list.ts';
import { pruneBackups } from '../backup/prune.ts';
import { timelineOf } from '../backup/wal-names.ts';
import { emailSender } from '../cases/appointments/messages/email.ts';
import type { Config } from '../config.ts';
import { connectClient } from '../kernel/database/connect.ts';
import type { Connection } from '../kernel/database/database.ts';
import { previousRun } from '../kernel/time/cron.ts';
import type { Clock } from '../kernel/time/time.ts';
import { mailSettings } from './mail-settings.ts';

/** Backups of the bundled database that the service makes by itself, as BACKUP_DIR and BACKUP_SCHEDULE ask. */

type BackupServiceOptions = {
  config: Config;
  /** The owner of the bundled database. */
  owner: Connection;
  clock: Clock;
  logger: Logger;
};

const ARCHIVE_INTERVAL_MS = 1_000;
const SCHEDULE_INTERVAL_MS = 30_000;
/** How long a failure waits for the next attempt, and for the next mail. */
const RETRY_DELAY = { hours: 1 };
const MAIN = join(import.meta.dirname, `../main${extname(import.meta.filename)}`);

/** Starts archiving and the schedule. Returns a function that archives what is left and stops both. */
export async function startBackups(options: BackupServiceOptions): Promise<() => Promise<void>> {
  const { config, owner } = options;
  const { BACKUP_DIR: folder, DATA_DIR: dataDir } = config;
  if (folder === undefined) return async () => {};
  const directory = await realpath(join(dataDir, 'postgres'));
  const report = failureReporter(options);
  const stopping = new AbortController();
  const { signal } = stopping;
  const database = await readDatabase(owner);
  const { systemIdentifier } = database;
  const archive = walArchiveFolder(folder, systemIdentifier);
  let isNewestTimeline = false;
  const claim = async (): Promise<void> => {
    await claimFolder(folder, { dataDir, systemIdentifier });
    if (!isNewestTimeline) await assertNewestTimeline(folder, database);
    isNewestTimeline = true;
  };
  await claim().catch((error: Error) => {
    if (error instanceof FolderOfAnother) throw error;
    report('BACKUP_DIR cannot be used', error);
  });

  const archivePass = async (): Promise<void> => {
    // Another installation may have taken the folder over.
    await claim();
    const failure = failureOf(await archiveWaiting(directory, archive));
    if (failure) report(failure.what, failure.error);
  };
  const archiving = config.BACKUP_WAL
    ? repeatedly(ARCHIVE_INTERVAL_MS, signal, () => archivePass().catch((error) => report('Archiving failed', error)))
    : Promise.resolve();
  const scheduled = repeatedly(SCHEDULE_INTERVAL_MS, signal, backupWhenDue(options, report, signal));

  return async () => {
    stopping.abort();
    await Promise.all([archiving, scheduled]);
    if (!config.BACKUP_WAL) return;
    // Ends the current segment, so that the archive has everything when the service has stopped.
    await query(owner, 'SELECT pg_switch_wal()')
      .then(archivePass)
      .catch((error: Error) => report('The last changes could not be archived', error));
  };
}

/** Returns a function that makes a backup if the last one is older than the last time of the schedule, or of no use. */
function backupWhenDue({ config, clock, logger }: BackupServiceOptions, report: Report, signal: AbortSignal) {
  const { BACKUP_DIR: folder = '', BACKUP_SCHEDULE: schedule, BACKUP_KEEP: keep, BACKUP_WAL: archives } = config;
  let retryAt: Temporal.Instant | undefined;
  return async (): Promise<void> => {
    if (!schedule || (retryAt && Temporal.Instant.compare(clock(), retryAt) < 0)) return;
    try {
      const newest = backupTime((await backupNames(folder)).at(-1) ?? '');
      const isRecent = newest && Temporal.Instant.compare(newest, previousRun(schedule, clock())) >= 0;
      // After a time without archiving, a restore reaches no later state without a new backup.
      if (isRecent && !(archives && (await hasGap(folder)))) return;
      logger.info({ folder }, 'making a backup');
      const output = await runBackup(folder, signal);
      logger.info({ folder, output }, 'a backup was made');
      retryAt = undefined;
      await pruneBackups(folder, keep);
    } catch (error) {
      if (signal.aborted) return;
      retryAt = clock().add(RETRY_DELAY);
      report('The backup failed', error as Error);
    }
  };
}

/** In a process of its own, so that requests are answered as before. */
async function runBackup(folder: string, signal: AbortSignal): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'backup', 'create', folder, '--gently'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const [output, fault, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  signal.removeEventListener('abort', stop);
  if (code === 0) return output.trim();
  throw new Error(fault.trim().replaceAll(/^case-records: /gm, '') || `It ended with ${code}.`);
}

type Report = (what: string, error: Error | undefined) => void;

/** Logs failures, and mails them to BACKUP_EMAIL. One that repeats is reported once an hour. */
function failureReporter({ config, clock, logger }: BackupServiceOptions): Report {
  const reportedAt = new Map<string, Temporal.Instant>();
  return (what, error) => {
    const now = clock();
    const last = reportedAt.get(what);
    if (last && Temporal.Instant.compare(last.add(RETRY_DELAY), now) > 0) return;
    reportedAt.set(what, now);
    const reason = error?.message ?? 'unknown';
    logger.error({ folder: config.BACKUP_DIR, reason }, what);
    if (config.BACKUP_EMAIL === undefined) return;
    const mail = {
      id: randomUUID(),
      due: now,
      recipient: config.BACKUP_EMAIL,
      subject: 'A backup of Case Records failed',
      text: `${what}: ${reason}\n\nFolder: ${config.BACKUP_DIR}\n`,
    };
    const sender = emailSender(mailSettings(config));
    void sender
      .sendPlain(mail, now, AbortSignal.timeout(60_000))
      .catch((failure: Error) =>
        logger.error({ reason: failure.message }, 'the mail about a failed backup was not sent'),
      )
      .finally(() => sender.close());
  };
}

async function repeatedly(intervalMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(intervalMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function readDatabase(owner: Connection): Promise<{ systemIdentifier: string; timeline: number }> {
  const sql =
    'SELECT system_identifier::text AS id, pg_walfile_name(pg_current_wal_lsn()) AS wal FROM pg_control_system()';
  const [{ id, wal }] = await query(owner, sql);
  return { systemIdentifier: id, timeline: timelineOf(wal) };
}

// biome-ignore lint/suspicious/noExplicitAny: the columns depend on the query
async function query(owner: Connection, sql: string): Promise<any[]> {
  const client = await connectClient(owner, 'backup');
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
