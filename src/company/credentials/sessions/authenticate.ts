import type { Caller } from '../../../kernel/context.ts';
import type { Database, Executor } from '../../../kernel/database/database.ts';
import { RequestDatabase } from '../../../kernel/database/request-database.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import { type CompanyRow, companyOf } from '../../company.ts';
import { cachedLookup } from '../authenticate.ts';
import { secretHash } from '../secrets.ts';
import { type Role, scopesOfRole } from '../users/roles.ts';
import { findSession } from './statements.sql.ts';

const NO_SCOPES: ReadonlySet<string> = new Set();

/**
 * Returns a function that resolves the secret of a session to its caller, cached like tokens: a disabled user, a changed
 * role and an ended session take effect in every process within the lifetime of the cache.
 */
export const createSessionAuthenticator = (db: Database, clock: Clock) =>
  cachedLookup(clock, (secret) => findCaller(new RequestDatabase(db), clock, secret));

type SessionRow = CompanyRow & {
  session_id: string;
  purpose: 'full' | 'enrolment';
  started_ms: number;
  user_id: string;
  name: string;
  role: Role;
};

async function findCaller(db: Executor, clock: Clock, secret: string): Promise<Caller | undefined> {
  const row = await db.queryFirst<SessionRow>(findSession({ secret_sha256: secretHash(secret), now: toSql(clock()) }));
  if (!row) return undefined;
  return {
    credential: { type: 'user', id: row.user_id, name: row.name },
    token: { companyId: row.id, id: row.session_id, type: 'session' },
    scopes: row.purpose === 'full' ? scopesOfRole(row.role) : NO_SCOPES,
    company: companyOf(row),
    session: { purpose: row.purpose, startedMs: row.started_ms },
  };
}
