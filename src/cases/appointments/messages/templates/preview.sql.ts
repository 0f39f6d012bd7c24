import { isoTime, jsonObject } from '../../../../kernel/sql/json.ts';
import { read } from '../../../../kernel/sql/statement.ts';
import { customer } from '../content.sql.ts';

/**
 * What messages of the company say about it, and in `appointment` what they would say about that appointment now; null
 * if the company has no such appointment, or none is asked for.
 */
export const readPreviewed = read('message_templates.previewed', {
  inputs: { company_id: 'uuid', case_id: 'uuid?', id: 'uuid?' },
  sql: (input) => `
    SELECT o.name AS company, o.time_zone, nullif(o.sender_address, '') AS sender_address, o.client_contact_email,
           o.client_contact_phone, o.contact_line, o.message_signature, (
             SELECT ${jsonObject({
               start: isoTime('a.start_at'),
               end: isoTime('a.end_at'),
               location: 'a.location',
               join_url: 'a.join_url',
               adviser: 'v.name',
               customer,
             })}
               FROM appointments a JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id
              CROSS JOIN LATERAL (SELECT CASE WHEN a.email_recipient IS NULL THEN 'sms' ELSE 'email' END AS channel) m
              CROSS JOIN LATERAL (SELECT coalesce(a.email_recipient, a.sms_recipient) AS recipient) d
              WHERE a.company_id = o.id AND a.case_id = ${input.case_id} AND a.id = ${input.id}
                AND a.deleted_at IS NULL) AS appointment
      FROM companies o WHERE o.id = ${input.company_id}`,
});
