/** What an appointment's own statements need to know of its messages. `a` is the appointment. */

export const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;

/**
 * The addresses whose calendar has the appointment, or is about to get it: what was last sent there by email decides.
 * `among` narrows down the messages `c`.
 */
export const calendars = (among = 'true') => `
  SELECT max(c.recipient) AS recipient, row_number() OVER () AS place
    FROM messages c
   WHERE ${ofAppointment('c')} AND c.channel = 'email' AND c.state IN ('sending', 'sent') AND c.recipient IS NOT NULL
     AND ${among}
   GROUP BY lower(c.recipient)
  HAVING max(c.sequence) FILTER (WHERE c.kind = 'confirmation')
         > coalesce(max(c.sequence) FILTER (WHERE c.kind = 'cancellation'), 0)`;
