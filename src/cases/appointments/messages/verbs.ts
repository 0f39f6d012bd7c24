import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { type Instant, toSql } from '../../../kernel/time/time.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import { mayReadCases } from '../../company-list.ts';
import * as sql from './statements.sql.ts';

export async function listAppointmentMessages(
  { db, company }: Context,
  caseId: string,
  appointmentId: string,
): Promise<string> {
  const key = { company_id: company.id, case_id: caseId, id: appointmentId };
  const list = await db.queryJson(sql.listAppointmentMessages(key));
  if (list === undefined) throw notFound('appointment');
  return list;
}

export async function listCompanyMessages(
  context: Context,
  state: string | undefined,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const states = state === 'scheduled' ? ['scheduled', 'sending'] : state && [state];
  const { db, company } = context;
  const filter = { company_id: company.id, states: states || null, reads_cases: mayReadCases(context) };
  const page = await db.queryFirst<PageOfJson>(sql.listCompanyMessages({ ...filter, limit, offset }));
  return page ?? { json: '[]', total: 0 };
}

/** Creates a new message of the same kind, due now, with the appointment's current details. */
export async function resendMessage(
  context: Context,
  caseId: string,
  appointmentId: string,
  messageId: string,
): Promise<string> {
  const { db, company, clock } = context;
  const key = { company_id: company.id, case_id: caseId, id: appointmentId, message_id: messageId };
  const now = clock();
  const found = await db.queryFirst<FoundMessage>(sql.findMessage(key));
  if (!found) {
    // Throws if it is the appointment that does not exist.
    await listAppointmentMessages(context, caseId, appointmentId);
    throw notFound('message');
  }
  assertResendable(found, now);
  const resent = await db.queryJson(
    sql.insertResend({ ...key, new_message_id: newId(), now: toSql(now), origin: auditOrigin(context) }),
  );
  if (resent === undefined) throw invalidState('state', 'a message of the same kind is already scheduled');
  notifyWorkers(db);
  return resent;
}

type FoundMessage = { state: string; kind: string; deadline: string; cancelled: boolean };

function assertResendable({ state, kind, deadline, cancelled }: FoundMessage, now: Instant): void {
  if (kind === 'cancellation') throw invalidState('kind', 'a cancellation cannot be resent');
  if (!['sent', 'failed'].includes(state)) {
    throw invalidState('state', 'only a message that was sent or has failed can be resent');
  }
  if (cancelled) throw invalidState('cancelled', 'the appointment is cancelled');
  if (Temporal.Instant.compare(Temporal.Instant.from(deadline), now) > 0) return;
  throw kind === 'reminder'
    ? invalidState('start_time', 'the appointment has started')
    : invalidState('end_time', 'the appointment is over');
}
