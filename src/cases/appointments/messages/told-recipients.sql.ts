import { ofAppointment } from '../appointment-key.sql.ts';

/**
 * SQL: the channels and recipients that know of the appointment `a`, or are about to, spelled as in the message. The
 * last message to a recipient decides: a cancellation ends what the messages before it said. The number that an SMS
 * went to counts, not its spelling. Few appointments have such a recipient and every step of a plan costs time, so the
 * query has few steps.
 */
export const toldRecipients = `
  SELECT c.channel, c.recipient FROM messages c
   WHERE ${wasSent('c')} AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
     SELECT 1 FROM messages later
      WHERE ${wasSent('later')} AND later.channel = c.channel AND ${addressOf('later')} = ${addressOf('c')}
        AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                            ELSE (later.sequence, later.id) > (c.sequence, c.id) END)`;

function wasSent(alias: string): string {
  return `${ofAppointment(alias)} AND ${alias}.state IN ('sending', 'sent')`;
}

function addressOf(alias: string): string {
  return `lower(coalesce(${alias}.sent_to, ${alias}.recipient))`;
}
