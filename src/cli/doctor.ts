import { statfs } from 'node:fs/promises';
import { countAccounts } from '../cases/appointments/meetings/accounts/verbs.ts';
import { verifyServer } from '../cases/appointments/messages/smtp.ts';
import { countCodeSecrets } from '../company/credentials/factors/code-secrets.ts';
import { type Config, ConfigError, signInAdvice } from '../config.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { LISTED_ON, nodeAdvice, postgresAdvice, postgresVersion } from '../kernel/schema/security-releases.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { read } from '../kernel/sql/statement.ts';
import { systemClock } from '../kernel/time/time.ts';
import { countSecrets } from '../webhooks/endpoints/secrets.ts';
import { countFailingEndpoints } from '../webhooks/endpoints/verbs.ts';
import type { Command } from './command.ts';
import { type AcquiredDatabase, acquireDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; finding: string };

const CLOCK_SKEW_WARNING_S = 2;
const CLOCK_SKEW_FAULT_S = 30;
const MIN_FREE_BYTES = 1_000_000_000;
const NEED_OLD_KEY =
  'need an older key than the first. Run "case-records secrets reencrypt" before you remove it from SECRETS_KEY.';

const selectServer = read('doctor.server', {
  inputs: {},
  sql: () =>
    `SELECT current_setting('server_version_num')::int AS version, extract(epoch FROM clock_timestamp())::float8 AS now`,
});
/** A role that owns the table, its schema or its database, or may add a trigger, can change the log. */
const selectEventLog = read('doctor.events', {
  inputs: {},
  sql: () => `SELECT has_table_privilege(t.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') OR pg_has_role(t.relowner, 'MEMBER')
            OR pg_has_role(n.nspowner, 'MEMBER') OR pg_has_role(d.datdba, 'MEMBER') AS changeable,
          (SELECT days FROM event_retention) AS days
     FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
     JOIN pg_database d ON d.datname = current_database() WHERE t.oid = 'events'::regclass`,
});
const selectTimeZones = read('doctor.zones', {
  inputs: {},
  sql: () => 'SELECT DISTINCT time_zone FROM companies ORDER BY 1',
});

export const commands: Command[] = [
  {
    name: 'doctor',
    summary:
      'Check settings, mail, SMS, disk, database, migrations, events, clock, video accounts and webhooks, with advice',
    description: 'Changes nothing. Exit code 1 if a fault prevents the service from working.',
    examples: ['doctor', 'doctor --json'],
    run: async (invocation) => {
      const findings = await runChecks(() => invocation.config, invocation.terminal);
      return {
        json: JSON.stringify(findings),
        columns: ['state', 'check', 'finding'],
        failed: findings.some(({ state }) => state === 'fault'),
      };
    },
  },
];

async function runChecks(loadConfig: () => Config, terminal: Terminal): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => ({ check: 'settings', state: 'fault', finding: `${fault}. Correct it.` }));
  }
  const { node: version } = process.versions;
  const node = releaseFinding('node', `Node ${version}`, nodeAdvice(version));
  const settings = finding('settings', 'ok', 'all are valid');
  const signIn = checkSignIn(config);
  terminal.showProgress('Checking …');
  return [
    settings,
    signIn,
    node,
    await checkMail(config),
    checkSms(config),
    ...(await checkDiskSpace(config)),
    ...(await checkDatabase(config, terminal)),
  ];
}

async function checkMail({ SMTP_URL, DATA_DIR }: Config): Promise<Finding> {
  if (SMTP_URL === undefined) {
    return finding('mail', 'warning', `emails are written to files in ${DATA_DIR}/outbox. Set SMTP_URL to send them.`);
  }
  const { host } = new URL(SMTP_URL);
  return verifyServer(SMTP_URL).then(
    () => finding('mail', 'ok', `${host} accepts emails`),
    (error: Error) => finding('mail', 'fault', `${host} does not accept emails: ${error.message}. Correct SMTP_URL.`),
  );
}

