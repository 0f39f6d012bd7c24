import { auditOrigin } from '../../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../../kernel/context.ts';
import { retryOnConflict } from '../../../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import { notifyWorkers } from '../../../../kernel/jobs/notify-workers.ts';
import type { SecretBox } from '../../../../kernel/secret-box.ts';
import { toSql } from '../../../../kernel/time/time.ts';
import type { Form } from '../../../../kernel/validation/form.ts';
import type { VideoAccountBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const CREDENTIALS = ['account_id', 'client_id', 'client_secret', 'user'] as const;

export async function showAccount({ db, company }: Context, adviserId: string): Promise<string> {
  const record = await db.queryJson(sql.showAccount, [company.id, adviserId]);
  if (record !== undefined) return record;
  await requireAdviser({ db, company }, adviserId);
  throw notFound('video account');
}

/** `secrets` is undefined where the service has no key to keep any with. */
export async function connectAccount(
  context: Context,
  adviserId: string,
  form: Form<VideoAccountBody>,
  secrets: SecretBox | undefined,
): Promise<string> {
  const { db, company, clock } = context;
  const { provider, account_id, client_id, client_secret, user } = form.body;
  if (provider === 'zoom') requireCredentials(form, secrets);
  if (!form.ok) {
    await requireAdviser(context, adviserId);
    form.check();
  }
  // As the database writes it: whoever opens it has the identifier from there.
  const owner = [company.id, adviserId.toLowerCase()];
  const sealed = client_secret && secrets ? secrets.seal(client_secret, owner) : null;
  const credentials = provider === 'zoom' ? [account_id, client_id, user, sealed] : [null, null, null, null];
  const values = [company.id, adviserId, provider, newId(), ...credentials, toSql(clock()), auditOrigin(context)];
  const record = await retryOnConflict(
    () => db.queryJson(sql.connectAccount, values),
    () => requireAdviser(context, adviserId),
  );
  await followed(context);
  return record;
}

export async function disconnectAccount(context: Context, adviserId: string): Promise<string> {
  const { db, company, clock } = context;
  const record = await retryOnConflict(
    () => db.queryJson(sql.disconnectAccount, [company.id, adviserId, toSql(clock()), auditOrigin(context)]),
    async () => {
      // Also where nothing was connected: an earlier request may have ended half way.
      await followed(context);
      await showAccount(context, adviserId);
    },
  );
  await followed(context);
  return record;
}

type SealedRow = { company_id: string; id: string; adviser_id: string; sealed_secret: string };

const ownerOf = ({ company_id, adviser_id }: SealedRow): string[] => [company_id, adviser_id];

/** Counts the encrypted secrets: all, those that no key decrypts, and those that need a key other than the first. */
export async function countAccounts(
  { db }: Pick<Context, 'db'>,
  secrets: SecretBox,
): Promise<{ total: number; undecryptable: number; outdated: number }> {
  const rows = await db.queryRows<SealedRow>(sql.sealedSecrets, []);
  const open = rows.filter((row) => secrets.open(row.sealed_secret, ownerOf(row)) !== undefined);
  const current = open.filter((row) => secrets.isCurrent(row.sealed_secret, ownerOf(row)));
  return {
    total: rows.length,
    undecryptable: rows.length - open.length,
    outdated: open.length - current.length,
  };
}

/** Re-encrypts under the first key every secret that still needs an older one. */
export async function reencryptAccounts(
  { db }: Pick<Context, 'db'>,
  secrets: SecretBox,
): Promise<{ accounts: number; reencrypted: number; undecryptable: number }> {
  const rows = await db.queryRows<SealedRow>(sql.sealedSecrets, []);
  let reencrypted = 0;
  let undecryptable = 0;
  for (const row of rows) {
    const owner = ownerOf(row);
    if (secrets.isCurrent(row.sealed_secret, owner)) continue;
    const secret = secrets.open(row.sealed_secret, owner);
    if (secret === undefined) undecryptable += 1;
    else {
      const values = [row.company_id, row.id, row.sealed_secret, secrets.seal(secret, owner)];
      if (await db.queryFirst(sql.reencryptSecret, values)) reencrypted += 1;
    }
  }
  return { accounts: rows.length, reencrypted, undecryptable };
}

function requireCredentials(form: Form<VideoAccountBody>, secrets: SecretBox | undefined): void {
  for (const name of CREDENTIALS) {
    if (form.body[name] == null && !form.hasFault(name)) form.addFault(name, 'required', 'is required for zoom');
  }
  if (!secrets) form.addFault('client_secret', 'invalid_state', 'cannot be kept: the setting SECRETS_KEY is not set');
}

/** Secrets that nothing needs any more go, and the workers see to the meetings. */
async function followed({ db, company }: Context): Promise<void> {
  await db.queryRows(sql.forgetAccounts, [company.id]);
  notifyWorkers(db);
}

async function requireAdviser({ db, company }: Pick<Context, 'db' | 'company'>, adviserId: string): Promise<void> {
  if (!(await db.queryFirst(sql.adviserExists, [company.id, adviserId]))) throw notFound('adviser');
}
