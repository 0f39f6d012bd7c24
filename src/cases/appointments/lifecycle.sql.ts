import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import { isoTime, jsonObject, statement } from '../../kernel/sql/statement.ts';
import { appointmentAudit } from './audit.sql.ts';
import { syncFromAppointments } from './meetings/desired-state.sql.ts';
import { fullAppointment } from './projection.sql.ts';
import { insertCancellations } from './side-effects.sql.ts';
import { loadForUpdate, versionedUpdate } from './versioned-update.sql.ts';

/**
 * $1 company, $2 case, $3 id, $4 now, $5 id for a cancellation, $6 origin. Returns no row if the appointment does not
 * exist or is deleted, or if a concurrent update has changed it: this statement would not see the messages of that
 * update, and they would be sent.
 */
export const deleteAppointment = statement(
  'appointments.delete',
  forSeveral(
    'a',
    ['uuid', 'uuid', 'uuid', 'timestamptz', 'uuid', 'text'],
    (given) => `WITH ${appointmentAudit.auditedUpdate({
      verb: 'deleted',
      set: 'deleted_at = $4',
      where: 'a.deleted_at IS NULL',
      returning: 'a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at',
      at: '$4',
      origin: '$6',
      given,
    })}, m AS (
       UPDATE messages m SET state = 'cancelled', updated_at = ${given.behind('$4')} FROM a
        WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
          AND m.state IN ('scheduled', 'skipped') AND m.kind <> 'cancellation'
     ), cancellations AS (
       ${given.behind(insertCancellations('$5::uuid', '$4::timestamptz'))}
     ), g AS (
       ${given.behind(syncFromAppointments('$4'))}
     )
     SELECT ${given.whose}${jsonObject({ id: 'a.id', deleted_at: isoTime('a.deleted_at') })}::text FROM a`,
  ),
);

/** $1 company, $2 case, $3 id. Includes deleted appointments. */
export const loadAppointmentInAnyState = statement(
  'appointments.load_in_any_state',
  `SELECT ${jsonObject(loadForUpdate())}::text
     FROM appointments a WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3`,
);

export const restoreAppointment = versionedUpdate('appointments.restore', {
  verb: 'restored',
  set: 'deleted_at = NULL',
  types: [],
  needsMeeting: 'a.cancelled = 0',
  where: 'a.deleted_at IS NOT NULL',
  answer: fullAppointment,
});

const outcome = (name: string, verb: 'cancelled' | 'reinstated' | 'outcome_set') =>
  versionedUpdate(name, {
    verb,
    set: 'attended = $9, cancelled = $10, type = $11',
    types: ['smallint', 'smallint', 'text'],
    needsMeeting: 'a.cancelled = 1 AND $10::smallint = 0',
    where: 'a.deleted_at IS NULL',
    answer: fullAppointment,
  });

/** $9 attended, $10 cancelled, $11 type. The three differ only in the type of their event. */
export const setOutcome = {
  cancelled: outcome('appointments.cancel', 'cancelled'),
  reinstated: outcome('appointments.reinstate', 'reinstated'),
  other: outcome('appointments.outcome', 'outcome_set'),
};
