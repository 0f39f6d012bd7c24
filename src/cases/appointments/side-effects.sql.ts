import type { InputNames } from '../../kernel/sql/inputs.ts';
import { ofAppointment } from './appointment-key.sql.ts';
import { syncFromAppointments } from './meetings/desired-state.sql.ts';
import { messageAudit } from './messages/audit.sql.ts';
import { toldRecipients } from './messages/told-recipients.sql.ts';
import { STATE_INPUTS } from './projection.sql.ts';

/** New messages, an element for each of them. */
export const NEW_MESSAGE_INPUTS = {
  message_ids: 'uuid[]',
  message_channels: 'text[]',
  message_kinds: 'text[]',
  message_states: 'text[]',
  message_due_at: 'timestamptz[]',
  message_day_before: 'boolean[]',
} as const;

export const MESSAGE_COLUMNS =
  'company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at';

/** SQL: the rows `n` of the new messages in the inputs. */
export const newMessages = (input: InputNames<typeof NEW_MESSAGE_INPUTS>) =>
  `unnest(${input.message_ids}, ${input.message_channels}, ${input.message_kinds}, ${input.message_states},
                     ${input.message_due_at}, ${input.message_day_before})
          AS n (id, channel, kind, state, due_at, day_before)`;

const WITHDRAWAL_INPUTS = {
  withdrawn_channels: 'text[]',
  withdrawn_kinds: 'text[]',
  withdrawn_states: 'text[]',
} as const;
const REMINDER_INPUTS = { ...NEW_MESSAGE_INPUTS, reminder_channels: 'text[]' } as const;
const CANCELLATION_INPUTS = { cancellation_id: 'uuid' } as const;

/**
 * What an update of an appointment may do to its messages and its meeting, with the inputs of each. `reminders` are for
 * a start that has had none; `renewed` are reminders for a start that has had one before, on at least one channel. With
 * `states` the caller passes the states that the answer shows, so the statement need not look them up.
 */
export const SIDE_EFFECT_INPUTS = {
  withdrawn: WITHDRAWAL_INPUTS,
  confirmations: NEW_MESSAGE_INPUTS,
  reminders: REMINDER_INPUTS,
  renewed: REMINDER_INPUTS,
  cancellations: CANCELLATION_INPUTS,
  meeting: {},
  states: STATE_INPUTS,
} as const;
type SideEffect = keyof typeof SIDE_EFFECT_INPUTS;

/** The side effects whose CTE returns the messages that it has written. */
export const MESSAGE_EFFECTS = ['withdrawn', 'confirmations', 'reminders', 'renewed'] as const;

type SideEffectInput = InputNames<typeof WITHDRAWAL_INPUTS & typeof REMINDER_INPUTS & typeof CANCELLATION_INPUTS>;

/** SQL: the CTEs of the side effects, each with a leading comma. The updated appointment is `a`. */
export function sideEffectCtes(input: SideEffectInput, has: (effect: SideEffect) => boolean): string {
  const ctes = [
    has('withdrawn') && withdrawn(input),
    has('confirmations') && confirmations(input),
    has('reminders') && reminders(input),
    has('renewed') && renewed(input),
    has('cancellations') && `cancellations AS (${insertCancellations(input)})`,
    has('meeting') && `meeting AS (${syncFromAppointments('a.now')})`,
  ];
  return ctes
    .filter((cte) => cte !== false)
    .map((cte) => `, ${cte}`)
    .join('');
}

const UPDATED = 'a JOIN input USING (nth)';
const NEW_MESSAGE = 'a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now';

/**
 * A message that is being sent cannot be recalled, but is marked so that a failed attempt is not repeated. A reminder
 * needs no mark: its worker sees that it was replaced (`isReplaced`). A skipped confirmation stays
 * skipped when the appointment is cancelled; only a request that no longer asks for it withdraws it.
 */
const withdrawn = (input: SideEffectInput) => `withdrawn AS (
      UPDATE messages m
         SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
             withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
        FROM ${UPDATED}, unnest(${input.withdrawn_channels}, ${input.withdrawn_kinds}, ${input.withdrawn_states})
          AS x (channel, kind, state)
       WHERE ${ofAppointment('m')}
         AND m.channel = x.channel AND m.kind = x.kind
         AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
      RETURNING m.*
    )`;

const confirmations = (input: SideEffectInput) => `confirmations AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${NEW_MESSAGE}
        FROM ${UPDATED}, ${newMessages(input)}
       WHERE n.kind = 'confirmation'
      ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
      DO NOTHING
      RETURNING *
    )`;

/** Cancels unsent reminders for an earlier start of the appointment, which shows the new ones from now on. */
const superseded = (input: SideEffectInput) => `superseded AS (
      UPDATE messages m SET state = 'cancelled', updated_at = a.now
        FROM ${UPDATED}
       WHERE ${ofAppointment('m')} AND m.kind = 'reminder' AND m.channel = ANY (${input.reminder_channels})
         AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
    )`;

const reminders = (input: SideEffectInput) => `${superseded(input)}, reminders AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${NEW_MESSAGE}
        FROM ${UPDATED}, ${newMessages(input)}
       WHERE n.kind = 'reminder'
      RETURNING *
    )`;

const renewed = (input: SideEffectInput) => `${superseded(input)}, previous AS MATERIALIZED (
      SELECT m.id, m.channel, m.state, ${messageAudit.image} AS before
        FROM ${UPDATED} JOIN messages m ON ${ofAppointment('m')}
       WHERE m.kind = 'reminder' AND m.channel = ANY (${input.reminder_channels}) AND m.start_at = a.start_at
         AND m.resend_of IS NULL
         FOR NO KEY UPDATE OF m
    ), renewed AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT ${NEW_MESSAGE}
        FROM ${UPDATED} CROSS JOIN ${newMessages(input)} LEFT JOIN previous p ON p.channel = n.channel
       WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
      ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
        WHERE kind = 'reminder' AND resend_of IS NULL
      DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                    updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                    lease_until = NULL
      RETURNING *
    ), rescheduled AS (
      ${messageAudit.insertEvent('rescheduled', {
        from: `renewed m JOIN previous p ON p.id = m.id JOIN a ON ${ofAppointment('m')} WHERE p.state = 'failed'`,
        at: 'a.now',
        origin: 'a.origin',
        before: 'p.before',
      })}
    )`;

/**
 * SQL: schedules a cancellation for each recipient that knows of the appointment `a`. The caller does not know their
 * number, so each id takes its first 19 characters, which hold the time, from the input, and the rest at random.
 */
export const insertCancellations = (input: InputNames<typeof CANCELLATION_INPUTS>) =>
  `INSERT INTO messages (${MESSAGE_COLUMNS}, recipient)
       SELECT a.company_id, a.case_id, a.id, a.start_at,
              (left(${input.cancellation_id}::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
              r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
         FROM ${UPDATED} CROSS JOIN LATERAL (${toldRecipients}) r
        WHERE a.end_at > a.now
       ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
         WHERE kind = 'cancellation' AND state = 'scheduled'
       DO NOTHING`;
