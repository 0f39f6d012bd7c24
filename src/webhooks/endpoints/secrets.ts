import { createHmac, randomBytes } from 'node:crypto';
import type { Executor } from '../../kernel/database/database.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import * as sql from './secrets.sql.ts';

/** The prefix lets people and the secret scanners of code hosts recognise a leaked secret. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

/** Binds an encrypted secret to its endpoint: it cannot be decrypted for another one. */
export const secretOwner = (companyId: string, endpointId: string): string[] => [companyId, endpointId.toLowerCase()];

/** Has one signature per secret; docs/client.md describes the format. */
export function signatureHeader(secrets: readonly string[], seconds: number, body: string): string {
  const sign = (secret: string) => createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return [`t=${seconds}`, ...secrets.map((secret) => `v1=${sign(secret)}`)].join(',');
}

type SealedRow = { company_id: string; id: string; sealed: string };

/** Counts the encrypted secrets: all, those that no key decrypts, and those that need a key other than the first. */
export async function countSecrets(
  { db, clock }: { db: Executor; clock: Clock },
  secrets: SecretBox,
): Promise<{ total: number; undecryptable: number; outdated: number }> {
  const rows = await db.queryRows<SealedRow>(sql.listEncryptedSecrets({ now: toSql(clock()) }));
  const open = rows.filter(
    ({ company_id, id, sealed }) => secrets.open(sealed, secretOwner(company_id, id)) !== undefined,
  );
  const current = open.filter(({ company_id, id, sealed }) => secrets.isCurrent(sealed, secretOwner(company_id, id)));
  return {
    total: rows.length,
    undecryptable: rows.length - open.length,
    outdated: open.length - current.length,
  };
}

/** Re-encrypts under the first key every secret that still needs an older one. */
export async function reencryptSecrets(
  { db, clock }: { db: Executor; clock: Clock },
  secrets: SecretBox,
): Promise<{ secrets: number; reencrypted: number; undecryptable: number }> {
  const rows = await db.queryRows<SealedRow>(sql.listEncryptedSecrets({ now: toSql(clock()) }));
  let reencrypted = 0;
  let undecryptable = 0;
  for (const { company_id, id, sealed } of rows) {
    const owner = secretOwner(company_id, id);
    if (secrets.isCurrent(sealed, owner)) continue;
    const secret = secrets.open(sealed, owner);
    if (secret === undefined) undecryptable += 1;
    else {
      const resealed = secrets.seal(secret, owner);
      if (await db.queryFirst(sql.reencryptSecret({ company_id, id, sealed, resealed }))) reencrypted += 1;
    }
  }
  return { secrets: rows.length, reencrypted, undecryptable };
}
