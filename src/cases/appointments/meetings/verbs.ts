import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { retryOnConflict } from '../../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import * as sql from './statements.sql.ts';

export async function readMeeting({ db, company }: Context, caseId: string, appointmentId: string): Promise<string> {
  const record = await db.queryJson(sql.readMeeting, [company.id, caseId, appointmentId]);
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

/** For an appointment that was booked without a meeting, or whose meeting has failed. */
export async function requestMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, caseId, appointmentId, toSql(clock())];
  const record = await retryOnConflict(
    () => db.queryJson(sql.requestMeeting, [...values, auditOrigin(context)]),
    async () => {
      const reasons = await findRejectionReasons(context, values);
      if (reasons.cancelled) throw invalidState('cancelled', 'the appointment is cancelled');
      if (reasons.over) throw invalidState('end_time', 'the appointment is over');
      if (!reasons.connected) throw invalidState('adviser_email', 'the adviser has no connected video account');
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
      const reasons = await findRejectionReasons(context, values);
      if (!reasons.requested) throw invalidState('video_meeting', 'the appointment has no meeting');
    },
  );
  notifyWorkers(db);
  return record;
}

type RejectionReasons = { cancelled: boolean; over: boolean; connected: boolean; requested: boolean };

async function findRejectionReasons({ db }: Context, values: unknown[]): Promise<RejectionReasons> {
  const reasons = await db.queryFirst<RejectionReasons>(sql.rejectionReasons, values);
  if (!reasons) throw notFound('appointment');
  return reasons;
}
