import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, write } from '../../../kernel/sql/statement.ts';
import { COMPANY_COLUMNS } from '../../company.sql.ts';
import { userAudit } from '../users/audit.sql.ts';

/** How long a session that may only set up factors lasts. */
const ENROLMENT_TIME = `interval '1 hour'`;

/**
 * The use of a session is stored up to a minute later, and one that another process stores at the same moment hides it for
 * another minute. A session that is used must not end because of that, so an idle one works that much longer.
 */
const MAX_LATENESS = `interval '2 minutes'`;

/** SQL: whether the session `s` of the user `u` of the company `c` works. */
const isLive = (now: string) => `s.ended_at IS NULL
       AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
       AND s.last_seen_at > ${now} - c.session_idle_minutes * interval '1 minute' - ${MAX_LATENESS}
       AND s.created_at > ${now} - c.session_hours * interval '1 hour'
       AND (s.purpose = 'full' OR s.created_at > ${now} - ${ENROLMENT_TIME})`;

const JOINED = `sessions s
      JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
      JOIN companies c ON c.id = s.company_id`;

/**
 * SQL: table expressions that end the sessions that did not work under the limits of `old`, the row of the company
 * before a change, so that the higher limits of `changed` revive none. Sessions that another request is ending are
 * skipped, so that the two cannot wait for each other.
 */
export const endDeadSessions = (now: string) => `dead AS (
      SELECT s.company_id, s.id
        FROM old c JOIN c changed ON changed.id = c.id
        JOIN sessions s ON s.company_id = c.id JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
       WHERE (changed.session_idle_minutes > c.session_idle_minutes OR changed.session_hours > c.session_hours)
         AND s.ended_at IS NULL AND NOT (${isLive(now)}) FOR NO KEY UPDATE OF s SKIP LOCKED
    ), sessions_ended AS (
      UPDATE sessions s SET ended_at = ${now} FROM dead WHERE s.company_id = dead.company_id AND s.id = dead.id
    )`;

