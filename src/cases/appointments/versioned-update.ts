import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { isImminent, notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Instant, toSql, toWallTime } from '../../kernel/time/time.ts';
import type { MessagePlan, PlannedAppointment } from './message-plan.ts';
import type { StoredMessage } from './side-effects.ts';

/** A change is decided on the row that was read, and written only if that version is still the current one. */

/** The columns that a decision may use. The row has more, and the audit log stores all of them. */
type AppointmentRow = {
  start_at: string;
  end_at: string;
  email_recipient: string | null;
  sms_recipient: string | null;
  email_reminder: boolean;
  sms_reminder: boolean;
  notes: string | null;
  location: string | null;
  type: string | null;
  attended: 0 | 1;
  cancelled: 0 | 1;
  video_meeting: boolean;
  deleted_at: string | null;
  version: number;
};

export type LoadedAppointment = {
  was: { appointments: AppointmentRow };
  has_meeting: boolean;
  /** By precedence: the first of a channel and kind is the one whose state the appointment shows. */
  messages: StoredMessage[];
  /** Whether the new email recipient is a customer of the case; undefined if the request names none. */
  recipient_known?: boolean;
};

export const appointmentOf = (row: AppointmentRow): PlannedAppointment => ({
  start: Temporal.Instant.from(row.start_at),
  end: Temporal.Instant.from(row.end_at),
  recipient: { email: row.email_recipient, sms: row.sms_recipient },
  reminder: { email: row.email_reminder, sms: row.sms_reminder },
  cancelled: row.cancelled === 1,
});

/** The inputs that every update of an appointment has. `end` is its end after the update. */
export const updateInputs = (
  context: Context,
  caseId: string,
  id: string,
  loaded: LoadedAppointment,
  now: Instant,
  end: Instant,
) => ({
  company_id: context.company.id,
  case_id: caseId,
  id,
  version: loaded.was.appointments.version,
  was: JSON.stringify(loaded.was),
  now: toSql(now),
  origin: auditOrigin(context),
  end_time: toWallTime(end, context.company.timeZone),
});

/** Wakes the workers if a planned message is due soon, or if the appointment has a meeting that may need a step. */
export function notifyIfDue({ db }: Context, { insert }: MessagePlan, now: Instant, wantsMeeting: boolean): void {
  const isDue = insert.some(({ state, due }) => state === 'scheduled' && isImminent(due, now));
  if (wantsMeeting || isDue) notifyWorkers(db);
}
