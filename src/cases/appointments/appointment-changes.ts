import type { Context } from '../../kernel/context.ts';
import { isSoon, noticeDueWork } from '../../kernel/due-notice.ts';
import { originOf } from '../../kernel/record-log.ts';
import { type Instant, toSql } from '../../kernel/time.ts';
import { zoneMark } from '../../kernel/wall-time.ts';
import { type Appointment, type MessagePlan, messageColumns, withdrawalColumns } from './appointment-messages.ts';

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
  version: number;
};

export const appointmentOf = (row: AppointmentRow): Appointment => ({
  start: Temporal.Instant.from(row.start),
  end: Temporal.Instant.from(row.end),
  recipient: { email: row.email_recipient, sms: row.sms_recipient },
  reminder: { email: row.email_reminder, sms: row.sms_reminder },
  cancelled: row.cancelled === 1,
});

/** What every change has in common, in the order of the statements' parameters. */
export const changeColumns = (
  context: Context,
  caseId: string,
  id: string,
  version: number,
  now: Instant,
  plan: MessagePlan,
): unknown[] => [
  context.company.id,
  caseId,
  id,
  version,
  toSql(now),
  zoneMark(context.company.timeZone),
  ...messageColumns(plan),
  ...withdrawalColumns(plan),
  originOf(context),
];

/** Tells the workers where something of the plan is due soon, or where a meeting may have to follow. */
export function notice({ db }: Context, { place }: MessagePlan, now: Instant, meets: boolean): void {
  if (meets || place.some(({ state, due }) => state === 'scheduled' && isSoon(due, now))) noticeDueWork(db);
}
