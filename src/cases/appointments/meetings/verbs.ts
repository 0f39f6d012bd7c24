import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { retryOnConflict } from '../../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import * as sql from './statements.sql.ts';

export async function readMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const record = await context.db.queryJson(sql.readMeeting(keyInputs(context, caseId, appointmentId)));
  if (record === undefined) throw notFound('appointment');
  return record;
}

export async function listMeetings(
  { db, company }: Context,
  state: string | undefined,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const inputs = { company_id: company.id, state, limit, offset };
  const page = await db.queryFirst<PageOfJson>(sql.listMeetings(inputs));
  return page ?? { json: '[]', total: 0 };
}

/** For an appointment that was booked without a meeting, or whose meeting has failed. */
export async function requestMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const { db } = context;
  const inputs = changeInputs(context, caseId, appointmentId);
  const record = await retryOnConflict(
    () => db.queryJson(sql.requestMeeting(inputs)),
    async () => {
      const reasons = await findRejectionReasons(context, inputs);
      if (reasons.cancelled) throw invalidState('cancelled', 'the appointment is cancelled');
      if (reasons.over) throw invalidState('end_time', 'the appointment is over');
      if (!reasons.connected) throw invalidState('adviser_email', 'the adviser has no connected video account');
    },
  );
  notifyWorkers(db);
  return record;
}

export async function withdrawMeeting(context: Context, caseId: string, appointmentId: string): Promise<string> {
  const { db } = context;
  const inputs = changeInputs(context, caseId, appointmentId);
  const record = await retryOnConflict(
    () => db.queryJson(sql.withdrawMeeting(inputs)),
    async () => {
      const reasons = await findRejectionReasons(context, inputs);
      if (!reasons.requested) throw invalidState('video_meeting', 'the appointment has no meeting');
    },
  );
  notifyWorkers(db);
  return record;
}

type RejectionReasons = { cancelled: boolean; over: boolean; connected: boolean; requested: boolean };

async function findRejectionReasons({ db }: Context, inputs: ChangeInputs): Promise<RejectionReasons> {
  const reasons = await db.queryFirst<RejectionReasons>(sql.rejectionReasons(inputs));
  if (!reasons) throw notFound('appointment');
  return reasons;
}

const keyInputs = ({ company }: Context, caseId: string, appointmentId: string) => ({
  company_id: company.id,
  case_id: caseId,
  id: appointmentId,
});

type ChangeInputs = ReturnType<typeof changeInputs>;

const changeInputs = (context: Context, caseId: string, appointmentId: string) => ({
  ...keyInputs(context, caseId, appointmentId),
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});
