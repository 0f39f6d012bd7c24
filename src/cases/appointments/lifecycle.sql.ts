import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS, isAppointment, ofAppointment } from './appointment-key.sql.ts';
import { appointmentAudit } from './audit.sql.ts';
import { syncFromAppointments } from './meetings/desired-state.sql.ts';
import { fullAppointmentText } from './projection.sql.ts';
import { insertCancellations } from './side-effects.sql.ts';
import { loadForUpdate, versionedUpdate } from './versioned-update.sql.ts';

/**
 * Returns no row if the appointment does not exist or is deleted, or if a concurrent update has changed it: this
 * statement would not see the messages of that update, and they would be sent.
 */
export const deleteAppointment = write('appointments.delete', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, cancellation_id: 'uuid', now: 'timestamptz', origin: 'json' },
  batch: true,
  fromInput: (input, inputTable) => `
    WITH ${inputTable}, ${appointmentAudit.update({
      action: 'deleted',
      set: `deleted_at = ${input.now}`,
      where: 'a.deleted_at IS NULL',
      returning: 'a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at',
    })}, withdrawn AS (
      UPDATE messages m SET state = 'cancelled', updated_at = a.now
        FROM a
       WHERE ${ofAppointment('m')} AND m.state = 'scheduled' AND m.kind <> 'cancellation'
    ), cancellations AS (
      ${insertCancellations(input)}
    ), meeting AS (
      ${syncFromAppointments('a.now')}
    )`,
  answer: () => ({ json: `${jsonObject({ id: 'a.id', deleted_at: isoTime('a.deleted_at') })}::text`, from: 'a' }),
});

/** Also returns a deleted appointment. */
export const loadAppointmentInAnyState = read('appointments.load_in_any_state', {
  inputs: APPOINTMENT_KEY_INPUTS,
  sql: (input) => `
    SELECT ${jsonObject(loadForUpdate())}::text FROM appointments a WHERE ${isAppointment(input)}`,
});

export const restoreAppointment = versionedUpdate('appointments.restore', {
  action: 'restored',
  inputs: {},
  set: () => 'deleted_at = NULL',
  needsMeeting: () => 'a.cancelled = 0',
  where: 'a.deleted_at IS NOT NULL',
  answer: fullAppointmentText,
});

const outcome = (name: string, action: 'cancelled' | 'reinstated' | 'outcome_set') =>
  versionedUpdate(name, {
    action,
    inputs: { attended: 'int', cancelled: 'int', type: 'text?' },
    set: (input) => `attended = ${input.attended}, cancelled = ${input.cancelled}, type = ${input.type}`,
    needsMeeting: (input) => `a.cancelled = 1 AND ${input.cancelled} = 0`,
    where: 'a.deleted_at IS NULL',
    answer: fullAppointmentText,
  });

/** The three differ only in the type of their event. */
export const setOutcome = {
  cancelled: outcome('appointments.cancel', 'cancelled'),
  reinstated: outcome('appointments.reinstate', 'reinstated'),
  other: outcome('appointments.outcome', 'outcome_set'),
};
