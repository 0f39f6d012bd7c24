import { statfs } from 'node:fs/promises';
import { countSealedSecrets } from '../cases/appointments/meetings/accounts/verbs.ts';
import { verifyServer } from '../cases/appointments/messages/smtp.ts';
import { type Config, ConfigError } from '../config.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { LISTED_ON, nodeAdvice, postgresAdvice, postgresVersion } from '../kernel/schema/security-releases.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { statement } from '../kernel/sql/statement.ts';
import { systemClock } from '../kernel/time/time.ts';
import { countFailing, countSecrets } from '../webhooks/endpoints/secrets.ts';
import type { Command } from './command.ts';
import { type Reached, reachDatabase } from './database.ts';
import { table } from './table.ts';

type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; finding: string };

const CLOCK_WARNING_S = 2;
const CLOCK_FAULT_S = 30;
const LITTLE_SPACE = 1_000_000_000;

const server = statement(
  'doctor.server',
  `SELECT current_setting('server_version_num')::int AS version, extract(epoch FROM clock_timestamp())::float8 AS now`,
);
/** Whoever owns the table, its schema or its database, or may put a trigger onto it, can do as they like with it. */
const log = statement(
  'doctor.events',
  `SELECT has_table_privilege(t.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') OR pg_has_role(t.relowner, 'MEMBER')
            OR pg_has_role(n.nspowner, 'MEMBER') OR pg_has_role(d.datdba, 'MEMBER') AS changeable,
          (SELECT days FROM event_retention) AS days
     FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
     JOIN pg_database d ON d.datname = current_database() WHERE t.oid = 'events'::regclass`,
);
const zones = statement('doctor.zones', 'SELECT DISTINCT time_zone FROM companies ORDER BY 1');

export const commands: Command[] = [
  {
    name: 'doctor',
    summary:
      'Check settings, mail, disk, database, migrations, event log, clock, video accounts and webhooks, and say what to do',
    description: 'Changes nothing. Exit code 1 when something keeps the service from working.',
    examples: ['doctor', 'doctor --json'],
    run: async (call) => {
      const findings = await examine(() => call.config);
      return {
        json: JSON.stringify(findings),
        text: table(findings, ['state', 'check', 'finding']),
        failed: findings.some(({ state }) => state === 'fault'),
      };
    },
  },
];

async function examine(settings: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = settings();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => ({ check: 'settings', state: 'fault', finding: `${fault}. Correct it.` }));
  }
  const { node: running } = process.versions;
  const node = upToDate('node', `Node ${running}`, nodeAdvice(running));
  const settled = finding('settings', 'ok', 'none is wrong');
  return [settled, node, await mail(config), sms(config), ...(await space(config)), ...(await database(config))];
}

async function mail({ SMTP_URL, DATA_DIR }: Config): Promise<Finding> {
  if (SMTP_URL === undefined) {
    return finding('mail', 'warning', `written to files in ${DATA_DIR}/outbox. Set SMTP_URL, so that mails go out.`);
  }
  const { host } = new URL(SMTP_URL);
  return verifyServer(SMTP_URL).then(
    () => finding('mail', 'ok', `${host} takes mails`),
    (error: Error) => finding('mail', 'fault', `${host} takes none: ${error.message}. Correct SMTP_URL.`),
  );
}

function sms({ SMS_PROVIDER, DATA_DIR }: Config): Finding {
  return SMS_PROVIDER === 'outbox'
    ? finding('sms', 'warning', `written to files in ${DATA_DIR}/outbox. Set SMS_PROVIDER, so that SMS go out.`)
    : finding('sms', 'ok', `sent by ${SMS_PROVIDER}; nothing was sent to try it`);
}

async function database(config: Config): Promise<Finding[]> {
  let reached: Reached;
  try {
    reached = await reachDatabase(config, { create: false });
  } catch (error) {
    return [finding('database', 'fault', (error as Error).message)];
  }
  try {
    await requireSafeServer(reached.setup.owner);
    return await onServer(reached, config);
  } catch (error) {
    return [finding('database', 'fault', (error as Error).message)];
  } finally {
    await reached.leave();
  }
}

async function onServer({ connection, setup }: Reached, config: Config): Promise<Finding[]> {
  const missing = await pendingMigrations(setup.owner, await readMigrations());
  const bundled = config.DATABASE_URL === undefined;
  const found = await within(setup.owner, (db) => serverAndClock(db, bundled));
  if (missing.length > 0) {
    return [...found, finding('migrations', 'fault', `${missing.join(', ')} missing. Run "case-records migrate".`)];
  }
  // The role may be made by a migration, and has settings of its own.
  await requireSafeServer(connection);
  const migrated = finding('migrations', 'ok', 'none is missing');
  return within(connection, async (db) => [
    ...found,
    migrated,
    await eventLog(db, config),
    await knownZones(db),
    await videoAccounts(db, config),
    await webhooks(db, config),
  ]);
}

async function within<T>(connection: Connection, look: (db: Database) => Promise<T>): Promise<T> {
  const db = new Database({ connection, poolSize: 1 });
  try {
    return await look(db);
  } finally {
    await db.close();
  }
}

