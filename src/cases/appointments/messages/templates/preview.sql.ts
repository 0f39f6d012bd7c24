import { isoTime } from '../../../../kernel/sql/json.ts';
import { read } from '../../../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment } from '../../appointment-key.sql.ts';

/** The values that a message about the appointment would have now. Returns no row if it does not exist. */
export const readPreviewed = read('message_templates.appointment', {
  inputs: APPOINTMENT_KEY_INPUTS,
  sql: (input) => `
    SELECT ${isoTime('a.start_at')} AS start, ${isoTime('a.end_at')} AS end, a.location, a.join_url, a.version,
           o.name AS company, o.time_zone, v.name AS adviser,
           (SELECT concat_ws(' ', nullif(u.title, ''), nullif(u.first_names, ''), nullif(u.last_name, ''))
              FROM customers u
             WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND lower(u.email) = lower(a.email_recipient)
             ORDER BY u.removed_at IS NOT NULL, u.id LIMIT 1) AS customer
      FROM appointments a JOIN companies o ON o.id = a.company_id
      JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id
     WHERE ${isAppointment(input)} AND a.deleted_at IS NULL`,
});
