import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import { invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { notifyWorkers } from '../../../kernel/jobs/notify-workers.ts';
import { type Instant, toSql } from '../../../kernel/time/time.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import * as sql from './statements.sql.ts';

export async function messagesOfAppointment(
  { db, company }: Context,
  caseId: string,
  appointmentId: string,
): Promise<string> {
  const list = await db.queryJson(sql.listOfAppointment, [company.id, caseId, appointmentId]);
  if (list === undefined) throw notFound('appointment');
  return list;
}

export async function messagesOfCompany(
  { db, company }: Context,
  state: string | undefined,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const states = state === 'scheduled' ? ['scheduled', 'sending'] : state && [state];
  const page = await db.queryFirst<PageOfJson>(sql.listOfCompany, [company.id, states ?? null, limit, offset]);
  return page ?? { json: '[]', total: 0 };
}

/** Once more, by hand: a message of its own, of the same kind, due now, about the appointment as it stands. */
export async function resendMessage(
  context: Context,
  caseId: string,
  appointmentId: string,
  messageId: string,
): Promise<string> {
  const { db, company, clock } = context;
  const key = [company.id, caseId, appointmentId, messageId];
  const now = clock();
  const found = await db.queryFirst<FoundRow>(sql.findMessage, key);
  if (!found) {
    // An appointment that is unknown is told apart from a message that is.
    await messagesOfAppointment(context, caseId, appointmentId);
    throw notFound('message');
  }
  requireSense(found, now);
  const resent = await db.queryJson(sql.insertResend, [...key, newId(), toSql(now), auditOrigin(context)]);
  if (resent === undefined) throw invalidState('state', 'one of the same kind is waiting to go out already');
  notifyWorkers(db);
  return resent;
}

type FoundRow = { state: string; kind: string; deadline: string; cancelled: boolean };

function requireSense({ state, kind, deadline, cancelled }: FoundRow, now: Instant): void {
  if (kind === 'cancellation') throw invalidState('kind', 'a cancellation is not sent again');
  if (!['sent', 'failed'].includes(state)) {
    throw invalidState('state', 'only a message that was sent or that failed can go out again');
  }
  if (cancelled) throw invalidState('cancelled', 'the appointment is cancelled');
  if (Temporal.Instant.compare(Temporal.Instant.from(deadline), now) > 0) return;
  throw kind === 'reminder'
    ? invalidState('start_time', 'the appointment has begun')
    : invalidState('end_time', 'the appointment is over');
}
