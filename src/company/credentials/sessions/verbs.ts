import { randomBytes } from 'node:crypto';
import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { InvalidTokenError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import type { AdminContext, CompanyContext } from '../../admin-context.ts';
import { withCredentialLock } from '../credential-lock.ts';
import { secretHash } from '../secrets.ts';
import { type Role, scopesOfRole } from '../users/roles.ts';
import * as sql from './statements.sql.ts';

/** What is stored about the browser that signs in, so that its owner recognises it. */
export type BrowserTraits = { address: string; userAgent: string };

export type UserKey = { company_id: string; user_id: string };

type NewSession = UserKey & {
  purpose: 'full' | 'enrolment';
  method: 'passkey' | 'password' | 'link';
  browser: BrowserTraits;
  /** The session that the browser had before. It ends, so that a session that somebody planted there is of no use. */
  replacedSecret: string | undefined;
};

export type StartedSession = { id: string; secret: string; browserSecret: string };

const newSecret = (): string => randomBytes(32).toString('base64url');

/** Starts a session. Returns undefined if the user was disabled meanwhile, or if the company is being removed. */
export async function startSession(
  { db, clock }: AdminContext,
  { company_id, user_id, purpose, method, browser, replacedSecret }: NewSession,
): Promise<StartedSession | undefined> {
  const started = { id: newId(), secret: newSecret(), browserSecret: newSecret() };
  const inserted = await db.queryFirst(
    sql.insertSession({
      company_id,
      user_id,
      id: started.id,
      secret_sha256: secretHash(started.secret),
      browser_sha256: secretHash(started.browserSecret),
      replaced_sha256: replacedSecret === undefined ? null : secretHash(replacedSecret),
      purpose,
      method,
      address: browser.address,
      user_agent: browser.userAgent,
      now: toSql(clock()),
    }),
  );
  return inserted && started;
}

type CurrentRow = { user: string; company: string; role: Role; purpose: string; session: string };

/** Returns the signed-in user, the company and the session. */
export async function showCurrent({ db, clock }: AdminContext, key: UserKey & { id: string }): Promise<string> {
  const row = await db.queryFirst<CurrentRow>(sql.showCurrent({ ...key, now: toSql(clock()) }));
  if (!row) throw new InvalidTokenError('The session has ended.');
  const scopes = row.purpose === 'full' ? [...scopesOfRole(row.role)] : [];
  return `{"user" : ${row.user}, "company" : ${row.company}, "scopes" : ${JSON.stringify(scopes)}, "session" : ${row.session}}`;
}

/** The keys of the user and of the session of a request. */
export function ownKeys({ company, credential, token }: Context): UserKey & { id: string } {
  if (credential?.type !== 'user' || !token) throw new Error('An operation was reached without a session.');
  return { company_id: company.id, user_id: credential.id, id: token.id };
}

export async function listOwnSessions(context: Context): Promise<string> {
  const { company_id, user_id, id } = ownKeys(context);
  const now = toSql(context.clock());
  return (await context.db.queryJson(sql.listSessions({ company_id, user_id, current_id: id, now }))) ?? '[]';
}

/** Ends the session of the request. */
export async function signOut(context: Context): Promise<string> {
  const ended = await context.db.queryRows(
    sql.endSessions({ ...ownKeys(context), except_id: null, now: toSql(context.clock()) }),
  );
  return JSON.stringify({ ended: ended.length });
}

export async function endOwnSession(context: Context, id: string): Promise<string> {
  const { company_id, user_id } = ownKeys(context);
  const now = toSql(context.clock());
  const ended = await context.db.queryRows(sql.endSessions({ company_id, user_id, id, except_id: null, now }));
  if (ended.length === 0) throw notFound('session');
  return JSON.stringify({ ended: ended.length });
}

/** Ends all sessions of the user except the one of the request. */
export async function endOtherSessions(context: Context): Promise<string> {
  const { company_id, user_id, id } = ownKeys(context);
  const now = toSql(context.clock());
  const ended = await context.db.queryRows(sql.endSessions({ company_id, user_id, id: null, except_id: id, now }));
  return JSON.stringify({ ended: ended.length });
}

/** Ends every session of a user, as a part of another change. */
export async function endAllSessions({ db, company, clock }: CompanyContext, userId: string): Promise<void> {
  const user = { company_id: company.id, user_id: userId };
  await db.queryRows(sql.endSessions({ ...user, id: null, except_id: null, now: toSql(clock()) }));
}

/** Ends every session of a user of the company, and writes that into the history. */
export const endSessionsOfUser = (context: CompanyContext, userId: string): Promise<string> =>
  withCredentialLock(context, async ({ db, company, clock }) => {
    const ended = await db.queryJson(
      sql.endSessionsOfUser({
        company_id: company.id,
        user_id: userId,
        now: toSql(clock()),
        origin: auditOrigin(context),
      }),
    );
    if (ended === undefined) throw notFound('user');
    return ended;
  });

export async function purgeSessions(db: Database, clock: Clock): Promise<void> {
  await db.queryRows(sql.purgeSessions({ now: toSql(clock()) }));
}
