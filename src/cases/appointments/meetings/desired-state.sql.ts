/**
 * What a change of an appointment, or of an adviser's account, means for meetings: a part of the very statement that
 * makes the change, so that no wish is lost in a crash.
 */

export const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;

/** Another step is due: at once, or after the one that is under way. A pause after a fault ends. */
export const stepDue = (now: string) => `wanted = g.wanted + 1, state = 'pending', due_at = ${now}, attempts = 0,
  last_error = NULL, updated_at = ${now}, lease_until = CASE WHEN g.lease_by IS NOT NULL THEN g.lease_until END`;

/** Whether an appointment `a` is to have a meeting. */
export const wished = 'a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0';

/** The meetings of the appointments `a` that have just been changed. Other changes than these are no provider's affair. */
export const followAppointments = (now: string) =>
  `UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = ${wished}, ${stepDue(now)}
     FROM a WHERE ${ofAppointment('g')}
      AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, ${wished})`;

/**
 * Those of the advisers `d` whose account has just been changed. `also` names further ones that are worth a try now. One
 * that may be on its way is told of a disconnection too; one that is pending may have begun since this was asked.
 */
export const followAdvisers = (now: string, also = 'false') =>
  `UPDATE meetings g SET ${stepDue(now)}
     FROM d JOIN appointments a ON a.company_id = d.company_id AND a.adviser_id = d.id AND a.end_at > ${now}
    WHERE ${ofAppointment('g')}
      AND (g.wished AND CASE
             WHEN g.external_id IS NULL THEN d.video_provider IS NOT NULL OR g.doubtful OR g.state = 'pending'
             ELSE (g.provider, g.account_id) IS DISTINCT FROM (d.video_provider, d.video_account_id) END
           OR ${also})`;
