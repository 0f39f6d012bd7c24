import { ofAppointment } from '../appointment-key.sql.ts';

/**
 * SQL: the addresses whose calendar holds the appointment `a`, or is about to, spelled as in the confirmation. The last
 * email to an address decides: its calendar holds the appointment if a confirmation was sent and nothing after it.
 * `among` narrows down the messages to look at. Few appointments have such an address and every step of a plan costs
 * time, so the query has few steps.
 */
export const calendarRecipients = (among: (message: string) => string = () => 'true') => {
  const wasEmailed = (alias: string) => `${ofAppointment(alias)} AND ${alias}.channel = 'email'
    AND ${alias}.state IN ('sending', 'sent') AND ${among(alias)}`;
  return `
  SELECT c.recipient FROM messages c
   WHERE ${wasEmailed('c')} AND c.kind = 'confirmation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
     SELECT 1 FROM messages later
      WHERE ${wasEmailed('later')} AND lower(later.recipient) = lower(c.recipient)
        AND CASE later.kind WHEN 'confirmation' THEN (later.sequence, later.id) > (c.sequence, c.id)
                            WHEN 'cancellation' THEN later.sequence >= c.sequence END)`;
};
