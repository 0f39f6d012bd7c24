import { isNotHeld } from '../../../kernel/jobs/held-jobs.sql.ts';
import { queueStatements } from '../../../kernel/jobs/job-queue.sql.ts';
import { isoTime } from '../../../kernel/sql/json.ts';
import { write } from '../../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment, ofAppointment, ofInputAppointment } from '../appointment-key.sql.ts';
import { appointmentAudit } from '../audit.sql.ts';

/** The statements of one reconcile step: start it, record its result. */

export const MEETING_KEY = ['company_id', 'case_id', 'appointment_id'] as const;
export type MeetingKey = Record<(typeof MEETING_KEY)[number], string>;
export const statements = queueStatements({
  tenantTable: 'companies',
  table: 'meetings',
  key: MEETING_KEY,
  open: `state = 'pending'`,
});

/** SQL: whether the meeting is, or may be, at another account than the adviser's current one. */
const atOtherAccount = '(g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id)';

/** SQL: whether the meeting's account still has its secret. Without one, nothing can be changed at the provider. */
const reachable = `(g.account_id IS NULL OR EXISTS (
  SELECT 1 FROM video_accounts v
   WHERE v.company_id = g.company_id AND v.id = g.account_id AND v.sealed_secret IS NOT NULL))`;

/** SQL: the next step towards the desired state. A meeting that may exist unrecorded is looked up first. */
const step = (now: string) => `CASE
  WHEN g.doubtful AND ${reachable} THEN 'lookup'
  WHEN g.external_id IS NOT NULL AND (NOT g.wished OR ${atOtherAccount}) AND ${reachable} THEN 'remove'
  WHEN NOT g.wished OR d.video_provider IS NULL THEN 'none'
  WHEN g.end_at <= ${now} THEN CASE WHEN g.external_id IS NOT NULL THEN 'keep'
                                    WHEN g.due_at < g.end_at THEN 'expired' ELSE 'none' END
  WHEN g.external_id IS NULL OR ${atOtherAccount} THEN 'create'
  ELSE 'update' END`;

/**
 * SQL: until when a step is retried. A meeting that is left behind at the provider is worth another day of attempts.
 */
const deadline = `CASE WHEN j.step IN ('lookup', 'remove') THEN greatest(j.end_at, j.due_at) + interval '1 day'
                       ELSE j.end_at END`;

/**
 * Reads everything again and records the intent: a meeting is uncertain from before it is created until the result is
 * recorded. Locks the adviser and the appointment in the order in which the statements that change them reach the
 * meeting, so that they cannot deadlock. Returns no row if the lease was lost.
 */
export const startReconcile = write('meetings.start', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, lease: 'uuid', now: 'timestamptz' },
  sql: (input) => `
    WITH a AS (
      SELECT * FROM appointments a WHERE ${isAppointment(input)} FOR SHARE
    ), d AS (
      SELECT d.* FROM a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id FOR SHARE OF d
    ), g AS (
      SELECT g.*, d.video_provider, d.video_account_id, ${step(input.now)} AS step,
             g.wished AND d.video_provider IS NOT NULL AND ${atOtherAccount} AS changing_account
        FROM a CROSS JOIN d JOIN meetings g ON ${ofAppointment('g')}
       WHERE g.lease_by = ${input.lease} FOR UPDATE OF g
    ), j AS (
      SELECT g.*, CASE g.step WHEN 'create' THEN g.video_provider ELSE g.provider END AS step_provider,
             CASE g.step WHEN 'create' THEN g.video_account_id ELSE g.account_id END AS step_account
        FROM g
    ), started AS (
      UPDATE meetings s
         SET provider = j.step_provider, account_id = j.step_account, doubtful = s.doubtful OR j.step = 'create',
             attempts = s.attempts + (j.step IN ('lookup', 'create', 'update', 'remove'))::int,
             updated_at = ${input.now}
        FROM j WHERE ${ofInputAppointment('s', input)}
    )
    SELECT j.step, j.changing_account, j.wanted AS generation, j.attempts + 1 AS attempt, j.reference,
           j.step_provider AS provider, j.external_id, j.join_url, j.doubtful AS uncertain, j.last_error,
           ${isoTime('j.start_at')} AS start, ${isoTime('j.end_at')} AS end, ${isoTime(deadline)} AS deadline,
           o.name AS company, o.time_zone, j.step_account AS video_account_id, v.adviser_id, v.account_id, v.client_id,
           v.host, v.sealed_secret
      FROM j JOIN companies o ON o.id = j.company_id
      LEFT JOIN video_accounts v ON v.company_id = j.company_id AND v.id = j.step_account`,
});

