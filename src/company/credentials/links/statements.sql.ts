import { queueStatements } from '../../../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../../../kernel/sql/json.ts';
import { read, write } from '../../../kernel/sql/statement.ts';
import { FIRST_ACTIVE } from '../sign-in/statements.sql.ts';
import { userAudit } from '../users/audit.sql.ts';

export const KEY = ['company_id', 'id'] as const;
export const statements = queueStatements({
  tenantTable: 'companies',
  table: 'user_links',
  key: KEY,
  open: `state = 'waiting'`,
});

const KEY_INPUTS = { company_id: 'uuid', id: 'uuid' } as const;
const hasKey = (input: Record<keyof typeof KEY_INPUTS, string>) =>
  `l.company_id = ${input.company_id} AND l.id = ${input.id}`;

/** Mails to people who are invited must not flood anybody, neither a company's people nor one of them. */
export const MAX_INVITATIONS_PER_DAY = 500;
export const MAX_INVITATIONS_OF_USER_PER_DAY = 5;
/** Repeated invitations and resets included: a person who has lost every way to sign in seldom waits for the others. */
export const MAX_MAILED_INVITATIONS_PER_DAY = 2_000;

/** Counts the invitations that were mailed: of the company, and of the user. */
export const countInvitations = read('user_links.count_invitations', {
  inputs: { company_id: 'uuid', user_id: 'uuid?', since: 'timestamptz' },
  sql: (input) => `
    SELECT count(*)::int AS of_company, (count(*) FILTER (WHERE user_id = ${input.user_id}))::int AS of_user
      FROM user_links
     WHERE company_id = ${input.company_id} AND kind = 'invitation' AND state <> 'given' AND created_at > ${input.since}`,
});

/** SQL: the expiry of a link that has ended. Another process, whose clock is behind, would still accept a time of now. */
const ENDED = 'l.created_at';

/** Earlier invitations of the user end. Without `secret_sha256` a worker sends it by mail. */
export const insertLink = write('user_links.insert', {
  inputs: {
    ...KEY_INPUTS,
    user_id: 'uuid',
    kind: 'text',
    secret_sha256: 'bytea?',
    expires_at: 'timestamptz',
    now: 'timestamptz',
  },
  sql: (input) => `
    WITH ended AS (
      UPDATE user_links l SET expires_at = ${ENDED}
       WHERE l.company_id = ${input.company_id} AND l.user_id = ${input.user_id} AND l.used_at IS NULL
         AND l.kind = ${input.kind} AND l.expires_at > ${input.now}
    )
    INSERT INTO user_links (company_id, id, user_id, kind, email, secret_sha256, expires_at, state, due_at, created_at)
    SELECT u.company_id, ${input.id}, u.id, ${input.kind}, u.email, ${input.secret_sha256}, ${input.expires_at},
           CASE WHEN ${input.secret_sha256} IS NULL THEN 'waiting' ELSE 'given' END, ${input.now}, ${input.now}
      FROM users u WHERE u.company_id = ${input.company_id} AND u.id = ${input.user_id} AND u.state <> 'disabled'
    RETURNING user_links.email`,
});

/** A person who asks again gets another mail, but so many links work concurrently. */
const MAX_WORKING_RECOVERIES = 3;
/** After so many links in 24 hours, another one is sent only if none works. */
const MAX_REPEATED_RECOVERIES_PER_DAY = 12;

/**
 * Writes nothing if the address has no account, or if it has asked too often. Strangers can ask too, so only links that
 * still work and did not fail to be sent are counted: the person has one of them in the mailbox, or gets a new one.
 */
export const insertRecovery = write('user_links.insert_recovery', {
  inputs: { id: 'uuid', email: 'text', company_id: 'uuid?', expires_at: 'timestamptz', now: 'timestamptz' },
  sql: (input) => `
    INSERT INTO user_links (company_id, id, user_id, kind, email, expires_at, state, due_at, created_at)
    SELECT u.company_id, ${input.id}, u.id, 'recovery', u.email, ${input.expires_at}, 'waiting', ${input.now},
           ${input.now}
      FROM (SELECT * FROM users u
             WHERE lower(u.email) = lower(${input.email}) AND u.state = 'active'
               AND (${input.company_id} IS NULL OR u.company_id = ${input.company_id})
             ORDER BY ${FIRST_ACTIVE} LIMIT 1) u
     WHERE (SELECT count(*) FILTER (WHERE l.used_at IS NULL AND l.expires_at > ${input.now} AND l.state <> 'failed')
                   < CASE WHEN count(*) < ${MAX_REPEATED_RECOVERIES_PER_DAY} THEN ${MAX_WORKING_RECOVERIES} ELSE 1 END
              FROM user_links l
             WHERE l.company_id = u.company_id AND l.user_id = u.id AND l.kind = 'recovery'
               AND l.created_at > ${input.now} - interval '24 hours')
    RETURNING 1`,
});

