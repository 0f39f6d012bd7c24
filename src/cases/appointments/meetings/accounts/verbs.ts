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

const CREDENTIAL_FIELDS = ['account_id', 'client_id', 'client_secret', 'user'] as const;

export async function readAccount({ db, company }: Context, adviserId: string): Promise<string> {
  const record = await db.queryJson(sql.readAccount({ company_id: company.id, id: adviserId }));
  if (record !== undefined) return record;
  await requireAdviser({ db, company }, adviserId);
  throw notFound('video account');
}

/** `secrets` is undefined if the service has no key to encrypt secrets with. */
export async function connectAccount(
  context: Context,
  adviserId: string,
  form: Form<VideoAccountBody>,
  secrets: SecretBox | undefined,
): Promise<string> {
  const { db, company, clock } = context;
  const { provider, account_id, client_id, client_secret, user } = form.body;
  if (provider === 'zoom') checkCredentials(form, secrets);
  if (!form.ok) {
    await requireAdviser(context, adviserId);
    form.check();
  }
  // In lower case, as the database returns it: the secret is decrypted with the identifier from there.
  const owner = [company.id, adviserId.toLowerCase()];
  const sealedSecret = client_secret && secrets ? secrets.seal(client_secret, owner) : null;
  const isZoom = provider === 'zoom';
  const inputs = {
    company_id: company.id,
    id: adviserId,
    provider,
    video_account_id: newId(),
    account_id: isZoom ? account_id : null,
    client_id: isZoom ? client_id : null,
    host: isZoom ? user : null,
    sealed_secret: isZoom ? sealedSecret : null,
    now: toSql(clock()),
    origin: auditOrigin(context),
  };
  const record = await retryOnConflict(
    () => db.queryJson(sql.connectAccount(inputs)),
    () => requireAdviser(context, adviserId),
  );
  await cleanUp(context);
  return record;
}

export async function disconnectAccount(context: Context, adviserId: string): Promise<string> {
  const { db, company, clock } = context;
  const disconnect = () => {
    const origin = auditOrigin(context);
    return db.queryJson(sql.disconnectAccount({ company_id: company.id, id: adviserId, now: toSql(clock()), origin }));
  };
  const record = await retryOnConflict(disconnect, async () => {
    // An earlier request may have disconnected the account and then crashed before it cleaned up.
    await cleanUp(context);
    await readAccount(context, adviserId);
  });
  await cleanUp(context);
  return record;
}

type SealedRow = { company_id: string; id: string; adviser_id: string; sealed_secret: string };

const ownerOf = ({ company_id, adviser_id }: SealedRow): string[] => [company_id, adviser_id];

/** Counts the encrypted secrets: all, those that no key decrypts, and those that need a key other than the first. */
export async function countAccounts(
  { db }: Pick<Context, 'db'>,
  secrets: SecretBox,
): Promise<{ total: number; undecryptable: number; outdated: number }> {
  const rows = await db.queryRows<SealedRow>(sql.listSealedSecrets({}));
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
  const rows = await db.queryRows<SealedRow>(sql.listSealedSecrets({}));
  let reencrypted = 0;
  let undecryptable = 0;
  for (const row of rows) {
    const owner = ownerOf(row);
    if (secrets.isCurrent(row.sealed_secret, owner)) continue;
    const secret = secrets.open(row.sealed_secret, owner);
    if (secret === undefined) undecryptable += 1;
    else {
      const { company_id, id, sealed_secret: old_sealed_secret } = row;
      const new_sealed_secret = secrets.seal(secret, owner);
      const query = sql.reencryptSecret({ company_id, id, old_sealed_secret, new_sealed_secret });
      if (await db.queryFirst(query)) reencrypted += 1;
    }
  }
  return { accounts: rows.length, reencrypted, undecryptable };
}

function checkCredentials(form: Form<VideoAccountBody>, secrets: SecretBox | undefined): void {
  for (const name of CREDENTIAL_FIELDS) {
    if (form.body[name] == null && !form.hasFault(name)) form.addFault(name, 'required', 'is required for zoom');
  }
  if (!secrets) form.addFault('client_secret', 'invalid_state', 'cannot be stored: the setting SECRETS_KEY is not set');
}

/** Deletes secrets that are no longer needed, and wakes the workers to reconcile the meetings. */
async function cleanUp({ db, company }: Context): Promise<void> {
  await db.queryRows(sql.forgetUnusedSecrets({ company_id: company.id }));
  notifyWorkers(db);
}

async function requireAdviser({ db, company }: Pick<Context, 'db' | 'company'>, adviserId: string): Promise<void> {
  const exists = await db.queryFirst(sql.adviserExists({ company_id: company.id, id: adviserId }));
  if (!exists) throw notFound('adviser');
}
