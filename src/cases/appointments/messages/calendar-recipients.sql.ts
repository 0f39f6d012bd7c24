/** What an appointment's own statements need to know of its messages. `a` is the appointment. */

export const ofAppointment = (alias: string) =>
  `${alias}.company_id = a.company_id AND ${alias}.case_id = a.case_id AND ${alias}.appointment_id = a.id`;

/**
 * The addresses whose calendar has the appointment, or is about to get it: what was last sent there by email decides, and
 * a confirmation for each is found that nothing came after, with the address as it was written there. `among` narrows down the messages that count. There are seldom
 * any, and a statement pays for every step of a plan, so this has few.
 */
export const calendars = (among: (message: string) => string = () => 'true') => {
  const wasSent = (alias: string) =>
    `${ofAppointment(alias)} AND ${alias}.channel = 'email' AND ${alias}.state IN ('sending', 'sent') AND ${among(alias)}`;
  return `
  SELECT c.recipient FROM messages c
   WHERE ${wasSent('c')} AND c.kind = 'confirmation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
     SELECT 1 FROM messages l
      WHERE ${wasSent('l')} AND lower(l.recipient) = lower(c.recipient)
        AND CASE l.kind WHEN 'confirmation' THEN (l.sequence, l.id) > (c.sequence, c.id)
                        WHEN 'cancellation' THEN l.sequence >= c.sequence END)`;
};
