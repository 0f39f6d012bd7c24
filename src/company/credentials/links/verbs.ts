import { randomBytes } from 'node:crypto';
import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import type { CompanyContext } from '../../admin-context.ts';
import { secretHash } from '../secrets.ts';
import { endAllSessions } from '../sessions/verbs.ts';
import * as sql from './statements.sql.ts';

export const INVITATION_TIME = { hours: 72 };
export const RECOVERY_TIME = { minutes: 30 };
const LOCAL_TIME = { hours: 1 };

/** The prefix lets readers and secret scanners recognise a leaked link. */
export const newLinkSecret = (): string => `crl_${randomBytes(32).toString('base64url')}`;

/** A browser does not send the part after `#`, so it is in no log. */
export const linkAddress = (siteUrl: string, secret: string): string => `${siteUrl}/sign-in#link=${secret}`;

/** How an invitation reaches the person: by mail, or as a link that the caller passes on. */
export type Delivery = 'mail' | 'print';

/**
 * Invites a user who cannot sign in yet, and ends the sessions that earlier invitations began. Must run under the lock of
 * the company's credentials. Returns the secret of the link if it is to be printed.
 */
export async function inviteUser(
  locked: CompanyContext,
  userId: string,
  delivery: Delivery,
): Promise<string | undefined> {
  const { db, clock } = locked;
  if (delivery === 'mail') await assertFewMailedInvitations(locked, userId);
  const secret = delivery === 'print' ? newLinkSecret() : undefined;
  await insertLink(locked, { userId, kind: 'invitation', secret, expires: clock().add(INVITATION_TIME) });
  // After the statement that may have waited for the use of an earlier link, so that it sees the session of that.
  await endAllSessions(locked, userId);
  if (secret === undefined) notifyWorkers(db);
  return secret;
}

/** Throws if the company may not mail an invitation to another new user now. */
export async function assertFewInvitations(locked: CompanyContext): Promise<void> {
  const { of_company } = await countInvitations(locked, null);
  if (of_company < sql.MAX_INVITATIONS_PER_DAY) return;
  throw invalidState('body', `there can be at most ${sql.MAX_INVITATIONS_PER_DAY} invitations by mail in 24 hours`);
}

/** Throws if the user may not get another invitation by mail now. New users leave room for those who are invited again. */
async function assertFewMailedInvitations(locked: CompanyContext, userId: string): Promise<void> {
  const { of_company, of_user } = await countInvitations(locked, userId);
  const limits = [
    { count: of_user, max: sql.MAX_INVITATIONS_OF_USER_PER_DAY, whose: 'a user' },
    { count: of_company, max: sql.MAX_MAILED_INVITATIONS_PER_DAY, whose: 'the users of a company' },
  ];
  const reached = limits.find(({ count, max }) => count >= max);
  if (!reached) return;
  const { whose, max } = reached;
  throw invalidState('body', `${whose} can get at most ${max} invitations by mail in 24 hours`);
}

async function countInvitations({ db, company, clock }: CompanyContext, user_id: string | null) {
  const since = toSql(clock().subtract({ hours: 24 }));
  const query = sql.countInvitations({ company_id: company.id, user_id, since });
  return (await db.queryFirst<{ of_company: number; of_user: number }>(query)) ?? { of_company: 0, of_user: 0 };
}

type NewLink = { userId: string; kind: 'invitation' | 'local'; secret: string | undefined; expires: Instant };

async function insertLink({ db, company, clock }: CompanyContext, { userId, kind, secret, expires }: NewLink) {
  const inserted = await db.queryRows(
    sql.insertLink({
      company_id: company.id,
      id: newId(),
      user_id: userId,
      kind,
      secret_sha256: secret === undefined ? null : secretHash(secret),
      expires_at: toSql(expires),
      now: toSql(clock()),
    }),
  );
  if (inserted.length === 0) throw invalidState('state', 'the user is disabled: enable the user first');
}

/**
 * Removes all ways to sign in of a user who is not disabled, and the links. Nobody else learns or chooses a password.
 * Must run under the lock of the company's credentials; the caller ends the sessions afterwards.
 */
export async function resetFactors(locked: CompanyContext, userId: string): Promise<void> {
  const { db, company, clock } = locked;
  const reset = await db.queryRows(
    sql.resetFactors({ company_id: company.id, id: userId, now: toSql(clock()), origin: auditOrigin(locked) }),
  );
  if (reset.length === 0) throw notFound('user that is not disabled');
}

/** A link that signs in without any factor, once, on the machine itself: for the demonstration company. */
export async function createLocalLink(context: CompanyContext, userId: string): Promise<string> {
  const secret = newLinkSecret();
  await insertLink(context, { userId, kind: 'local', secret, expires: context.clock().add(LOCAL_TIME) });
  return secret;
}

/** Links stay for a while, so that they are counted. */
const RETENTION = { hours: 7 * 24 };

export async function purgeLinks(db: Database, clock: Clock): Promise<void> {
  await db.queryRows(sql.purgeLinks({ expired_before: toSql(clock().subtract(RETENTION)) }));
}

export async function endRestored(db: Database, clock: Clock): Promise<void> {
  const now = toSql(clock());
  await db.queryRows(sql.endRestoredLinks({ now }));
  await db.queryRows(sql.endRestoredSessions({ now }));
}
