import type { Context } from '../../kernel/context.ts';
import { isSoon, noticeDueWork } from '../../kernel/due-notice.ts';
import { originOf } from '../../kernel/record-log.ts';
import { type Instant, toSql } from '../../kernel/time.ts';
import { zoneMark } from '../../kernel/wall-time.ts';
import { type Appointment, type MessagePlan, partsOf, type StoredMessage } from './appointment-messages.ts';
import type { Part } from './appointment-parts.sql.ts';

/** A change is decided on the row that was read and written onto that version of it. */

export type AppointmentRow = {
  start: string;
  end: string;
  email_recipient: string | null;
  sms_recipient: string | null;
  email_reminder: boolean;
  sms_reminder: boolean;
  cancelled: 0 | 1;
  video_meeting: boolean;
  has_meeting: boolean;
  messages: StoredMessage[];
  version: number;
};

export const appointmentOf = (row: AppointmentRow): Appointment => ({
  start: Temporal.Instant.from(row.start),
  end: Temporal.Instant.from(row.end),
  recipient: { email: row.email_recipient, sms: row.sms_recipient },
  reminder: { email: row.email_reminder, sms: row.sms_reminder },
  cancelled: row.cancelled === 1,
});

/** The parts of the change and all parameters of its statement; `set` is what the change itself takes. */
export function changeOf(
  context: Context,
  { caseId, id, row, now, plan }: { caseId: string; id: string; row: AppointmentRow; now: Instant; plan: MessagePlan },
  set: unknown[] = [],
): { parts: Part[]; values: unknown[] } {
  const { company } = context;
  const parts = partsOf(plan, row.messages);
  if (row.has_meeting) parts.set('meeting', []);
  const common = [company.id, caseId, id, row.version, toSql(now), zoneMark(company.timeZone), originOf(context)];
  return { parts: [...parts.keys()], values: [...common, ...set, ...[...parts.values()].flat()] };
}

/** Tells the workers where something of the plan is due soon, or where a meeting may have to follow. */
export function notice({ db }: Context, { place }: MessagePlan, now: Instant, meets: boolean): void {
  if (meets || place.some(({ state, due }) => state === 'scheduled' && isSoon(due, now))) noticeDueWork(db);
}
