import type { Executor } from '../../../kernel/database/database.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import * as sql from './code-secrets.sql.ts';

/** What the encrypted secret of a user's one-time codes is bound to. */
export const codeSecretOwner = (companyId: string, userId: string): readonly string[] => [companyId, userId, 'codes'];

type SecretRow = { company_id: string; id: string; sealed_secret: string };

/** Counts the secrets of one-time codes of all companies. */
export async function countCodeSecrets({ db }: { db: Executor }, secrets: SecretBox) {
  const rows = await db.queryRows<SecretRow>(sql.listCodeSecrets({}));
  const open = rows.filter((row) => secrets.open(row.sealed_secret, codeSecretOwner(row.company_id, row.id)));
  const current = open.filter((row) => secrets.isCurrent(row.sealed_secret, codeSecretOwner(row.company_id, row.id)));
  return { total: rows.length, undecryptable: rows.length - open.length, outdated: open.length - current.length };
}

/** Re-encrypts under the first key every secret that still needs an older one. */
export async function reencryptCodeSecrets({ db }: { db: Executor }, secrets: SecretBox) {
  const rows = await db.queryRows<SecretRow>(sql.listCodeSecrets({}));
  const counts = { secrets: rows.length, reencrypted: 0, undecryptable: 0 };
  for (const { company_id, id, sealed_secret: old_sealed_secret } of rows) {
    const owner = codeSecretOwner(company_id, id);
    if (secrets.isCurrent(old_sealed_secret, owner)) continue;
    const secret = secrets.open(old_sealed_secret, owner);
    if (secret === undefined) counts.undecryptable += 1;
    else {
      const new_sealed_secret = secrets.seal(secret, owner);
      const query = sql.reencryptCodeSecret({ company_id, id, old_sealed_secret, new_sealed_secret });
      if (await db.queryFirst(query)) counts.reencrypted += 1;
    }
  }
  return counts;
}
