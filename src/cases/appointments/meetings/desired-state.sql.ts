import { DROPPED, isHeld } from '../../../kernel/jobs/held-jobs.sql.ts';
import { ofAppointment } from '../appointment-key.sql.ts';

/**
 * SQL that updates the desired state of meetings. It is part of the statement that changes the appointment or the
 * adviser's account, so a crash cannot separate the two.
 */

/**
 * SQL for SET: makes the meeting `g` due now, or after the step in flight, and ends a back-off. One that is held stays so:
 * it may exist already. The column `wanted`
 * counts the changes of the desired state, `wished` is the desired state.
 */
export const scheduleReconcile = (now: string) => `wanted = g.wanted + 1, state = 'pending', due_at = ${now},
  attempts = 0, last_error = NULL, updated_at = ${now},
  lease_until = CASE WHEN g.lease_by IS NOT NULL OR ${isHeld('g')} THEN g.lease_until END`;

/** SQL: whether the appointment `a` is to have a meeting. */
const isDesired = 'a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0';

/** SQL: updates the meetings of the changed appointments `a`, if the change concerns the meeting. */
export const syncFromAppointments = (now: string) =>
  `UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = ${isDesired}, ${scheduleReconcile(now)}
     FROM a WHERE ${ofAppointment('g')}
      AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, ${isDesired})`;

/**
 * SQL: schedules the meetings of the advisers `d`, whose account was changed, and those for which `alsoIf` holds. A
 * disconnection also concerns meetings that may exist unrecorded: uncertain ones, and pending ones, whose creation may
 * have started by now.
 */
export const syncFromAdvisers = (now: string, alsoIf = 'false') =>
  `UPDATE meetings g SET ${scheduleReconcile(now)}
     FROM d JOIN appointments a ON a.company_id = d.company_id AND a.adviser_id = d.id AND a.end_at > ${now}
    WHERE ${ofAppointment('g')} AND g.last_error IS DISTINCT FROM '${DROPPED}'
      AND (g.wished AND CASE
             WHEN g.external_id IS NULL THEN d.video_provider IS NOT NULL OR g.doubtful OR g.state = 'pending'
             ELSE (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) END
           OR ${alsoIf})`;
