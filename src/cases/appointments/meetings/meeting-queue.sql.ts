import { isoTime, statement } from '../../../kernel/sql/statement.ts';
import { appointmentLog } from '../audit.sql.ts';
import { ofAppointment } from './desired-state.sql.ts';

/** A meeting on its way: begin a step, settle what became of it. */

export const KEY = ['company_id', 'case_id', 'appointment_id'] as const;
export const OPEN = `state = 'pending'`;

const isKey = 'company_id = $1 AND case_id = $2 AND appointment_id = $3';

const elsewhere = '(g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id)';

/** The account of an adviser who has another by now may have been forgotten; then nothing can be done there. */
const reachable = `(g.account_id IS NULL OR EXISTS (
  SELECT 1 FROM video_accounts v WHERE v.company_id = g.company_id AND v.id = g.account_id AND v.sealed_secret IS NOT NULL))`;

/** The next step towards what is wished, as things stand now. What may be there unknown is looked for first. */
const step = `CASE
  WHEN g.doubtful AND ${reachable} THEN 'look'
  WHEN g.external_id IS NOT NULL AND (NOT g.wished OR ${elsewhere}) AND ${reachable} THEN 'remove'
  WHEN NOT g.wished OR d.video_provider IS NULL THEN 'nothing'
  WHEN g.end_at <= $5 THEN CASE WHEN g.external_id IS NOT NULL THEN 'keep'
                                WHEN g.due_at < g.end_at THEN 'late' ELSE 'nothing' END
  WHEN g.external_id IS NULL OR ${elsewhere} THEN 'create'
  ELSE 'update' END`;

/** How long a step makes sense. What is left open at the provider is worth some more effort than what is over. */
const deadline = `CASE WHEN j.step IN ('look', 'remove') THEN greatest(j.end_at, j.due_at) + interval '1 day' ELSE j.end_at END`;

/**
 * $1–$3 key, $4 claim, $5 now. Reads everything anew and writes down the intent: a meeting that is about to be made is
 * in doubt until its answer is written down. Adviser and appointment are locked for the length of the statement, in the
 * order in which those that change them also reach the meeting. Nothing where the claim has been lost.
 */
export const beginStep = statement(
  'meetings.begin',
  `WITH a AS (
     SELECT * FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 FOR SHARE
   ), d AS (
     SELECT d.* FROM a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id FOR SHARE OF d
   ), g AS (
     SELECT g.*, d.video_provider, d.video_account_id, ${step} AS step,
            g.wished AND d.video_provider IS NOT NULL AND ${elsewhere} AS moving
       FROM a CROSS JOIN d JOIN meetings g ON ${ofAppointment('g')}
      WHERE g.lease_by = $4 FOR UPDATE OF g
   ), j AS (
     SELECT g.*, CASE g.step WHEN 'create' THEN g.video_provider ELSE g.provider END AS at_provider,
            CASE g.step WHEN 'create' THEN g.video_account_id ELSE g.account_id END AS at_account
       FROM g
   ), written AS (
     UPDATE meetings w
        SET provider = j.at_provider, account_id = j.at_account, doubtful = w.doubtful OR j.step = 'create',
            attempts = w.attempts + (j.step IN ('look', 'create', 'update', 'remove'))::int, updated_at = $5
       FROM j WHERE w.company_id = $1 AND w.case_id = $2 AND w.appointment_id = $3
   )
   SELECT j.step, j.moving, j.wanted, j.attempts + 1 AS attempt, j.reference, j.at_provider AS provider, j.external_id, j.join_url,
          j.doubtful, j.last_error, ${isoTime('j.start_at')} AS start, ${isoTime('j.end_at')} AS end, ${isoTime(deadline)} AS deadline,
          o.name AS company, o.time_zone, j.at_account AS video_account_id, v.adviser_id, v.account_id, v.client_id,
          v.host, v.sealed_secret
     FROM j JOIN companies o ON o.id = j.company_id
     LEFT JOIN video_accounts v ON v.company_id = j.company_id AND v.id = j.at_account`,
);

/**
 * $1–$3 key, $4 claim, $5 now, $6 the wish that the step was for, $7 state, $8 external id, $9 link, $10 doubt, $11 fault,
 * $12 when to go on, or null for at once, $13 origin. Where the wish has changed meanwhile, another step follows. After a failure
 * the confirmation waits on: somebody may mend it in time. Nothing where the claim has been lost.
 */
export const settleStep = statement(
  'meetings.settle',
  `WITH a AS (
     SELECT * FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 FOR NO KEY UPDATE
   ), g AS (
     UPDATE meetings g
        SET state = CASE WHEN g.wanted > $6 THEN 'pending' ELSE $7 END, external_id = $8, join_url = $9, doubtful = $10,
            last_error = $11, lease_by = NULL, lease_until = CASE WHEN g.wanted > $6 THEN NULL ELSE $12::timestamptz END,
            updated_at = $5
       FROM a WHERE ${ofAppointment('g')} AND g.lease_by = $4
     RETURNING g.*
   ), p AS (
     UPDATE appointments p
        SET video_id = g.external_id, join_url = g.join_url, version = p.version + 1,
            meeting_pending = CASE g.state WHEN 'failed' THEN p.meeting_pending ELSE g.state = 'pending' AND g.wished END
       FROM g WHERE p.company_id = $1 AND p.case_id = $2 AND p.id = $3
     RETURNING p.video_id, p.join_url
   ), e AS (
     ${appointmentLog.insertEvent('meeting_changed', {
       from: 'a, p WHERE (a.video_id, a.join_url) IS DISTINCT FROM (p.video_id, p.join_url)',
       at: '$5',
       origin: '$13',
       before: appointmentLog.snapshot,
     })}
   )
   SELECT g.state FROM g`,
);

/**
 * $1–$3 key. In a statement of its own, after the one above and in its transaction: a confirmation that began to wait
 * until that one had the appointment is seen by this one, and one that begins later no longer waits. A pause after a
 * fault of its own ends too: the row does not tell one from the other.
 */
export const releaseConfirmations = statement(
  'meetings.release',
  `UPDATE messages SET lease_until = NULL
    WHERE ${isKey} AND kind = 'confirmation' AND state = 'scheduled' AND lease_by IS NULL`,
);

/**
 * $1–$3 key, $4 now, $5 the account. A meeting was made by a worker that had lost its claim: the row is in doubt, whoever
 * has it now loses it, and the next step keeps one and removes the other. Nothing where it is at another account by now.
 */
export const doubtMeeting = statement(
  'meetings.doubt',
  `UPDATE meetings
      SET doubtful = true, state = 'pending', wanted = wanted + 1, due_at = $4, updated_at = $4,
          lease_by = NULL, lease_until = NULL
    WHERE ${isKey} AND account_id IS NOT DISTINCT FROM $5
   RETURNING 1`,
);
