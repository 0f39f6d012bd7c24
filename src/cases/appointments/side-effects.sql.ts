import { followAppointments } from './meetings/desired-state.sql.ts';
import { messageLog } from './messages/audit.sql.ts';
import { calendars, ofAppointment } from './messages/calendar-recipients.sql.ts';

export const PLACED = ['uuid[]', 'text[]', 'text[]', 'text[]', 'timestamptz[]', 'boolean[]'];
/** The message arrays, one element per message, from parameter `first` on. */
export const placed = (first: number) =>
  `unnest(${PLACED.map((type, i) => `$${first + i}::${type}`).join(', ')})
     AS n (id, channel, kind, state, due_at, day_before)`;

export const MESSAGE_COLUMNS =
  'company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at';

/** A cancellation for each address whose calendar has the entry. Their identifiers begin as `id` does, with the time. */
export const callOff = (id: string, now: string) =>
  `INSERT INTO messages (${MESSAGE_COLUMNS}, recipient)
   SELECT a.company_id, a.case_id, a.id, a.start_at, (left(${id}::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
          'email', 'cancellation', 'scheduled', ${now}, false, ${now}, ${now}, k.recipient
     FROM a CROSS JOIN LATERAL (${calendars()}) k
    WHERE a.end_at > ${now}
   ON CONFLICT (company_id, case_id, appointment_id, channel, recipient) WHERE kind = 'cancellation' AND state = 'scheduled'
   DO NOTHING`;

type Place = (place: number) => string;

const MESSAGES = ['uuid[]', 'text[]', 'text[]', 'timestamptz[]', 'boolean[]'];
/** Messages of one kind, an element for each channel. */
const newMessages = ($: Place) =>
  `unnest(${MESSAGES.map((type, i) => `${$(i + 1)}::${type}`).join(', ')})
     AS n (id, channel, state, due_at, day_before)`;
const newMessage = (kind: string) =>
  `a.company_id, a.case_id, a.id, a.start_at, n.id, n.channel, '${kind}', n.state, n.due_at, n.day_before, $5, $5`;

/** Reminders of another start give way, and have no word any more: that of the present start has it. */
const superseded = ($: Place) => `superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = $5 FROM a
   WHERE ${ofAppointment('m')} AND m.kind = 'reminder' AND m.channel = ANY (${$(2)}::text[])
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped'))`;

/**
 * What a change may have to do beside the appointment `a` itself: $5 now, $7 origin, and the parameters that a part takes
 * for itself. What has gone out, or is on its way, stays as it is.
 */
export const PARTS = {
  withdrawn: {
    takes: ['text[]', 'text[]', 'text[]'],
    sql: ($) => `withdrawn AS (
      UPDATE messages m
         SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
             withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = $5
        FROM a, unnest(${$(1)}::text[], ${$(2)}::text[], ${$(3)}::text[]) AS x (channel, kind, state)
       WHERE ${ofAppointment('m')}
         AND m.channel = x.channel AND m.kind = x.kind AND m.state IN ('scheduled', 'sending', 'skipped')
      RETURNING m.*)`,
  },
  /** For a start that has had none. */
  reminders: {
    takes: MESSAGES,
    sql: ($) => `${superseded($)}, reminders AS (
      INSERT INTO messages (${MESSAGE_COLUMNS}) SELECT ${newMessage('reminder')} FROM a, ${newMessages($)} RETURNING *)`,
  },
  /** For a start that has had some, of one channel at least. */
  renewed: {
    takes: MESSAGES,
    sql: ($) => `${superseded($)}, placed_before AS MATERIALIZED (
      SELECT m.id, m.channel, m.state, ${messageLog.image} AS before
        FROM a JOIN messages m ON ${ofAppointment('m')}
       WHERE m.kind = 'reminder' AND m.channel = ANY (${$(2)}::text[]) AND m.start_at = a.start_at AND m.resend_of IS NULL
         FOR NO KEY UPDATE OF m
    ), renewed AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${newMessage('reminder')} FROM a CROSS JOIN ${newMessages($)} LEFT JOIN placed_before b ON b.channel = n.channel
       WHERE coalesce(b.state NOT IN ('sent', 'sending', 'scheduled'), true)
      ON CONFLICT (company_id, case_id, appointment_id, channel, start_at) WHERE kind = 'reminder' AND resend_of IS NULL
      DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                    updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL, lease_until = NULL
      RETURNING *
    ), rescheduled AS (
      ${messageLog.insertEvent('rescheduled', {
        from: `renewed m JOIN placed_before b ON b.id = m.id WHERE b.state = 'failed'`,
        at: '$5',
        origin: '$7',
        before: 'b.before',
      })})`,
  },
  confirmations: {
    takes: MESSAGES,
    sql: ($) => `confirmations AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${newMessage('confirmation')} FROM a, ${newMessages($)}
      ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
      DO NOTHING
      RETURNING *)`,
  },
  cancellations: {
    takes: ['uuid'],
    sql: ($) => `cancellations AS (${callOff(`${$(1)}::uuid`, '$5::timestamptz')})`,
  },
  meeting: { takes: [], sql: () => `meeting AS (${followAppointments('$5')})` },
} satisfies Record<string, { takes: string[]; sql: ($: Place) => string }>;

/** `words`: in place of those that would be looked up, where what was found and what is planned tell them. */
export type Part = keyof typeof PARTS | 'words';