/**
 * `generation` is that of the desired state that the step was for: if it has changed in the meantime, another step
 * follows. `retry_at` is null to continue immediately. After a failure confirmations keep waiting, because the cause
 * may be corrected in time. Returns no row if the lease was lost.
 */
export const recordResult = write('meetings.record_result', {
  inputs: {
    ...APPOINTMENT_KEY_INPUTS,
    lease: 'uuid',
    generation: 'int',
    state: 'text',
    external_id: 'text?',
    join_url: 'text?',
    uncertain: 'boolean',
    last_error: 'text?',
    retry_at: 'timestamptz?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH a AS (
      SELECT * FROM appointments a WHERE ${isAppointment(input)} FOR NO KEY UPDATE
    ), g AS (
      UPDATE meetings g
         SET state = CASE WHEN g.wanted > ${input.generation} THEN 'pending' ELSE ${input.state} END,
             external_id = ${input.external_id}, join_url = ${input.join_url}, doubtful = ${input.uncertain},
             last_error = ${input.last_error}, updated_at = ${input.now}, lease_by = NULL,
             lease_until = CASE WHEN g.wanted > ${input.generation} THEN NULL ELSE ${input.retry_at} END
        FROM a WHERE ${ofAppointment('g')} AND g.lease_by = ${input.lease}
      RETURNING g.*
    ), p AS (
      UPDATE appointments p
         SET video_id = g.external_id, join_url = g.join_url, version = p.version + 1,
             meeting_pending = CASE g.state WHEN 'failed' THEN p.meeting_pending
                                            ELSE g.state = 'pending' AND g.wished END
        FROM g WHERE p.company_id = g.company_id AND p.case_id = g.case_id AND p.id = g.appointment_id
      RETURNING p.video_id, p.join_url
    ), event AS (
      ${appointmentAudit.insertEvent('meeting_changed', {
        from: 'a, p WHERE (a.video_id, a.join_url) IS DISTINCT FROM (p.video_id, p.join_url)',
        at: input.now,
        origin: input.origin,
        before: appointmentAudit.snapshot,
      })}
    )
    SELECT g.state FROM g`,
});

/**
 * Ends the wait of confirmations for the meeting. Runs after `recordResult` in the same transaction: its newer snapshot
 * also sees a confirmation that started to wait before the appointment was locked. Also ends a back-off after a failed
 * attempt, because a message does not record which of the two it waits for.
 */
export const releaseConfirmations = write('meetings.release', {
  inputs: APPOINTMENT_KEY_INPUTS,
  sql: (input) => `
    UPDATE messages m SET lease_until = NULL
     WHERE ${ofInputAppointment('m', input)} AND m.kind = 'confirmation' AND m.state = 'scheduled'
       AND m.lease_by IS NULL AND ${isNotHeld('m')}`,
});

/**
 * For a worker that created a meeting after it had lost its lease: takes the lease away from the current worker, and a
 * lookup keeps one meeting and removes the other. Returns no row if the meeting is at another account.
 */
export const markUncertain = write('meetings.mark_uncertain', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, account_id: 'uuid?', now: 'timestamptz' },
  sql: (input) => `
    UPDATE meetings g
       SET doubtful = true, state = 'pending', wanted = g.wanted + 1, due_at = ${input.now}, updated_at = ${input.now},
           lease_by = NULL, lease_until = NULL
     WHERE ${ofInputAppointment('g', input)} AND g.account_id IS NOT DISTINCT FROM ${input.account_id}
    RETURNING 1`,
});