export const findSession = read('sessions.find', {
  inputs: { secret_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    SELECT s.id AS session_id, s.purpose, floor(extract(epoch FROM s.created_at) * 1000)::float8 AS started_ms,
           u.id AS user_id, u.name, u.role, ${COMPANY_COLUMNS}
      FROM ${JOINED}
     WHERE s.secret_sha256 = ${input.secret_sha256} AND ${isLive(input.now)}`,
});

const expiry = `least(
  s.last_seen_at + c.session_idle_minutes * interval '1 minute',
  s.created_at + CASE s.purpose WHEN 'full' THEN c.session_hours * interval '1 hour' ELSE ${ENROLMENT_TIME} END)`;

const record = (current: string) =>
  jsonObject({
    id: 's.id',
    method: 's.method',
    purpose: 's.purpose',
    address: 's.address',
    user_agent: 's.user_agent',
    created_at: isoTime('s.created_at'),
    last_seen_at: isoTime('s.last_seen_at'),
    expires_at: isoTime(expiry),
    current: `s.id = ${current}`,
  });

const USER_INPUTS = { company_id: 'uuid', user_id: 'uuid', now: 'timestamptz' } as const;
const ofUser = (input: { company_id: string; user_id: string }) =>
  `s.company_id = ${input.company_id} AND s.user_id = ${input.user_id}`;

/** The sessions that work, newest first. `current_id` is the session of the request. */
export const listSessions = read('sessions.list', {
  inputs: { ...USER_INPUTS, current_id: 'uuid?' },
  sql: (input) => `
    SELECT coalesce(json_agg(${record(input.current_id)} ORDER BY s.created_at DESC, s.id DESC), '[]')::text
      FROM ${JOINED} WHERE ${ofUser(input)} AND ${isLive(input.now)}`,
});

/** The signed-in user with the session. */
export const showCurrent = read('sessions.show_current', {
  inputs: { ...USER_INPUTS, id: 'uuid' },
  sql: (input) => `
    SELECT ${jsonObject({
      id: 'u.id',
      email: 'u.email',
      name: 'u.name',
      role: 'u.role',
      adviser_id: 'u.adviser_id',
      state: 'u.state',
    })}::text AS user, ${jsonObject({
      id: 'c.id',
      name: 'c.name',
      time_zone: 'c.time_zone',
      currency: 'c.currency',
    })}::text AS company, u.role, s.purpose,
           ${record('s.id')}::text AS session
      FROM ${JOINED} WHERE ${ofUser(input)} AND s.id = ${input.id} AND ${isLive(input.now)}`,
});

/** More sessions of a user than this do not work concurrently: the oldest ends. */
const MAX_LIVE_SESSIONS = 10;
/** How many rows of a user are kept, for the browsers that they know. */
const MAX_KEPT_SESSIONS = 50;
export const KEPT_DAYS = 30;

/**
 * Starts a session, and ends the one that it replaces and those beyond the limit. Returns no row if the user may not
 * have such a session. The row of the user is locked, so that a user who is being disabled gets no session.
 */
export const insertSession = write('sessions.insert', {
  inputs: {
    ...USER_INPUTS,
    id: 'uuid',
    secret_sha256: 'bytea',
    browser_sha256: 'bytea',
    replaced_sha256: 'bytea?',
    purpose: 'text',
    method: 'text',
    address: 'text',
    user_agent: 'text',
  },
  sql: (input) => `
    WITH u AS (
      SELECT u.* FROM users u JOIN companies c ON c.id = u.company_id
       WHERE u.company_id = ${input.company_id} AND u.id = ${input.user_id} AND c.removal_started_at IS NULL
         AND CASE ${input.purpose} WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END FOR SHARE OF u
    ), kept AS (
      SELECT s.id, row_number() OVER (ORDER BY s.created_at DESC, s.id DESC) AS place,
             count(*) FILTER (WHERE ${isLive(input.now)} AND s.secret_sha256 IS DISTINCT FROM ${input.replaced_sha256})
               OVER (ORDER BY s.created_at DESC, s.id DESC) AS live_place,
             s.created_at < ${input.now} - interval '${KEPT_DAYS} days' AS is_old
        FROM sessions s JOIN u ON u.company_id = s.company_id AND u.id = s.user_id JOIN companies c ON c.id = u.company_id
    ), deleted AS (
      DELETE FROM sessions s USING kept
       WHERE s.company_id = ${input.company_id} AND s.id = kept.id
         AND (kept.is_old OR kept.place >= ${MAX_KEPT_SESSIONS})
    ), ended AS (
      UPDATE sessions s SET ended_at = ${input.now} FROM kept
       WHERE s.company_id = ${input.company_id} AND s.id = kept.id AND s.ended_at IS NULL
         AND kept.live_place >= ${MAX_LIVE_SESSIONS} AND kept.place < ${MAX_KEPT_SESSIONS} AND NOT kept.is_old
         AND s.secret_sha256 IS DISTINCT FROM ${input.replaced_sha256}
    ), replaced AS (
      UPDATE sessions s SET ended_at = ${input.now}
       WHERE s.secret_sha256 = ${input.replaced_sha256} AND s.ended_at IS NULL AND EXISTS (SELECT 1 FROM u)
         AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.id = s.id AND (kept.is_old OR kept.place >= ${MAX_KEPT_SESSIONS}))
    )
    INSERT INTO sessions (company_id, id, user_id, secret_sha256, browser_sha256, purpose, method, address, user_agent,
                          created_at, last_seen_at)
    SELECT u.company_id, ${input.id}, u.id, ${input.secret_sha256}, ${input.browser_sha256}, ${input.purpose},
           ${input.method}, ${input.address}, ${input.user_agent}, ${input.now}, ${input.now}
      FROM u
    RETURNING 1`,
});

/** Ends sessions of the user: the one with `id`, or all except `except_id`. Returns the ids of those that it ended. */
export const endSessions = write('sessions.end', {
  inputs: { ...USER_INPUTS, id: 'uuid?', except_id: 'uuid?' },
  sql: (input) => `
    UPDATE sessions s SET ended_at = ${input.now}
     WHERE ${ofUser(input)} AND s.ended_at IS NULL AND (${input.id} IS NULL OR s.id = ${input.id})
       AND s.id IS DISTINCT FROM ${input.except_id}
    RETURNING s.id`,
});

/** Ends every session of the user and writes that into the user's history. Returns no row if there is no such user. */
export const endSessionsOfUser = write('sessions.end_of_user', {
  inputs: { ...USER_INPUTS, origin: 'json' },
  sql: (input) => `
    WITH u AS (
      SELECT u.* FROM users u WHERE u.company_id = ${input.company_id} AND u.id = ${input.user_id} FOR NO KEY UPDATE
    ), ended AS (
      UPDATE sessions s SET ended_at = ${input.now} FROM u
       WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
      RETURNING s.id
    ), event AS (
      ${userAudit.insertEvent('sessions_ended', {
        from: 'u',
        at: input.now,
        origin: input.origin,
        before: userAudit.snapshotOf('u'),
      })}
    )
    SELECT ${jsonObject({ ended: '(SELECT count(*)::int FROM ended)' })}::text FROM u`,
});

/** The arrays have an element per session. Rows that another process is writing are skipped. */
export const recordLastSeen = write('sessions.record_last_seen', {
  inputs: { company_ids: 'uuid[]', ids: 'uuid[]', last_used_at: 'timestamptz[]' },
  sql: (input) => `
    WITH used AS (
      SELECT s.company_id, s.id, u.last_used_at
        FROM unnest(${input.company_ids}, ${input.ids}, ${input.last_used_at}) AS u (company_id, id, last_used_at)
        JOIN sessions s ON s.company_id = u.company_id AND s.id = u.id
       WHERE s.last_seen_at < u.last_used_at
         FOR NO KEY UPDATE OF s SKIP LOCKED
    )
    UPDATE sessions s SET last_seen_at = used.last_used_at
      FROM used WHERE s.company_id = used.company_id AND s.id = used.id`,
});

/** Deletes sessions that are too old to make a browser known. They have ended long before. */
export const purgeSessions = write('sessions.purge', {
  inputs: { now: 'timestamptz' },
  sql: (input) => `DELETE FROM sessions WHERE created_at < ${input.now} - interval '${KEPT_DAYS} days'`,
});

/** Whether the user of a session that works has signed in from this browser before. */
export const findBrowser = read('sessions.find_browser', {
  inputs: { browser_sha256: 'bytea', company_id: 'uuid', user_id: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    SELECT 1 FROM sessions s
     WHERE s.browser_sha256 = ${input.browser_sha256} AND ${ofUser(input)}
       AND s.created_at > ${input.now} - interval '${KEPT_DAYS} days' LIMIT 1`,
});
