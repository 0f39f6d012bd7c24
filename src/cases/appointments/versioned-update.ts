import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { isImminent, notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Instant, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import { type Appointment, type MessagePlan, partsOf, type StoredMessage } from './message-plan.ts';
import type { Part } from './side-effects.sql.ts';

/** A change is decided on the row that was read and written onto that version of it. */

/** What a change may look at; the row has more, and the log gets all of it. */
export type AppointmentRow = {
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

export type FoundAppointment = {
  was: { appointments: AppointmentRow };
  has_meeting: boolean;
  messages: StoredMessage[];
  /** Whether the new recipient is a customer of the case, where there is one. */
  recipient_known?: boolean;
};

export const appointmentOf = (row: AppointmentRow): Appointment => ({
  start: Temporal.Instant.from(row.start_at),
  end: Temporal.Instant.from(row.end_at),
  recipient: { email: row.email_recipient, sms: row.sms_recipient },
  reminder: { email: row.email_reminder, sms: row.sms_reminder },
  cancelled: row.cancelled === 1,
});

/** The parts of the change and all parameters of its statement; `set` is what the change itself takes. */
export function changeOf(
  context: Context,
  {
    caseId,
    id,
    found,
    now,
    plan,
  }: { caseId: string; id: string; found: FoundAppointment; now: Instant; plan: MessagePlan },
  set: unknown[] = [],
): { parts: Part[]; values: unknown[] } {
  const { company } = context;
  const parts = partsOf(plan, found.messages);
  if (found.has_meeting) parts.set('meeting', []);
  const { version } = found.was.appointments;
  const common = [company.id, caseId, id, version, toSql(now), zonePlaceholder(company.timeZone), auditOrigin(context)];
  const values = [...common, JSON.stringify(found.was), ...set];
  for (const parameters of parts.values()) values.push(...parameters);
  return { parts: [...parts.keys()], values };
}

/** Tells the workers where something of the plan is due soon, or where a meeting may have to follow. */
export function notice({ db }: Context, { place }: MessagePlan, now: Instant, meets: boolean): void {
  if (meets || place.some(({ state, due }) => state === 'scheduled' && isImminent(due, now))) notifyWorkers(db);
}
