import { CodedError } from '../../kernel/errors.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { CompanyContext } from '../admin-context.ts';
import * as sql from './credential-lock.sql.ts';

/**
 * Runs `work` in a transaction under the lock of the company's credentials, if the caller's token still works. Callers are
 * cached for two seconds, so a revoked token could otherwise make, or enable again, what its revocation has just ended.
 */
export function withCredentialLock<D extends CompanyContext, T>(
  context: D,
  work: (locked: D) => Promise<T>,
): Promise<T> {
  return context.db.transaction(async (db) => {
    const locked = { ...context, db };
    await lockCredentials(locked);
    await assertTokenActive(locked);
    return work(locked);
  });
}

/** Until the transaction ends no other request makes, changes or ends keys, clients and endpoints of the company. */
export async function lockCredentials({ db, company, token }: CompanyContext): Promise<void> {
  // An operator's key makes keys of other companies; its own company is where it is revoked.
  await db.queryRows(sql.lockCompanies, [[...new Set([company.id, token?.companyId ?? company.id])]]);
}

async function assertTokenActive({ db, token, clock }: CompanyContext): Promise<void> {
  if (!token) return;
  const found = await db.queryFirst(sql.findActiveToken, [token.companyId, token.id, toSql(clock())]);
  if (!found) throw new CodedError('invalid_token', 'The access token is not valid.');
}