/** Starts an attempt with a secret of its own. Returns no row if the lease was lost, or if the link has expired. */
export const startLinkMail = write('user_links.start', {
  inputs: { ...KEY_INPUTS, lease: 'uuid', secret_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    WITH l AS (
      UPDATE user_links l SET attempts = l.attempts + 1, secret_sha256 = ${input.secret_sha256}
       WHERE ${hasKey(input)} AND l.lease_by = ${input.lease} AND l.state = 'waiting'
      RETURNING l.*
    )
    SELECT l.id, l.kind, l.email, l.attempts AS attempt, ${isoTime('l.due_at')} AS due,
           ${isoTime('l.expires_at')} AS expires, l.expires_at <= ${input.now} AS expired, u.name,
           u.company_id, c.name AS company
      FROM l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
      JOIN companies c ON c.id = l.company_id`,
});

/** `state` is `waiting` if another attempt follows at `retry_at`. Updates no row if the lease was lost. */
export const recordLinkResult = write('user_links.record_result', {
  inputs: {
    ...KEY_INPUTS,
    lease: 'uuid',
    state: 'text',
    last_error: 'text?',
    retry_at: 'timestamptz?',
    now: 'timestamptz',
  },
  sql: (input) => `
    UPDATE user_links l
       SET state = ${input.state}, last_error = ${input.last_error}, lease_by = NULL, lease_until = ${input.retry_at},
           ended_at = CASE WHEN ${input.state} <> 'waiting' THEN ${input.now} END
     WHERE ${hasKey(input)} AND l.lease_by = ${input.lease} AND l.state = 'waiting'`,
});

/** Finds a link that can be used now. An invitation is of no use once the user is active. */
export const findLink = read('user_links.find', {
  inputs: { secret_sha256: 'bytea', code_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    SELECT l.company_id, l.id, l.kind, u.id AS user_id, u.name, u.sealed_secret, u.code_step,
           ${input.code_sha256} = ANY (u.recovery_sha256s) AS has_recovery_code
      FROM user_links l JOIN users u ON u.company_id = l.company_id AND u.id = l.user_id
     WHERE l.secret_sha256 = ${input.secret_sha256} AND l.used_at IS NULL AND l.expires_at > ${input.now}
       AND lower(u.email) = lower(l.email)
       AND u.state = CASE l.kind WHEN 'invitation' THEN 'invited' ELSE 'active' END`,
});

/** Uses the link up, and ends the others of the same kind. Returns no row if it was used meanwhile. */
export const useLink = write('user_links.use', {
  inputs: { ...KEY_INPUTS, now: 'timestamptz' },
  sql: (input) => `
    WITH used AS (
      UPDATE user_links l SET used_at = ${input.now}
       WHERE ${hasKey(input)} AND l.used_at IS NULL AND l.expires_at > ${input.now}
      RETURNING l.company_id, l.user_id, l.kind, l.id
    ), others AS (
      UPDATE user_links l SET expires_at = ${ENDED} FROM used
       WHERE l.company_id = used.company_id AND l.user_id = used.user_id AND l.kind = used.kind AND l.id <> used.id
         AND l.used_at IS NULL AND l.expires_at > ${input.now}
    )
    SELECT 1 FROM used`,
});

/** Removes every way to sign in and ends the links; the invitation that follows ends the sessions. The user is as if invited for the first time. */
export const resetFactors = write('users.reset_factors', {
  inputs: { ...KEY_INPUTS, now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT u.* FROM users u
       WHERE u.company_id = ${input.company_id} AND u.id = ${input.id} AND u.state <> 'disabled' FOR NO KEY UPDATE
    ), passkeys_removed AS (
      DELETE FROM passkeys p USING old WHERE p.company_id = old.company_id AND p.user_id = old.id
    ), links_ended AS (
      UPDATE user_links l SET expires_at = ${ENDED} FROM old
       WHERE l.company_id = old.company_id AND l.user_id = old.id AND l.expires_at > ${input.now}
    ), u AS (
      UPDATE users u
         SET state = 'invited', activated_at = NULL, password_hash = NULL, password_set_at = NULL, sealed_secret = NULL,
             code_step = NULL, recovery_sha256s = '{}', updated_at = ${input.now}
        FROM old WHERE u.company_id = old.company_id AND u.id = old.id
      RETURNING u.*
    ), event AS (
      ${userAudit.insertEvent('factors_reset', { from: 'u', at: input.now, origin: input.origin, before: userAudit.snapshotOf('old') })}
    )
    SELECT 1 FROM u`,
});

export const purgeLinks = write('user_links.purge', {
  inputs: { expired_before: 'timestamptz' },
  sql: (input) => `DELETE FROM user_links WHERE expires_at < ${input.expired_before} AND state <> 'waiting'`,
});

/** A restored database knows links and sessions that were used or ended after the backup. None of them works any more. */
export const endRestoredLinks = write('user_links.end_restored', {
  inputs: { now: 'timestamptz' },
  sql: (input) => `
    UPDATE user_links
       SET expires_at = least(expires_at, ${input.now}), lease_by = NULL, lease_until = NULL,
           state = CASE state WHEN 'waiting' THEN 'failed' ELSE state END,
           ended_at = coalesce(ended_at, ${input.now})
     WHERE used_at IS NULL`,
});
export const endRestoredSessions = write('sessions.end_restored', {
  inputs: { now: 'timestamptz' },
  sql: (input) => `UPDATE sessions SET ended_at = ${input.now} WHERE ended_at IS NULL`,
});
