import { jsonObject } from '../../../kernel/sql/json.ts';
import { ofAppointment } from '../appointment-key.sql.ts';

/** SQL: what the message `m` of the appointment `a` says, given what its recipient was told before. */

/** SQL: a cancellation goes to the recipient that was told, even if the appointment names another now. */
const recipient = `CASE
  WHEN m.kind = 'cancellation' THEN m.recipient
  WHEN m.channel = 'email' THEN a.email_recipient ELSE a.sms_recipient END`;

/** SQL: the other message that `condition` is about and that was sent last to the recipient `r`. */
const lastSent = (alias: string, condition: string) => `LEFT JOIN LATERAL (
         SELECT * FROM messages c
          WHERE ${ofAppointment('c')} AND c.id <> m.id AND c.channel = m.channel AND c.state IN ('sending', 'sent')
            AND lower(c.recipient) = lower(r.recipient) AND c.sequence > 0 AND ${condition}
          ORDER BY c.sequence DESC, c.kind = 'cancellation' DESC, c.id DESC LIMIT 1
       ) ${alias} ON ${alias}.kind <> 'cancellation'`;

/**
 * SQL: joins `r`, the recipient; `told`, the message by which the recipient knows of the appointment; and `entry`, the
 * mail that the entry in the recipient's calendar comes from. A cancellation ends both.
 */
export const recipientContext = `CROSS JOIN LATERAL (SELECT ${recipient} AS recipient) r
       ${lastSent('told', 'true')}
       ${lastSent('entry', `c.channel = 'email' AND (c.kind <> 'reminder' OR c.organizer_name IS NOT NULL)`)}`;

// Messages of earlier releases have no `told_start_at`; their `start_at` is what they said, unless they had to wait.
const earlierStart = 'coalesce(told.told_start_at, told.start_at)';

/** SQL: whether the message has a calendar entry. That of a reminder replaces an entry that is out of date. */
const hasEntry = `CASE m.kind
  WHEN 'confirmation' THEN m.channel = 'email'
  WHEN 'cancellation' THEN entry.id IS NOT NULL
  ELSE entry.id IS NOT NULL AND CASE
    WHEN entry.told_start_at IS NULL THEN entry.start_at <> a.start_at
    ELSE (entry.told_start_at, entry.told_end_at, entry.told_location, entry.told_join_url)
         IS DISTINCT FROM (a.start_at, a.end_at, a.location, a.join_url) END END`;

/** SQL: the columns of the content. A cancellation speaks of the time that the recipient was told. */
export const content = `r.recipient, ${hasEntry} AS has_entry,
             CASE m.kind WHEN 'cancellation' THEN ${earlierStart} ELSE a.start_at END AS told_start_at,
             CASE m.kind WHEN 'cancellation'
                         THEN coalesce(told.told_end_at, told.start_at + (a.end_at - a.start_at))
                         ELSE a.end_at END AS told_end_at,
             CASE WHEN m.kind = 'cancellation' AND told.told_start_at IS NOT NULL THEN told.told_location
                  ELSE a.location END AS told_location,
             CASE WHEN m.kind <> 'cancellation' THEN a.join_url END AS told_join_url,
             ${earlierStart} AS earlier_start_at, told.told_end_at AS earlier_end_at,
             CASE WHEN told.told_start_at IS NULL THEN a.location ELSE told.told_location END AS earlier_location`;

/** SQL: joins `first`, the organizer that an entry of the appointment was sent with first, even if uncertainly. */
export const firstOrganizer = `LEFT JOIN LATERAL (
         SELECT c.organizer_name AS name, c.organizer_address AS address FROM messages c
          WHERE ${ofAppointment('c')} AND c.organizer_name IS NOT NULL
            AND (c.state IN ('sending', 'sent') OR c.doubts > 0)
          ORDER BY c.sequence, c.id LIMIT 1
       ) first ON true`;

/** SQL: the organizer of the entry. Calendars refuse updates from another than the first (RFC 5546, 3.2.2). */
export const organizer = (mailFrom: string) => `
             CASE WHEN decided.has_entry THEN coalesce(first.name, nullif(o.sender_name, ''), o.name)
                  END AS organizer_name,
             CASE WHEN decided.has_entry
                  THEN coalesce(CASE WHEN first.name IS NULL THEN nullif(o.sender_address, '') ELSE first.address END,
                                ${mailFrom}) END AS organizer_address`;

/** The columns of a message that record what it said, and to whom. */
export const SAID = [
  'sequence',
  'recipient',
  'told_start_at',
  'told_end_at',
  'told_location',
  'told_join_url',
  'organizer_name',
  'organizer_address',
] as const;

const digits = (phone: string) => `regexp_replace(${phone}, '\\D', '', 'g')`;
const hasAddress = `CASE m.channel
     WHEN 'email' THEN lower(d.recipient) = lower(u.email) OR lower(d.recipient) = ANY (u.former_emails)
     ELSE ${digits('d.recipient')} IN (${digits('u.phone')}, ${digits('u.phone_e164')}) END`;

/**
 * SQL: the names of the customer of the case who has the address or number of the recipient in `d` or, if none has it,
 * had it before.
 */
export const customer = `(
  SELECT ${jsonObject({ title: 'u.title', first_names: 'u.first_names', last_name: 'u.last_name' })}
    FROM customers u
   WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND ${hasAddress}
   ORDER BY lower(d.recipient) IS DISTINCT FROM lower(u.email), u.removed_at IS NOT NULL, u.id LIMIT 1)`;

/** SQL: the company's own words for the message, by template; a confirmation can turn out to be that of a change. */
export const ownTexts = `(
  SELECT json_object_agg(t.message, ${jsonObject({ subject: 't.subject', email_text: 't.email_text', sms_text: 't.sms_text' })})
    FROM message_templates t
   WHERE t.company_id = m.company_id
     AND (t.message = m.kind OR m.kind = 'confirmation' AND t.message = 'change'))`;