async function serverAndClock(db: Database, bundled: boolean): Promise<Finding[]> {
  await db.queryFirst(server, []);
  const before = Date.now();
  const row = await db.queryFirst<{ version: number; now: number }>(server, []);
  const version = postgresVersion(row?.version ?? 0);
  const apart = Math.abs((row?.now ?? 0) - (before + Date.now()) / 2_000);
  const state = apart > CLOCK_FAULT_S ? 'fault' : apart > CLOCK_WARNING_S ? 'warning' : 'ok';
  const advice = state === 'ok' ? '' : ' Set both by NTP: reminders go out by the clock of the service.';
  return [
    upToDate('database', `PostgreSQL ${version}`, postgresAdvice(version, { bundled })),
    finding('clock', state, `${apart.toFixed(1)} s apart from the database's.${advice}`),
  ];
}

async function eventLog(db: Database, { EVENT_RETENTION_DAYS: wanted }: Config): Promise<Finding> {
  const row = await db.queryFirst<{ changeable: boolean; days: number | null }>(log, []);
  const days = row?.days ?? undefined;
  if (days !== wanted) {
    const kept = days === undefined ? 'for ever' : `${days} days`;
    return finding('events', 'warning', `kept ${kept}, not as EVENT_RETENTION_DAYS says. Run "case-records migrate".`);
  }
  return row?.changeable
    ? finding(
        'events',
        'warning',
        "the service's role can change the log. Set DATABASE_OWNER_URL: see docs/operations.md.",
      )
    : finding('events', 'ok', 'the role of the service can add to the log and not change it');
}

/** A zone that was known to another version of Node would make every time of the company unreadable. */
async function knownZones(db: Database): Promise<Finding> {
  const rows = await db.queryRows<{ time_zone: string }>(zones, []);
  const unknown = rows.map(({ time_zone }) => time_zone).filter((zone) => !isKnown(zone));
  return unknown.length > 0
    ? finding(
        'time zones',
        'fault',
        `not known here: ${unknown.join(', ')}. Change it with "case-records company update".`,
      )
    : finding('time zones', 'ok', `${rows.length} in use, all known`);
}

async function videoAccounts(db: Database, { SECRETS_KEY = [] }: Config): Promise<Finding> {
  const { all, closed, old } = await countSealedSecrets({ db }, new SecretBox(SECRETS_KEY));
  if (closed > 0) {
    const advice = 'Add the key they were connected with to SECRETS_KEY, or connect them again.';
    return finding('video', 'fault', `${closed} of ${all} cannot be opened. ${advice}`);
  }
  if (old > 0) {
    const advice = 'Run "case-records adviser reseal" before you leave it out of SECRETS_KEY.';
    return finding('video', 'warning', `${old} of ${all} need a key behind the first. ${advice}`);
  }
  return finding('video', 'ok', `${all} accounts with credentials, all can be opened`);
}

async function webhooks(db: Database, { SECRETS_KEY = [] }: Config): Promise<Finding> {
  const { all, closed, old } = await countSecrets({ db, clock: systemClock }, new SecretBox(SECRETS_KEY));
  if (closed > 0) {
    const advice = 'Add the key they were made with to SECRETS_KEY, or rotate them.';
    return finding('webhooks', 'fault', `${closed} of ${all} secrets cannot be opened. ${advice}`);
  }
  const failing = await countFailing({ db });
  if (failing > 0) {
    const advice = 'Mend the receivers, then run "case-records webhook resume".';
    return finding('webhooks', 'warning', `${failing} endpoints are failing. ${advice}`);
  }
  if (old > 0) {
    const advice = 'Run "case-records adviser reseal" before you leave it out of SECRETS_KEY.';
    return finding('webhooks', 'warning', `${old} of ${all} secrets need a key behind the first. ${advice}`);
  }
  return finding('webhooks', 'ok', `${all} secrets, all can be opened; no endpoint is failing`);
}

const upToDate = (check: string, program: string, advice: string | undefined): Finding =>
  advice
    ? finding(check, 'warning', advice)
    : finding(check, 'ok', `${program}; no newer security release was known on ${LISTED_ON}`);

function isKnown(zone: string): boolean {
  try {
    return Temporal.Now.zonedDateTimeISO(zone) !== undefined;
  } catch {
    return false;
  }
}

async function space({ DATABASE_URL, DATA_DIR }: Config): Promise<Finding[]> {
  if (DATABASE_URL !== undefined) return [];
  const found = await statfs(DATA_DIR).catch(() => undefined);
  if (!found) return [];
  const free = found.bavail * found.bsize;
  const state = free < LITTLE_SPACE ? 'warning' : 'ok';
  const advice = state === 'ok' ? '' : ' Make room: a full disk stops every write.';
  return [finding('disk', state, `${(free / 1e9).toFixed(1)} GB free for ${DATA_DIR}.${advice}`)];
}

const finding = (check: string, state: Finding['state'], text: string): Finding => ({ check, state, finding: text });
