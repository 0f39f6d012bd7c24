import { InvalidTokenError } from '../../kernel/errors.ts';
import { effectiveScopes } from '../../kernel/scopes.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { CompanyContext } from '../admin-context.ts';
import * as sql from './credential-lock.sql.ts';
import { type Role, scopesOfRole } from './users/roles.ts';

/**
 * Runs `work` in a transaction that holds the lock of the company's credentials. Throws if the caller's token has
 * ended, or has lost a scope: callers are cached for two seconds, so a revoked token could otherwise create or re-enable what its revocation
 * ended.
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

/** Until the transaction ends, no other request creates, changes or ends the company's keys, clients and endpoints. */
export async function lockCredentials({ db, company, token }: CompanyContext): Promise<void> {
  // An operator's key creates keys for other companies, but it is revoked under the lock of its own company.
  const companyIds = new Set([company.id, token?.companyId ?? company.id]);
  await db.queryRows(sql.lockCompanies({ company_ids: [...companyIds] }));
}

async function assertTokenActive({ db, token, clock, scopes }: CompanyContext): Promise<void> {
  if (!token) return;
  const { companyId: company_id, id } = token;
  if (token.type === 'session') {
    const session = await db.queryFirst<{ role: Role }>(sql.findActiveSession({ company_id, id }));
    // A person whose role was changed must not create a key with the scopes of the old one.
    if (session && (scopes === undefined || scopes === scopesOfRole(session.role) || scopes.size === 0)) return;
    throw new InvalidTokenError('The session is not valid.');
  }
  const found = await db.queryFirst<{ scopes: string[] }>(sql.findActiveToken({ company_id, id, now: toSql(clock()) }));
  // A client that has lost a scope must not grant it to a key.
  if (!found || (scopes && !scopes.isSubsetOf(effectiveScopes(found.scopes))))
    throw new InvalidTokenError('The access token is not valid.');
}