function checkSms({ SMS_PROVIDER, DATA_DIR }: Config): Finding {
  return SMS_PROVIDER === 'outbox'
    ? finding('sms', 'warning', `SMS are written to files in ${DATA_DIR}/outbox. Set SMS_PROVIDER to send them.`)
    : finding('sms', 'ok', `sent by ${SMS_PROVIDER}; not tested, because a test would send an SMS`);
}

/** Cookies, links and passkeys are bound to PUBLIC_URL. */
function checkSignIn({ PUBLIC_URL, SECRETS_KEY }: Config): Finding {
  const advice = signInAdvice(PUBLIC_URL);
  if (advice) return finding('sign-in', 'warning', advice);
  if (SECRETS_KEY === undefined) {
    return finding(
      'sign-in',
      'warning',
      'people can use passkeys only. Set SECRETS_KEY for passwords with one-time codes.',
    );
  }
  return finding('sign-in', 'ok', `people sign in at ${PUBLIC_URL}/sign-in`);
}

async function checkOneTimeCodes(db: Database, { SECRETS_KEY = [] }: Config): Promise<Finding> {
  const { total, undecryptable, outdated } = await countCodeSecrets({ db }, new SecretBox(SECRETS_KEY));
  if (undecryptable > 0) {
    const advice = 'Add the key they were set up with to SECRETS_KEY, or reset the factors of their users.';
    return finding('one-time codes', 'fault', `${undecryptable} of ${total} secrets cannot be decrypted. ${advice}`);
  }
  if (outdated > 0) return finding('one-time codes', 'warning', `${outdated} of ${total} secrets ${NEED_OLD_KEY}`);
  return finding('one-time codes', 'ok', `${total} secrets, all can be decrypted`);
}

async function checkDatabase(config: Config, terminal: Terminal): Promise<Finding[]> {
  let acquired: AcquiredDatabase;
  try {
    acquired = await acquireDatabase({ config, terminal, create: false });
  } catch (error) {
    return [finding('database', 'fault', (error as Error).message)];
  }
  try {
    await requireSafeServer(acquired.setup.owner);
    return await checkServer(acquired, config);
  } catch (error) {
    return [finding('database', 'fault', (error as Error).message)];
  } finally {
    await acquired.release();
  }
}

async function checkServer({ connection, setup }: AcquiredDatabase, config: Config): Promise<Finding[]> {
  const missing = await pendingMigrations(setup.owner, await readMigrations());
  const bundled = config.DATABASE_URL === undefined;
  const findings = await withPool(setup.owner, (db) => checkVersionAndClock(db, bundled));
  if (missing.length > 0) {
    return [...findings, finding('migrations', 'fault', `${missing.join(', ')} missing. Run "case-records migrate".`)];
  }
  // The role of the service may be created by a migration, and can have settings of its own.
  await requireSafeServer(connection);
  const migrated = finding('migrations', 'ok', 'none is missing');
  return withPool(connection, async (db) => [
    ...findings,
    migrated,
    await checkEventLog(db, config),
    await checkTimeZones(db),
    await checkVideoAccounts(db, config),
    await checkWebhooks(db, config),
    await checkOneTimeCodes(db, config),
  ]);
}

