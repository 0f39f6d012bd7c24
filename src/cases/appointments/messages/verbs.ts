import type { Context } from '../../../kernel/context.ts';
import { noticeDueWork } from '../../../kernel/jobs/notify-workers.ts';
import { notFound, notPossible } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Page, PageOfJson } from '../../../kernel/validation/paging.ts';
import { originOf } from '../../../kernel/audit/audit-log.ts';
import { type Instant, toSql } from '../../../kernel/time/time.ts';
import * as sql from './statements.sql.ts';

export async function messagesOfAppointment(
  { db, company }: Context,
  caseId: string,
  appointmentId: string,
): Promise<string> {
  const list = await db.json(sql.listOfAppointment, [company.id, caseId, appointmentId]);
  if (list === undefined) throw notFound('appointment');
  return list;
}

export async function messagesOfCompany(
  { db, company }: Context,
  state: string | undefined,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const states = state === 'scheduled' ? ['scheduled', 'sending'] : state && [state];
  const page = await db.first<PageOfJson>(sql.listOfCompany, [company.id, states ?? null, limit, offset]);
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
  const found = await db.first<FoundRow>(sql.findMessage, key);
  if (!found) {
    // An appointment that is unknown is told apart from a message that is.
    await messagesOfAppointment(context, caseId, appointmentId);
    throw notFound('message');
  }
  requireSense(found, now);
  const resent = await db.json(sql.insertResend, [...key, newId(), toSql(now), originOf(context)]);
  if (resent === undefined) throw notPossible('state', 'one of the same kind is waiting to go out already');
  noticeDueWork(db);
  return resent;
}

type FoundRow = { state: string; kind: string; deadline: string; cancelled: boolean };

function requireSense({ state, kind, deadline, cancelled }: FoundRow, now: Instant): void {
  if (kind === 'cancellation') throw notPossible('kind', 'a cancellation is not sent again');
  if (!['sent', 'failed'].includes(state)) {
    throw notPossible('state', 'only a message that was sent or that failed can go out again');
  }
  if (cancelled) throw notPossible('cancelled', 'the appointment is cancelled');
  if (Temporal.Instant.compare(Temporal.Instant.from(deadline), now) > 0) return;
  throw kind === 'reminder'
    ? notPossible('start_time', 'the appointment has begun')
    : notPossible('end_time', 'the appointment is over');
}
