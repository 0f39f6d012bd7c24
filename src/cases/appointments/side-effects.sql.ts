import { ofAppointment } from './appointment-key.sql.ts';
import { syncFromAppointments } from './meetings/desired-state.sql.ts';
import { messageAudit } from './messages/audit.sql.ts';
import { calendarRecipients } from './messages/calendar-recipients.sql.ts';

export const NEW_MESSAGE_TYPES = ['uuid[]', 'text[]', 'text[]', 'text[]', 'timestamptz[]', 'boolean[]'];
/** SQL: the rows `n` of new messages of any kind, from arrays in the parameters from number `first` on. */
export const newMessages = (first: number) =>
  `unnest(${NEW_MESSAGE_TYPES.map((type, i) => `$${first + i}::${type}`).join(', ')})
     AS n (id, channel, kind, state, due_at, day_before)`;

export const MESSAGE_COLUMNS =
  'company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at';

/**
 * SQL: schedules a cancellation for each address whose calendar holds the appointment. Their number is unknown to the
 * caller, so each id takes its first 19 characters, which hold the time, from `id`, and the rest at random.
 */
export const insertCancellations = (id: string, now: string) =>
  `INSERT INTO messages (${MESSAGE_COLUMNS}, recipient)
   SELECT a.company_id, a.case_id, a.id, a.start_at,
          (left(${id}::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
          'email', 'cancellation', 'scheduled', ${now}, false, ${now}, ${now}, r.recipient
     FROM a CROSS JOIN LATERAL (${calendarRecipients()}) r
    WHERE a.end_at > ${now}
   ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
     WHERE kind = 'cancellation' AND state = 'scheduled'
   DO NOTHING`;

type Parameter = (number: number) => string;

const MESSAGE_TYPES_OF_KIND = ['uuid[]', 'text[]', 'text[]', 'timestamptz[]', 'boolean[]'];
/** SQL: the rows `n` of new messages of one kind, at most one for each channel. */
const newMessagesOfKind = ($: Parameter) =>
  `unnest(${MESSAGE_TYPES_OF_KIND.map((type, i) => `${$(i + 1)}::${type}`).join(', ')})
     AS n (id, channel, state, due_at, day_before)`;
const newMessageColumns = (kind: string) =>
  `a.company_id, a.case_id, a.id, a.start_at, n.id, n.channel, '${kind}', n.state, n.due_at, n.day_before, $5, $5`;

/** SQL: withdraws reminders of other starts, whose state is no longer shown. */
const superseded = ($: Parameter) => `superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = $5 FROM a
   WHERE ${ofAppointment('m')} AND m.kind = 'reminder' AND m.channel = ANY (${$(2)}::text[])
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped'))`;

/**
 * The CTEs that a change of the appointment `a` may need for its messages and its meeting: $5 now, $7 origin, and the
 * parameters of each side effect. Messages that were sent or are being sent stay as they are.
 */
export const SIDE_EFFECTS = {
  withdrawn: {
    types: ['text[]', 'text[]', 'text[]'],
    sql: ($) => `withdrawn AS (
      UPDATE messages m
         SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
             withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = $5
        FROM a, unnest(${$(1)}::text[], ${$(2)}::text[], ${$(3)}::text[]) AS x (channel, kind, state)
       WHERE ${ofAppointment('m')}
         AND m.channel = x.channel AND m.kind = x.kind AND m.state IN ('scheduled', 'sending', 'skipped')
      RETURNING m.*)`,
  },
  /** Reminders for a start that has had none. */
  reminders: {
    types: MESSAGE_TYPES_OF_KIND,
    sql: ($) => `${superseded($)}, reminders AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${newMessageColumns('reminder')} FROM a, ${newMessagesOfKind($)}
      RETURNING *)`,
  },
  /** Reminders for a start that has had one before, on at least one of the channels. */
  renewed: {
    types: MESSAGE_TYPES_OF_KIND,
    sql: ($) => `${superseded($)}, previous AS MATERIALIZED (
      SELECT m.id, m.channel, m.state, ${messageAudit.image} AS before
        FROM a JOIN messages m ON ${ofAppointment('m')}
       WHERE m.kind = 'reminder' AND m.channel = ANY (${$(2)}::text[]) AND m.start_at = a.start_at
         AND m.resend_of IS NULL
         FOR NO KEY UPDATE OF m
    ), renewed AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${newMessageColumns('reminder')}
        FROM a CROSS JOIN ${newMessagesOfKind($)} LEFT JOIN previous b ON b.channel = n.channel
       WHERE coalesce(b.state NOT IN ('sent', 'sending', 'scheduled'), true)
      ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
        WHERE kind = 'reminder' AND resend_of IS NULL
      DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                    updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                    lease_until = NULL
      RETURNING *
    ), rescheduled AS (
      ${messageAudit.insertEvent('rescheduled', {
        from: `renewed m JOIN previous b ON b.id = m.id WHERE b.state = 'failed'`,
        at: '$5',
        origin: '$7',
        before: 'b.before',
      })})`,
  },
  confirmations: {
    types: MESSAGE_TYPES_OF_KIND,
    sql: ($) => `confirmations AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${newMessageColumns('confirmation')} FROM a, ${newMessagesOfKind($)}
      ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
      DO NOTHING
      RETURNING *)`,
  },
  cancellations: {
    types: ['uuid'],
    sql: ($) => `cancellations AS (${insertCancellations(`${$(1)}::uuid`, '$5::timestamptz')})`,
  },
  meeting: { types: [], sql: () => `meeting AS (${syncFromAppointments('$5')})` },
} satisfies Record<string, { types: string[]; sql: ($: Parameter) => string }>;

/** `states`: the caller passes the states of the messages, so the statement need not look them up. */
export type SideEffect = keyof typeof SIDE_EFFECTS | 'states';