async function withPool<T>(connection: Connection, work: (db: Database) => Promise<T>): Promise<T> {
  const db = new Database({ connection, poolSize: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function checkVersionAndClock(db: Database, bundled: boolean): Promise<Finding[]> {
  await db.queryFirst(selectServer({}));
  const before = Date.now();
  const row = await db.queryFirst<{ version: number; now: number }>(selectServer({}));
  const version = postgresVersion(row?.version ?? 0);
  const skew = Math.abs((row?.now ?? 0) - (before + Date.now()) / 2_000);
  const state = skew > CLOCK_SKEW_FAULT_S ? 'fault' : skew > CLOCK_SKEW_WARNING_S ? 'warning' : 'ok';
  const advice = state === 'ok' ? '' : ' Synchronise both with NTP: reminders follow the clock of the service.';
  return [
    releaseFinding('database', `PostgreSQL ${version}`, postgresAdvice(version, { bundled })),
    finding('clock', state, `${skew.toFixed(1)} s difference to the clock of the database.${advice}`),
  ];
}

async function checkEventLog(db: Database, { EVENT_RETENTION_DAYS: configuredDays }: Config): Promise<Finding> {
  const row = await db.queryFirst<{ changeable: boolean; days: number | null }>(selectEventLog({}));
  const days = row?.days ?? undefined;
  if (days !== configuredDays) {
    const actual = days === undefined ? 'forever' : `for ${days} days`;
    return finding(
      'events',
      'warning',
      `kept ${actual}, which differs from EVENT_RETENTION_DAYS. Run "case-records migrate".`,
    );
  }
  return row?.changeable
    ? finding(
        'events',
        'warning',
        "the service's role can change the log. Set DATABASE_OWNER_URL: see docs/operations.md.",
      )
    : finding('events', 'ok', 'the role of the service can append to the log but not change it');
}

/** If this version of Node does not know the time zone of a company, none of its times can be read. */
async function checkTimeZones(db: Database): Promise<Finding> {
  const rows = await db.queryRows<{ time_zone: string }>(selectTimeZones({}));
  const unknown = rows.map(({ time_zone }) => time_zone).filter((zone) => !isKnownZone(zone));
  return unknown.length > 0
    ? finding(
        'time zones',
        'fault',
        `unknown to this version of Node: ${unknown.join(', ')}. Change it with "case-records company update".`,
      )
    : finding('time zones', 'ok', `${rows.length} in use, all known`);
}

async function checkVideoAccounts(db: Database, { SECRETS_KEY = [] }: Config): Promise<Finding> {
  const { total, undecryptable, outdated } = await countAccounts({ db }, new SecretBox(SECRETS_KEY));
  if (undecryptable > 0) {
    const advice = 'Add the key they were connected with to SECRETS_KEY, or connect them again.';
    return finding('video', 'fault', `${undecryptable} of ${total} accounts cannot be decrypted. ${advice}`);
  }
  if (outdated > 0) return finding('video', 'warning', `${outdated} of ${total} accounts ${NEED_OLD_KEY}`);
  return finding('video', 'ok', `${total} accounts with credentials, all can be decrypted`);
}

async function checkWebhooks(db: Database, { SECRETS_KEY = [] }: Config): Promise<Finding> {
  const secretBox = new SecretBox(SECRETS_KEY);
  const { total, undecryptable, outdated } = await countSecrets({ db, clock: systemClock }, secretBox);
  if (undecryptable > 0) {
    const advice = 'Add the key they were created with to SECRETS_KEY, or rotate them.';
    return finding('webhooks', 'fault', `${undecryptable} of ${total} secrets cannot be decrypted. ${advice}`);
  }
  const failing = await countFailingEndpoints({ db });
  if (failing > 0) {
    const advice = 'Repair the receivers, then run "case-records webhook resume".';
    return finding('webhooks', 'warning', `${failing} endpoints are failing. ${advice}`);
  }
  if (outdated > 0) return finding('webhooks', 'warning', `${outdated} of ${total} secrets ${NEED_OLD_KEY}`);
  return finding('webhooks', 'ok', `${total} secrets, all can be decrypted; no endpoint is failing`);
}

const releaseFinding = (check: string, program: string, advice: string | undefined): Finding =>
  advice
    ? finding(check, 'warning', advice)
    : finding(check, 'ok', `${program}; no newer security release was known on ${LISTED_ON}`);

function isKnownZone(zone: string): boolean {
  try {
    return Temporal.Now.zonedDateTimeISO(zone) !== undefined;
  } catch {
    return false;
  }
}

async function checkDiskSpace({ DATABASE_URL, DATA_DIR }: Config): Promise<Finding[]> {
  if (DATABASE_URL !== undefined) return [];
  const stats = await statfs(DATA_DIR).catch(() => undefined);
  if (!stats) return [];
  const freeBytes = stats.bavail * stats.bsize;
  const state = freeBytes < MIN_FREE_BYTES ? 'warning' : 'ok';
  const advice = state === 'ok' ? '' : ' Free some space: a full disk stops every write.';
  return [finding('disk', state, `${(freeBytes / 1e9).toFixed(1)} GB free for ${DATA_DIR}.${advice}`)];
}

const finding = (check: string, state: Finding['state'], text: string): Finding => ({ check, state, finding: text });
