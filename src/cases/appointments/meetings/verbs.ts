import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { retryOnConflict } from '../../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import * as sql from './statements.sql.ts';

export async function showMeeting({ db, company }: Context, caseId: string, appointmentId: string): Promise<string> {
  const record = await db.queryJson(sql.showMeeting, [company.id, caseId, appointmentId]);
  if (record === undefined) throw notFound('appointment');
  return record;
}

export async function listMeetings(
  { db, company }: Context,
  state: string | undefined,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const page = await db.queryFirst<PageOfJson>(sql.listMeetings, [company.id, state ?? null, limit, offset]);
  return page ?? { json: '[]', total: 0 };
}

type AppointmentRow = { cancelled: boolean; over: boolean; connected: boolean; wished: boolean };

/** Asked for after the booking, or once more after a failure. */
export async function wishMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, caseId, appointmentId, toSql(clock())];
  const record = await retryOnConflict(
    () => db.queryJson(sql.wishMeeting, [...values, auditOrigin(context)]),
    async () => {
      const row = await requireAppointment(context, values);
      if (row.cancelled) throw invalidState('cancelled', 'the appointment is cancelled');
      if (row.over) throw invalidState('end_time', 'the appointment is over');
      if (!row.connected) throw invalidState('adviser_email', 'the adviser has no connected video account');
    },
  );
  notifyWorkers(db);
  return record;
}

export async function withdrawMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, caseId, appointmentId, toSql(clock())];
  const record = await retryOnConflict(
    () => db.queryJson(sql.withdrawMeeting, [...values, auditOrigin(context)]),
    async () => {
      const row = await requireAppointment(context, values);
      if (!row.wished) throw invalidState('video_meeting', 'no meeting is wished for');
    },
  );
  notifyWorkers(db);
  return record;
}

async function requireAppointment({ db }: Context, values: unknown[]): Promise<AppointmentRow> {
  const row = await db.queryFirst<AppointmentRow>(sql.findAppointment, values);
  if (!row) throw notFound('appointment');
  return row;
}
